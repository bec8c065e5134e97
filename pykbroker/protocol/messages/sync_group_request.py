"""SyncGroupRequest (request 14, versions 0-5).

Generated from schemas/api/sync_group.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class SyncGroupRequest(Message):
    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
        "unknown_tags",
    )

    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is FRESH else assignments
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("SyncGroupRequest", version)
        o = _new(cls)
        try:
            if version >= 4:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                o.generation_id, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.group_instance_id = None
                if version >= 5:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.protocol_type = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.protocol_type = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.protocol_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.protocol_name = None
                else:
                    o.protocol_type = None
                    o.protocol_name = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("assignments", n, len(buf) - pos)
                    o.assignments = a = []
                    for _ in range(n):
                        o1 = _new(SyncGroupRequestAssignment)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.member_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("member_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.assignment = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("assignment")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("assignments")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                o.generation_id, n = _u_ih(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                if version >= 3:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.group_instance_id = None
                else:
                    o.group_instance_id = None
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("assignments", n, len(buf) - pos)
                    o.assignments = a = []
                    for _ in range(n):
                        o1 = _new(SyncGroupRequestAssignment)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.member_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("member_id")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.assignment = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("assignment")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("assignments")
                o.protocol_type = None
                o.protocol_name = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SyncGroupRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SyncGroupRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"SyncGroupRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                s = o.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.member_id.encode()
                w += _p_i(o.generation_id)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if o.group_instance_id is None:
                    w.append(0)
                else:
                    s = o.group_instance_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if version >= 5:
                    if o.protocol_type is None:
                        w.append(0)
                    else:
                        s = o.protocol_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if o.protocol_name is None:
                        w.append(0)
                    else:
                        s = o.protocol_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                n = len(o.assignments) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.assignments:
                    s = o1.member_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.assignment) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.assignment
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.group_id.encode()
                w += _p_h(len(s))
                w += s
                s = o.member_id.encode()
                w += _p_ih(o.generation_id, len(s))
                w += s
                if version >= 3:
                    if o.group_instance_id is None:
                        w += b"\xff\xff"
                    else:
                        s = o.group_instance_id.encode()
                        w += _p_h(len(s))
                        w += s
                elif o.group_instance_id is not None:
                    raise refuse_field("group_instance_id", version)
                w += _p_i(len(o.assignments))
                for o1 in o.assignments:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.member_id.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.assignment))
                    w += o1.assignment
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SyncGroupRequest v{version}: {error}") from error


class SyncGroupRequestAssignment(Message):
    __slots__ = (
        "member_id",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment
        self.unknown_tags = unknown_tags

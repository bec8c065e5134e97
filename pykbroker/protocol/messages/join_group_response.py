"""JoinGroupResponse (response 11, versions 0-9).

Generated from schemas/api/join_group.txt by pykbroker.protocol.generate: do not edit.
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
_u_hih = Struct(">hih").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihi = Struct(">ihi").unpack_from
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_hih = Struct(">hih").pack
_p_i = Struct(">i").pack
_p_ihi = Struct(">ihi").pack


class JoinGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
        "unknown_tags",
    )

    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    LATEST_VERSION = 9
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is FRESH else members
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 9:
            raise refuse_version("JoinGroupResponse", version)
        o = _new(cls)
        try:
            if version >= 6:
                o.throttle_time_ms, o.error_code, o.generation_id = _u_ihi(buf, pos)
                pos += 10
                if version >= 7:
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
                elif version >= 7:
                    o.protocol_name = None
                else:
                    raise refuse_null("protocol_name")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.leader = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("leader")
                if version >= 9:
                    o.skip_assignment = buf[pos] != 0
                    pos += 1
                else:
                    o.skip_assignment = False
                n = buf[pos]
                pos += 1
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
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 4 > len(buf) - pos or n > 1000000:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(JoinGroupResponseMember)
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
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.group_instance_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.group_instance_id = None
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.metadata = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("metadata")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("members")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 2:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                o.error_code, o.generation_id, n = _u_hih(buf, pos)
                pos += 8
                if n >= 0:
                    e = pos + n
                    o.protocol_name = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("protocol_name")
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.leader = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("leader")
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(JoinGroupResponseMember)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.member_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("member_id")
                        if version >= 5:
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.group_instance_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.group_instance_id = None
                        else:
                            o1.group_instance_id = None
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.metadata = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("metadata")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("members")
                o.protocol_type = None
                o.skip_assignment = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"JoinGroupResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"JoinGroupResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 9:
            raise EncodeError(f"JoinGroupResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
                w += _p_ihi(o.throttle_time_ms, o.error_code, o.generation_id)
                if version >= 7:
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
                    if not version >= 7:
                        raise EncodeError("protocol_name is null")
                    w.append(0)
                else:
                    s = o.protocol_name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                s = o.leader.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if version >= 9:
                    w += _p_o(o.skip_assignment)
                elif o.skip_assignment:
                    raise refuse_field("skip_assignment", version)
                s = o.member_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o.members) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.members:
                    s = o1.member_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if o1.group_instance_id is None:
                        w.append(0)
                    else:
                        s = o1.group_instance_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    n = len(o1.metadata) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.metadata
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.skip_assignment:
                    raise refuse_field("skip_assignment", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 2:
                    w += _p_i(o.throttle_time_ms)
                s = o.protocol_name.encode()
                w += _p_hih(o.error_code, o.generation_id, len(s))
                w += s
                s = o.leader.encode()
                w += _p_h(len(s))
                w += s
                s = o.member_id.encode()
                w += _p_h(len(s))
                w += s
                w += _p_i(len(o.members))
                for o1 in o.members:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.member_id.encode()
                    w += _p_h(len(s))
                    w += s
                    if version >= 5:
                        if o1.group_instance_id is None:
                            w += b"\xff\xff"
                        else:
                            s = o1.group_instance_id.encode()
                            w += _p_h(len(s))
                            w += s
                    w += _p_i(len(o1.metadata))
                    w += o1.metadata
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"JoinGroupResponse v{version}: {error}") from error


class JoinGroupResponseMember(Message):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        self.unknown_tags = unknown_tags

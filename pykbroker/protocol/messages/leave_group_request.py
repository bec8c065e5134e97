"""LeaveGroupRequest (request 13, versions 0-5).

Generated from schemas/api/leave_group.txt by pykbroker.protocol.generate: do not edit.
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
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class LeaveGroupRequest(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "members",
        "unknown_tags",
    )

    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is FRESH else members
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("LeaveGroupRequest", version)
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
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(MemberIdentity)
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
                        if version >= 5:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.reason = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.reason = None
                        else:
                            o1.reason = None
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
                o.member_id = ""
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
                if version <= 2:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.member_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("member_id")
                else:
                    o.member_id = ""
                if version >= 3:
                    (n,) = _u_i(buf, pos)
                    pos += 4
                    if n >= 0:
                        if n * 4 > len(buf) - pos or n > most:
                            raise refuse_count("members", n, len(buf) - pos)
                        o.members = a = []
                        for _ in range(n):
                            o1 = _new(MemberIdentity)
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.member_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("member_id")
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.group_instance_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.group_instance_id = None
                            o1.reason = None
                            o1.unknown_tags = None
                            a.append(o1)
                    else:
                        raise refuse_null("members")
                else:
                    o.members = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"LeaveGroupRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"LeaveGroupRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"LeaveGroupRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                if o.member_id != "":
                    raise refuse_field("member_id", version)
                s = o.group_id.encode()
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
                    if version >= 5:
                        if o1.reason is None:
                            w.append(0)
                        else:
                            s = o1.reason.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
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
                if version <= 2:
                    s = o.member_id.encode()
                    w += _p_h(len(s))
                    w += s
                elif o.member_id != "":
                    raise refuse_field("member_id", version)
                if version >= 3:
                    w += _p_i(len(o.members))
                    for o1 in o.members:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.member_id.encode()
                        w += _p_h(len(s))
                        w += s
                        if o1.group_instance_id is None:
                            w += b"\xff\xff"
                        else:
                            s = o1.group_instance_id.encode()
                            w += _p_h(len(s))
                            w += s
                elif len(o.members) != 0:
                    raise refuse_field("members", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"LeaveGroupRequest v{version}: {error}") from error


class MemberIdentity(Message):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "reason",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        self.unknown_tags = unknown_tags

"""LeaveGroupResponse (response 13, versions 0-5).

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
_u_hB = Struct(">hB").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class LeaveGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is FRESH else members
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("LeaveGroupResponse", version)
        o = _new(cls)
        try:
            if version >= 4:
                o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(MemberResponse)
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
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
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
                if version >= 1:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                (o.error_code,) = _u_h(buf, pos)
                pos += 2
                if version >= 3:
                    (n,) = _u_i(buf, pos)
                    pos += 4
                    if n >= 0:
                        if n * 6 > len(buf) - pos or n > 1000000:
                            raise refuse_count("members", n, len(buf) - pos)
                        o.members = a = []
                        for _ in range(n):
                            o1 = _new(MemberResponse)
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
                            (o1.error_code,) = _u_h(buf, pos)
                            pos += 2
                            o1.unknown_tags = None
                            a.append(o1)
                    else:
                        raise refuse_null("members")
                else:
                    o.members = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"LeaveGroupResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"LeaveGroupResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"LeaveGroupResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                w += _p_ih(o.throttle_time_ms, o.error_code)
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
                    w += _p_h(o1.error_code)
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
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
                w += _p_h(o.error_code)
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
                        w += _p_h(o1.error_code)
                elif len(o.members) != 0:
                    raise refuse_field("members", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"LeaveGroupResponse v{version}: {error}") from error


class MemberResponse(Message):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        self.unknown_tags = unknown_tags

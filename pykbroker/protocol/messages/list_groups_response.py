"""ListGroupsResponse (response 16, versions 0-5).

Generated from schemas/api/list_groups.txt by pykbroker.protocol.generate: do not edit.
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
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class ListGroupsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "groups",
        "unknown_tags",
    )

    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("ListGroupsResponse", version)
        o = _new(cls)
        try:
            if version >= 3:
                o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        o1 = _new(ListedGroup)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.group_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.protocol_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_type")
                        if version >= 4:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.group_state = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("group_state")
                        else:
                            o1.group_state = ""
                        if version >= 5:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.group_type = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("group_type")
                        else:
                            o1.group_type = ""
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("groups")
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
                o.error_code, n = _u_hi(buf, pos)
                pos += 6
                if n >= 0:
                    if n * 4 > len(buf) - pos or n > 1000000:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        o1 = _new(ListedGroup)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.group_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_id")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.protocol_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_type")
                        o1.group_state = ""
                        o1.group_type = ""
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("groups")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListGroupsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListGroupsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"ListGroupsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                w += _p_ih(o.throttle_time_ms, o.error_code)
                n = len(o.groups) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.groups:
                    s = o1.group_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.protocol_type.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if version >= 4:
                        s = o1.group_state.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 5:
                        s = o1.group_type.encode()
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
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
                w += _p_hi(o.error_code, len(o.groups))
                for o1 in o.groups:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.group_id.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.protocol_type.encode()
                    w += _p_h(len(s))
                    w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListGroupsResponse v{version}: {error}") from error


class ListedGroup(Message):
    __slots__ = (
        "group_id",
        "protocol_type",
        "group_state",
        "group_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        self.unknown_tags = unknown_tags

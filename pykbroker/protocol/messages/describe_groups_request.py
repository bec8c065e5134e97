"""DescribeGroupsRequest (request 15, versions 0-6).

Generated from schemas/api/describe_groups.txt by pykbroker.protocol.generate: do not edit.
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
_u_oB = Struct(">?B").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DescribeGroupsRequest(Message):
    __slots__ = (
        "groups",
        "include_authorized_operations",
        "unknown_tags",
    )

    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        *,
        groups: list[str] = FRESH,
        include_authorized_operations: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.groups = [] if groups is FRESH else groups
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("DescribeGroupsRequest", version)
        o = _new(cls)
        try:
            if version >= 5:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n > len(buf) - pos or n > most:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        m = buf[pos]
                        pos += 1
                        if m > 127:
                            m, pos = read_string_length(buf, pos - 1)
                        if m <= 0:
                            raise refuse_null("groups element")
                        e = pos + m - 1
                        a.append(str(buf[pos:e], "utf-8", "java"))
                        pos = e
                else:
                    raise refuse_null("groups")
                o.include_authorized_operations, n = _u_oB(buf, pos)
                pos += 2
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        (m,) = _u_h(buf, pos)
                        pos += 2
                        if m < 0:
                            raise refuse_null("groups element")
                        e = pos + m
                        a.append(str(buf[pos:e], "utf-8", "java"))
                        pos = e
                else:
                    raise refuse_null("groups")
                if version >= 3:
                    o.include_authorized_operations = buf[pos] != 0
                    pos += 1
                else:
                    o.include_authorized_operations = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeGroupsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeGroupsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"DescribeGroupsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 5:
                n = len(o.groups) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.groups:
                    s = x.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_o(o.include_authorized_operations)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.groups))
                for x in o.groups:
                    s = x.encode()
                    w += _p_h(len(s))
                    w += s
                if version >= 3:
                    w += _p_o(o.include_authorized_operations)
                elif o.include_authorized_operations:
                    raise refuse_field("include_authorized_operations", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeGroupsRequest v{version}: {error}") from error

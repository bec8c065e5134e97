"""DescribeAclsRequest (request 29, versions 1-3).

Generated from schemas/api/describe_acls.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_bB = Struct(">bB").unpack_from
_u_bb = Struct(">bb").unpack_from
_u_bbB = Struct(">bbB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_p_b = Struct(">b").pack
_p_bb = Struct(">bb").pack
_p_h = Struct(">h").pack


class DescribeAclsRequest(Message):
    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    API_KEY = 29
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DescribeAclsRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.resource_type_filter, n = _u_bB(buf, pos)
                pos += 2
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.resource_name_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.resource_name_filter = None
                o.pattern_type_filter, n = _u_bB(buf, pos)
                pos += 2
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.principal_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.principal_filter = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.host_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.host_filter = None
                o.operation, o.permission_type, n = _u_bbB(buf, pos)
                pos += 3
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.resource_type_filter, n = _u_bh(buf, pos)
                pos += 3
                if n >= 0:
                    e = pos + n
                    o.resource_name_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.resource_name_filter = None
                o.pattern_type_filter, n = _u_bh(buf, pos)
                pos += 3
                if n >= 0:
                    e = pos + n
                    o.principal_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.principal_filter = None
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.host_filter = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.host_filter = None
                o.operation, o.permission_type = _u_bb(buf, pos)
                pos += 2
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeAclsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeAclsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DescribeAclsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_b(o.resource_type_filter)
                if o.resource_name_filter is None:
                    w.append(0)
                else:
                    s = o.resource_name_filter.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_b(o.pattern_type_filter)
                if o.principal_filter is None:
                    w.append(0)
                else:
                    s = o.principal_filter.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if o.host_filter is None:
                    w.append(0)
                else:
                    s = o.host_filter.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_bb(o.operation, o.permission_type)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_b(o.resource_type_filter)
                if o.resource_name_filter is None:
                    w += b"\xff\xff"
                else:
                    s = o.resource_name_filter.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_b(o.pattern_type_filter)
                if o.principal_filter is None:
                    w += b"\xff\xff"
                else:
                    s = o.principal_filter.encode()
                    w += _p_h(len(s))
                    w += s
                if o.host_filter is None:
                    w += b"\xff\xff"
                else:
                    s = o.host_filter.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_bb(o.operation, o.permission_type)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeAclsRequest v{version}: {error}") from error

"""DeleteAclsRequest (request 31, versions 1-3).

Generated from schemas/api/delete_acls.txt by pykbroker.protocol.generate: do not edit.
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
_u_bB = Struct(">bB").unpack_from
_u_bb = Struct(">bb").unpack_from
_u_bbB = Struct(">bbB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_b = Struct(">b").pack
_p_bb = Struct(">bb").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DeleteAclsRequest(Message):
    __slots__ = (
        "filters",
        "unknown_tags",
    )

    API_KEY = 31
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        filters: list[DeleteAclsFilter] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.filters = [] if filters is FRESH else filters
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DeleteAclsRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 8 > len(buf) - pos or n > most:
                        raise refuse_count("filters", n, len(buf) - pos)
                    o.filters = a = []
                    for _ in range(n):
                        o1 = _new(DeleteAclsFilter)
                        o1.resource_type_filter, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.resource_name_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.resource_name_filter = None
                        o1.pattern_type_filter, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.principal_filter = None
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.host_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.host_filter = None
                        o1.operation, o1.permission_type, n = _u_bbB(buf, pos)
                        pos += 3
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("filters")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 10 > len(buf) - pos or n > most:
                        raise refuse_count("filters", n, len(buf) - pos)
                    o.filters = a = []
                    for _ in range(n):
                        o1 = _new(DeleteAclsFilter)
                        o1.resource_type_filter, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.resource_name_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.resource_name_filter = None
                        o1.pattern_type_filter, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.principal_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.principal_filter = None
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.host_filter = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.host_filter = None
                        o1.operation, o1.permission_type = _u_bb(buf, pos)
                        pos += 2
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("filters")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteAclsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteAclsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DeleteAclsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.filters) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.filters:
                    w += _p_b(o1.resource_type_filter)
                    if o1.resource_name_filter is None:
                        w.append(0)
                    else:
                        s = o1.resource_name_filter.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    w += _p_b(o1.pattern_type_filter)
                    if o1.principal_filter is None:
                        w.append(0)
                    else:
                        s = o1.principal_filter.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if o1.host_filter is None:
                        w.append(0)
                    else:
                        s = o1.host_filter.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    w += _p_bb(o1.operation, o1.permission_type)
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
                w += _p_i(len(o.filters))
                for o1 in o.filters:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_b(o1.resource_type_filter)
                    if o1.resource_name_filter is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.resource_name_filter.encode()
                        w += _p_h(len(s))
                        w += s
                    w += _p_b(o1.pattern_type_filter)
                    if o1.principal_filter is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.principal_filter.encode()
                        w += _p_h(len(s))
                        w += s
                    if o1.host_filter is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.host_filter.encode()
                        w += _p_h(len(s))
                        w += s
                    w += _p_bb(o1.operation, o1.permission_type)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteAclsRequest v{version}: {error}") from error


class DeleteAclsFilter(Message):
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

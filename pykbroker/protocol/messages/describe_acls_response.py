"""DescribeAclsResponse (response 29, versions 1-3).

Generated from schemas/api/describe_acls.txt by pykbroker.protocol.generate: do not edit.
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
_u_bi = Struct(">bi").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ihh = Struct(">ihh").unpack_from
_p_b = Struct(">b").pack
_p_bb = Struct(">bb").pack
_p_bh = Struct(">bh").pack
_p_bi = Struct(">bi").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class DescribeAclsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "resources",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is FRESH else resources
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DescribeAclsResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.error_message = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.error_message = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(DescribeAclsResource)
                        o1.resource_type, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        o1.pattern_type, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 5 > len(buf) - pos or n > 1000000:
                                raise refuse_count("acls", n, len(buf) - pos)
                            o1.acls = a1 = []
                            for _ in range(n):
                                o2 = _new(AclDescription)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.principal = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("host")
                                o2.operation, o2.permission_type, n = _u_bbB(buf, pos)
                                pos += 3
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("acls")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("resources")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, o.error_code, n = _u_ihh(buf, pos)
                pos += 8
                if n >= 0:
                    e = pos + n
                    o.error_message = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.error_message = None
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 8 > len(buf) - pos or n > 1000000:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(DescribeAclsResource)
                        o1.resource_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        o1.pattern_type, n = _u_bi(buf, pos)
                        pos += 5
                        if n >= 0:
                            if n * 6 > len(buf) - pos or n > 1000000:
                                raise refuse_count("acls", n, len(buf) - pos)
                            o1.acls = a1 = []
                            for _ in range(n):
                                o2 = _new(AclDescription)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.principal = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("host")
                                o2.operation, o2.permission_type = _u_bb(buf, pos)
                                pos += 2
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("acls")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("resources")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeAclsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeAclsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DescribeAclsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_ih(o.throttle_time_ms, o.error_code)
                if o.error_message is None:
                    w.append(0)
                else:
                    s = o.error_message.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                n = len(o.resources) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.resources:
                    s = o1.resource_name.encode()
                    w += _p_b(o1.resource_type)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_b(o1.pattern_type)
                    n = len(o1.acls) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.acls:
                        s = o2.principal.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.host.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_bb(o2.operation, o2.permission_type)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
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
                w += _p_ih(o.throttle_time_ms, o.error_code)
                if o.error_message is None:
                    w += b"\xff\xff"
                else:
                    s = o.error_message.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(len(o.resources))
                for o1 in o.resources:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.resource_name.encode()
                    w += _p_bh(o1.resource_type, len(s))
                    w += s
                    w += _p_bi(o1.pattern_type, len(o1.acls))
                    for o2 in o1.acls:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.principal.encode()
                        w += _p_h(len(s))
                        w += s
                        s = o2.host.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_bb(o2.operation, o2.permission_type)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeAclsResponse v{version}: {error}") from error


class DescribeAclsResource(Message):
    __slots__ = (
        "resource_type",
        "resource_name",
        "pattern_type",
        "acls",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is FRESH else acls
        self.unknown_tags = unknown_tags


class AclDescription(Message):
    __slots__ = (
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

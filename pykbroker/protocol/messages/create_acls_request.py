"""CreateAclsRequest (request 30, versions 1-3).

Generated from schemas/api/create_acls.txt by pykbroker.protocol.generate: do not edit.
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
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class CreateAclsRequest(Message):
    __slots__ = (
        "creations",
        "unknown_tags",
    )

    API_KEY = 30
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        creations: list[AclCreation] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.creations = [] if creations is FRESH else creations
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("CreateAclsRequest", version)
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
                        raise refuse_count("creations", n, len(buf) - pos)
                    o.creations = a = []
                    for _ in range(n):
                        o1 = _new(AclCreation)
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
                        o1.resource_pattern_type, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("host")
                        o1.operation, o1.permission_type, n = _u_bbB(buf, pos)
                        pos += 3
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("creations")
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
                        raise refuse_count("creations", n, len(buf) - pos)
                    o.creations = a = []
                    for _ in range(n):
                        o1 = _new(AclCreation)
                        o1.resource_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        o1.resource_pattern_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.principal = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("host")
                        o1.operation, o1.permission_type = _u_bb(buf, pos)
                        pos += 2
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("creations")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"CreateAclsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"CreateAclsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"CreateAclsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.creations) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.creations:
                    s = o1.resource_name.encode()
                    w += _p_b(o1.resource_type)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.principal.encode()
                    w += _p_b(o1.resource_pattern_type)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.host.encode()
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
                w += _p_i(len(o.creations))
                for o1 in o.creations:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.resource_name.encode()
                    w += _p_bh(o1.resource_type, len(s))
                    w += s
                    s = o1.principal.encode()
                    w += _p_bh(o1.resource_pattern_type, len(s))
                    w += s
                    s = o1.host.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_bb(o1.operation, o1.permission_type)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"CreateAclsRequest v{version}: {error}") from error


class AclCreation(Message):
    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

"""DescribeConfigsRequest (request 32, versions 1-4).

Generated from schemas/api/describe_configs.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_ooB = Struct(">??B").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_o = Struct(">?").pack
_p_oo = Struct(">??").pack
_p_b = Struct(">b").pack
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DescribeConfigsRequest(Message):
    __slots__ = (
        "resources",
        "include_synonyms",
        "include_documentation",
        "unknown_tags",
    )

    API_KEY = 32
    MIN_VERSION = 1
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        resources: list[DescribeConfigsResource] = FRESH,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resources = [] if resources is FRESH else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 4:
            raise refuse_version("DescribeConfigsRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 4:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 4 > len(buf) - pos or n > most:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(DescribeConfigsResource)
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
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n > len(buf) - pos or n > most:
                                raise refuse_count("configuration_keys", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configuration_keys")
                            o1.configuration_keys = a1 = []
                            for _ in range(n):
                                m = buf[pos]
                                pos += 1
                                if m > 127:
                                    m, pos = read_string_length(buf, pos - 1)
                                if m <= 0:
                                    raise refuse_null("configuration_keys element")
                                e = pos + m - 1
                                a1.append(str(buf[pos:e], "utf-8", "java"))
                                pos = e
                        else:
                            o1.configuration_keys = None
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
                o.include_synonyms, o.include_documentation, n = _u_ooB(buf, pos)
                pos += 3
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 7 > len(buf) - pos or n > most:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(DescribeConfigsResource)
                        o1.resource_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 2 > len(buf) - pos or n > most:
                                raise refuse_count("configuration_keys", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configuration_keys")
                            o1.configuration_keys = a1 = []
                            for _ in range(n):
                                (m,) = _u_h(buf, pos)
                                pos += 2
                                if m < 0:
                                    raise refuse_null("configuration_keys element")
                                e = pos + m
                                a1.append(str(buf[pos:e], "utf-8", "java"))
                                pos = e
                        else:
                            o1.configuration_keys = None
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("resources")
                o.include_synonyms = buf[pos] != 0
                pos += 1
                if version >= 3:
                    o.include_documentation = buf[pos] != 0
                    pos += 1
                else:
                    o.include_documentation = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeConfigsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeConfigsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 4:
            raise EncodeError(f"DescribeConfigsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
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
                    if o1.configuration_keys is None:
                        w.append(0)
                    else:
                        n = len(o1.configuration_keys) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for x in o1.configuration_keys:
                            s = x.encode()
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
                w += _p_oo(o.include_synonyms, o.include_documentation)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.resources))
                for o1 in o.resources:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.resource_name.encode()
                    w += _p_bh(o1.resource_type, len(s))
                    w += s
                    if o1.configuration_keys is None:
                        w += b"\xff\xff\xff\xff"
                    else:
                        w += _p_i(len(o1.configuration_keys))
                        for x in o1.configuration_keys:
                            s = x.encode()
                            w += _p_h(len(s))
                            w += s
                w += _p_o(o.include_synonyms)
                if version >= 3:
                    w += _p_o(o.include_documentation)
                elif o.include_documentation:
                    raise refuse_field("include_documentation", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeConfigsRequest v{version}: {error}") from error


class DescribeConfigsResource(Message):
    __slots__ = (
        "resource_type",
        "resource_name",
        "configuration_keys",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is FRESH else configuration_keys
        self.unknown_tags = unknown_tags

"""DescribeClientQuotasRequest (request 48, versions 0-1).

Generated from schemas/api/describe_client_quotas.txt by pykbroker.protocol.generate: do not edit.
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
_u_bB = Struct(">bB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DescribeClientQuotasRequest(Message):
    __slots__ = (
        "components",
        "strict",
        "unknown_tags",
    )

    API_KEY = 48
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        components: list[ComponentData] = FRESH,
        strict: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.components = [] if components is FRESH else components
        self.strict = strict
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("DescribeClientQuotasRequest", version)
        o = _new(cls)
        try:
            if version >= 1:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 4 > len(buf) - pos or n > most:
                        raise refuse_count("components", n, len(buf) - pos)
                    o.components = a = []
                    for _ in range(n):
                        o1 = _new(ComponentData)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.entity_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("entity_type")
                        o1.match_type, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.match = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.match = None
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("components")
                o.strict, n = _u_oB(buf, pos)
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
                    if n * 5 > len(buf) - pos or n > most:
                        raise refuse_count("components", n, len(buf) - pos)
                    o.components = a = []
                    for _ in range(n):
                        o1 = _new(ComponentData)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.entity_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("entity_type")
                        o1.match_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.match = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.match = None
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("components")
                o.strict = buf[pos] != 0
                pos += 1
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeClientQuotasRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeClientQuotasRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"DescribeClientQuotasRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                n = len(o.components) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.components:
                    s = o1.entity_type.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_b(o1.match_type)
                    if o1.match is None:
                        w.append(0)
                    else:
                        s = o1.match.encode()
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
                w += _p_o(o.strict)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.components))
                for o1 in o.components:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.entity_type.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_b(o1.match_type)
                    if o1.match is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.match.encode()
                        w += _p_h(len(s))
                        w += s
                w += _p_o(o.strict)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeClientQuotasRequest v{version}: {error}") from error


class ComponentData(Message):
    __slots__ = (
        "entity_type",
        "match_type",
        "match",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        self.unknown_tags = unknown_tags

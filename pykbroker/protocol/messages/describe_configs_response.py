"""DescribeConfigsResponse (response 32, versions 1-4).

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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_oboB = Struct(">?b?B").unpack_from
_u_oboi = Struct(">?b?i").unpack_from
_u_b = Struct(">b").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_obo = Struct(">?b?").pack
_p_oboi = Struct(">?b?i").pack
_p_b = Struct(">b").pack
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class DescribeConfigsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
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
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is FRESH else results
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 4:
            raise refuse_version("DescribeConfigsResponse", version)
        o = _new(cls)
        try:
            if version >= 4:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 7 > len(buf) - pos or n > 1000000:
                        raise refuse_count("results", n, len(buf) - pos)
                    o.results = a = []
                    for _ in range(n):
                        o1 = _new(DescribeConfigsResult)
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
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
                            if n * 9 > len(buf) - pos or n > 1000000:
                                raise refuse_count("configs", n, len(buf) - pos)
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribeConfigsResourceResult)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                o2.read_only, o2.config_source, o2.is_sensitive, n = _u_oboB(buf, pos)
                                pos += 4
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 4 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("synonyms", n, len(buf) - pos)
                                    o2.synonyms = a2 = []
                                    for _ in range(n):
                                        o3 = _new(DescribeConfigsSynonym)
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = read_string_length(buf, pos - 1)
                                        if n > 0:
                                            e = pos + n - 1
                                            o3.name = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            raise refuse_null("name")
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = read_string_length(buf, pos - 1)
                                        if n > 0:
                                            e = pos + n - 1
                                            o3.value = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            o3.value = None
                                        o3.source, n = _u_bB(buf, pos)
                                        pos += 2
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    raise refuse_null("synonyms")
                                o2.config_type, n = _u_bB(buf, pos)
                                pos += 2
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.documentation = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.documentation = None
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("results")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, n = _u_ii(buf, pos)
                pos += 8
                if n >= 0:
                    if n * 11 > len(buf) - pos or n > 1000000:
                        raise refuse_count("results", n, len(buf) - pos)
                    o.results = a = []
                    for _ in range(n):
                        o1 = _new(DescribeConfigsResult)
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
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
                            if n * 11 > len(buf) - pos or n > 1000000:
                                raise refuse_count("configs", n, len(buf) - pos)
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribeConfigsResourceResult)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                o2.read_only, o2.config_source, o2.is_sensitive, n = _u_oboi(buf, pos)
                                pos += 7
                                if n >= 0:
                                    if n * 5 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("synonyms", n, len(buf) - pos)
                                    o2.synonyms = a2 = []
                                    for _ in range(n):
                                        o3 = _new(DescribeConfigsSynonym)
                                        (n,) = _u_h(buf, pos)
                                        pos += 2
                                        if n >= 0:
                                            e = pos + n
                                            o3.name = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            raise refuse_null("name")
                                        (n,) = _u_h(buf, pos)
                                        pos += 2
                                        if n >= 0:
                                            e = pos + n
                                            o3.value = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            o3.value = None
                                        (o3.source,) = _u_b(buf, pos)
                                        pos += 1
                                        o3.unknown_tags = None
                                        a2.append(o3)
                                else:
                                    raise refuse_null("synonyms")
                                if version >= 3:
                                    o2.config_type, n = _u_bh(buf, pos)
                                    pos += 3
                                    if n >= 0:
                                        e = pos + n
                                        o2.documentation = str(buf[pos:e], "utf-8", "java")
                                        pos = e
                                    else:
                                        o2.documentation = None
                                else:
                                    o2.config_type = 0
                                    o2.documentation = ""
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("results")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeConfigsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeConfigsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 4:
            raise EncodeError(f"DescribeConfigsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                w += _p_i(o.throttle_time_ms)
                n = len(o.results) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.results:
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w.append(0)
                    else:
                        s = o1.error_message.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    s = o1.resource_name.encode()
                    w += _p_b(o1.resource_type)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.configs) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.configs:
                        s = o2.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o2.value is None:
                            w.append(0)
                        else:
                            s = o2.value.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        w += _p_obo(o2.read_only, o2.config_source, o2.is_sensitive)
                        n = len(o2.synonyms) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o3 in o2.synonyms:
                            s = o3.name.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                            if o3.value is None:
                                w.append(0)
                            else:
                                s = o3.value.encode()
                                n = len(s) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_string_length(w, n)
                                w += s
                            w += _p_b(o3.source)
                            if o3.unknown_tags:
                                put_tags(w, {}, o3.unknown_tags)
                            else:
                                w.append(0)
                        w += _p_b(o2.config_type)
                        if o2.documentation is None:
                            w.append(0)
                        else:
                            s = o2.documentation.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
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
                w += _p_ii(o.throttle_time_ms, len(o.results))
                for o1 in o.results:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.error_message.encode()
                        w += _p_h(len(s))
                        w += s
                    s = o1.resource_name.encode()
                    w += _p_bh(o1.resource_type, len(s))
                    w += s
                    w += _p_i(len(o1.configs))
                    for o2 in o1.configs:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.name.encode()
                        w += _p_h(len(s))
                        w += s
                        if o2.value is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.value.encode()
                            w += _p_h(len(s))
                            w += s
                        w += _p_oboi(o2.read_only, o2.config_source, o2.is_sensitive, len(o2.synonyms))
                        for o3 in o2.synonyms:
                            if o3.unknown_tags:
                                raise refuse_field("unknown_tags", version)
                            s = o3.name.encode()
                            w += _p_h(len(s))
                            w += s
                            if o3.value is None:
                                w += b"\xff\xff"
                            else:
                                s = o3.value.encode()
                                w += _p_h(len(s))
                                w += s
                            w += _p_b(o3.source)
                        if version >= 3:
                            w += _p_b(o2.config_type)
                            if o2.documentation is None:
                                w += b"\xff\xff"
                            else:
                                s = o2.documentation.encode()
                                w += _p_h(len(s))
                                w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeConfigsResponse v{version}: {error}") from error


class DescribeConfigsResult(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is FRESH else configs
        self.unknown_tags = unknown_tags


class DescribeConfigsResourceResult(Message):
    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = FRESH,
        config_type: int = 0,
        documentation: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is FRESH else synonyms
        self.config_type = config_type
        self.documentation = documentation
        self.unknown_tags = unknown_tags


class DescribeConfigsSynonym(Message):
    __slots__ = (
        "name",
        "value",
        "source",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        source: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.unknown_tags = unknown_tags

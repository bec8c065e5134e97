"""AlterConfigsResponse (response 33, versions 0-2).

Generated from schemas/api/alter_configs.txt by pykbroker.protocol.generate: do not edit.
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
_u_bh = Struct(">bh").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_b = Struct(">b").pack
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class AlterConfigsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tags",
    )

    API_KEY = 33
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is FRESH else responses
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("AlterConfigsResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(AlterConfigsResourceResponse)
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
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("responses")
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
                    if n * 7 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(AlterConfigsResourceResponse)
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
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("responses")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterConfigsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterConfigsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"AlterConfigsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_i(o.throttle_time_ms)
                n = len(o.responses) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.responses:
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
                w += _p_ii(o.throttle_time_ms, len(o.responses))
                for o1 in o.responses:
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
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AlterConfigsResponse v{version}: {error}") from error


class AlterConfigsResourceResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.unknown_tags = unknown_tags

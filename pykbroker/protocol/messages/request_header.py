"""RequestHeader (header, versions 1-2).

Generated from schemas/header/headers.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hhih = Struct(">hhih").unpack_from
_p_h = Struct(">h").pack
_p_hhi = Struct(">hhi").pack


class RequestHeader(Message):
    __slots__ = (
        "request_api_key",
        "request_api_version",
        "correlation_id",
        "client_id",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("RequestHeader", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.request_api_key, o.request_api_version, o.correlation_id, n = _u_hhih(buf, pos)
                pos += 10
                if n >= 0:
                    e = pos + n
                    o.client_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.client_id = None
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.request_api_key, o.request_api_version, o.correlation_id, n = _u_hhih(buf, pos)
                pos += 10
                if n >= 0:
                    e = pos + n
                    o.client_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.client_id = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RequestHeader v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RequestHeader v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"RequestHeader has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_hhi(o.request_api_key, o.request_api_version, o.correlation_id)
                if o.client_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.client_id.encode()
                    w += _p_h(len(s))
                    w += s
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_hhi(o.request_api_key, o.request_api_version, o.correlation_id)
                if o.client_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.client_id.encode()
                    w += _p_h(len(s))
                    w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RequestHeader v{version}: {error}") from error

"""SaslHandshakeResponse (response 17, versions 0-1).

Generated from schemas/api/sasl_handshake.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_hi = Struct(">hi").unpack_from
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack


class SaslHandshakeResponse(Message):
    __slots__ = (
        "error_code",
        "mechanisms",
        "unknown_tags",
    )

    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is FRESH else mechanisms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("SaslHandshakeResponse", version)
        o = _new(cls)
        try:
            o.error_code, n = _u_hi(buf, pos)
            pos += 6
            if n >= 0:
                if n * 2 > len(buf) - pos or n > 1000000:
                    raise refuse_count("mechanisms", n, len(buf) - pos)
                o.mechanisms = a = []
                for _ in range(n):
                    (m,) = _u_h(buf, pos)
                    pos += 2
                    if m < 0:
                        raise refuse_null("mechanisms element")
                    e = pos + m
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("mechanisms")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SaslHandshakeResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SaslHandshakeResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"SaslHandshakeResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_hi(o.error_code, len(o.mechanisms))
            for x in o.mechanisms:
                s = x.encode()
                w += _p_h(len(s))
                w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SaslHandshakeResponse v{version}: {error}") from error

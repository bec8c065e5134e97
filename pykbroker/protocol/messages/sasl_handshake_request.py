"""SaslHandshakeRequest (request 17, versions 0-1).

Generated from schemas/api/sasl_handshake.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_p_h = Struct(">h").pack


class SaslHandshakeRequest(Message):
    __slots__ = (
        "mechanism",
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
        mechanism: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("SaslHandshakeRequest", version)
        o = _new(cls)
        try:
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.mechanism = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("mechanism")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SaslHandshakeRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SaslHandshakeRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"SaslHandshakeRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            s = o.mechanism.encode()
            w += _p_h(len(s))
            w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SaslHandshakeRequest v{version}: {error}") from error

"""SaslAuthenticateRequest (request 36, versions 0-2).

Generated from schemas/api/sasl_authenticate.txt by pykbroker.protocol.generate: do not edit.
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
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_i = Struct(">i").unpack_from
_p_i = Struct(">i").pack


class SaslAuthenticateRequest(Message):
    __slots__ = (
        "auth_bytes",
        "unknown_tags",
    )

    API_KEY = 36
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.auth_bytes = auth_bytes
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("SaslAuthenticateRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.auth_bytes = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("auth_bytes")
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
                    e = pos + n
                    o.auth_bytes = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("auth_bytes")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SaslAuthenticateRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SaslAuthenticateRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"SaslAuthenticateRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.auth_bytes) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.auth_bytes
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.auth_bytes))
                w += o.auth_bytes
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SaslAuthenticateRequest v{version}: {error}") from error

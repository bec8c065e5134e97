"""SaslAuthenticateResponse (response 36, versions 0-2).

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
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_q = Struct(">q").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class SaslAuthenticateResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "auth_bytes",
        "session_lifetime_ms",
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
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("SaslAuthenticateResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.error_code, n = _u_hB(buf, pos)
                pos += 3
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
                    e = pos + n - 1
                    o.auth_bytes = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("auth_bytes")
                o.session_lifetime_ms, n = _u_qB(buf, pos)
                pos += 9
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.error_code, n = _u_hh(buf, pos)
                pos += 4
                if n >= 0:
                    e = pos + n
                    o.error_message = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.error_message = None
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    e = pos + n
                    o.auth_bytes = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("auth_bytes")
                if version >= 1:
                    (o.session_lifetime_ms,) = _u_q(buf, pos)
                    pos += 8
                else:
                    o.session_lifetime_ms = 0
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SaslAuthenticateResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SaslAuthenticateResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"SaslAuthenticateResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_h(o.error_code)
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
                n = len(o.auth_bytes) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.auth_bytes
                w += _p_q(o.session_lifetime_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_h(o.error_code)
                if o.error_message is None:
                    w += b"\xff\xff"
                else:
                    s = o.error_message.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(len(o.auth_bytes))
                w += o.auth_bytes
                if version >= 1:
                    w += _p_q(o.session_lifetime_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SaslAuthenticateResponse v{version}: {error}") from error

"""ExpireDelegationTokenRequest (request 40, versions 1-2).

Generated from schemas/api/expire_delegation_token.txt by pykbroker.protocol.generate: do not edit.
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
_u_q = Struct(">q").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class ExpireDelegationTokenRequest(Message):
    __slots__ = (
        "hmac",
        "expiry_time_period_ms",
        "unknown_tags",
    )

    API_KEY = 40
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("ExpireDelegationTokenRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.hmac = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("hmac")
                o.expiry_time_period_ms, n = _u_qB(buf, pos)
                pos += 9
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
                    o.hmac = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("hmac")
                (o.expiry_time_period_ms,) = _u_q(buf, pos)
                pos += 8
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ExpireDelegationTokenRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ExpireDelegationTokenRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"ExpireDelegationTokenRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.hmac) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.hmac
                w += _p_q(o.expiry_time_period_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.hmac))
                w += o.hmac
                w += _p_q(o.expiry_time_period_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ExpireDelegationTokenRequest v{version}: {error}") from error

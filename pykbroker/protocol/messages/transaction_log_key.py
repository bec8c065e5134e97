"""TransactionLogKey (key 0, versions 0-0).

Generated from schemas/transaction/transaction_log.txt by pykbroker.protocol.generate: do not edit.
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


class TransactionLogKey(Message):
    __slots__ = (
        "transactional_id",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        transactional_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("TransactionLogKey", version)
        o = _new(cls)
        try:
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.transactional_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("transactional_id")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"TransactionLogKey v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"TransactionLogKey v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"TransactionLogKey has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            s = o.transactional_id.encode()
            w += _p_h(len(s))
            w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"TransactionLogKey v{version}: {error}") from error

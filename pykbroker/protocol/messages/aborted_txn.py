"""AbortedTxn (data, versions 0-0).

Generated from schemas/storage/aborted_txn.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_qqqq = Struct(">qqqq").unpack_from
_p_qqqq = Struct(">qqqq").pack


class AbortedTxn(Message):
    __slots__ = (
        "producer_id",
        "first_offset",
        "last_offset",
        "last_stable_offset",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.last_stable_offset = last_stable_offset
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AbortedTxn", version)
        o = _new(cls)
        try:
            o.producer_id, o.first_offset, o.last_offset, o.last_stable_offset = _u_qqqq(buf, pos)
            pos += 32
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AbortedTxn v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AbortedTxn v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AbortedTxn has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_qqqq(o.producer_id, o.first_offset, o.last_offset, o.last_stable_offset)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AbortedTxn v{version}: {error}") from error

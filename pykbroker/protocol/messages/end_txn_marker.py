"""EndTxnMarker (data, versions 0-0).

Generated from schemas/control/end_txn_marker.txt by pykbroker.protocol.generate: do not edit.
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
_u_i = Struct(">i").unpack_from
_p_i = Struct(">i").pack


class EndTxnMarker(Message):
    __slots__ = (
        "coordinator_epoch",
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
        coordinator_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("EndTxnMarker", version)
        o = _new(cls)
        try:
            (o.coordinator_epoch,) = _u_i(buf, pos)
            pos += 4
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EndTxnMarker v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EndTxnMarker v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"EndTxnMarker has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_i(o.coordinator_epoch)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EndTxnMarker v{version}: {error}") from error

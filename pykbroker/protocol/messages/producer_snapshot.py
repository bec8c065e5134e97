"""ProducerSnapshot (data, versions 1-1).

Generated from schemas/storage/producer_snapshot.txt by pykbroker.protocol.generate: do not edit.
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
_u_Ii = Struct(">Ii").unpack_from
_u_qhiqiqiq = Struct(">qhiqiqiq").unpack_from
_p_Ii = Struct(">Ii").pack
_p_qhiqiqiq = Struct(">qhiqiqiq").pack


class ProducerSnapshot(Message):
    __slots__ = (
        "crc",
        "producer_entries",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 1
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: list[ProducerEntry] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.crc = crc
        self.producer_entries = [] if producer_entries is FRESH else producer_entries
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 1:
            raise refuse_version("ProducerSnapshot", version)
        o = _new(cls)
        try:
            o.crc, n = _u_Ii(buf, pos)
            pos += 8
            if n >= 0:
                if n * 46 > len(buf) - pos or n > 1000000:
                    raise refuse_count("producer_entries", n, len(buf) - pos)
                o.producer_entries = a = []
                for _ in range(n):
                    o1 = _new(ProducerEntry)
                    o1.producer_id, o1.epoch, o1.last_sequence, o1.last_offset, o1.offset_delta, o1.timestamp, o1.coordinator_epoch, o1.current_txn_first_offset = _u_qhiqiqiq(buf, pos)
                    pos += 46
                    o1.unknown_tags = None
                    a.append(o1)
            else:
                raise refuse_null("producer_entries")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ProducerSnapshot v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ProducerSnapshot v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 1:
            raise EncodeError(f"ProducerSnapshot has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_Ii(o.crc, len(o.producer_entries))
            for o1 in o.producer_entries:
                if o1.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_qhiqiqiq(o1.producer_id, o1.epoch, o1.last_sequence, o1.last_offset, o1.offset_delta, o1.timestamp, o1.coordinator_epoch, o1.current_txn_first_offset)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ProducerSnapshot v{version}: {error}") from error


class ProducerEntry(Message):
    __slots__ = (
        "producer_id",
        "epoch",
        "last_sequence",
        "last_offset",
        "offset_delta",
        "timestamp",
        "coordinator_epoch",
        "current_txn_first_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset
        self.unknown_tags = unknown_tags

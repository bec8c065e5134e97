"""One producer's state, and the `.snapshot` file that holds those of all producers of a partition.

    snapshot  int16 version = 1 | uint32 CRC-32C of all that follows it | int32 count | entries
    entry     int64 producer id | int16 epoch | int32 last sequence | int64 last offset |
              int32 offset delta | int64 timestamp | int32 coordinator epoch |
              int64 first offset of the open transaction (-1 none)

The file name is the offset up to which the log is covered, in twenty digits. Only the last batch of
a producer is stored; the log may have the earlier ones (log/partition/earlier_batches.py).

State   entries are immutable: an update is a new entry.
Source  Kafka's ProducerSnapshot schema, ProducerStateManager.java, ProducerStateEntry.java.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable

from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record_batch import NO_SEQUENCE, decrement_sequence

_VERSION = 1
_PREFIX = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_ENTRIES_AT = _PREFIX.size
KNOWN_BATCHES = 5
"""Batches of a producer whose repetition is recognised, as in Kafka."""


class CorruptSnapshot(Exception):
    """A producer snapshot that cannot be used."""


class BatchMetadata:
    """One batch of a producer, for detecting duplicates."""

    __slots__ = ("last_offset", "last_sequence", "offset_delta", "timestamp")

    def __init__(
        self, last_sequence: int, last_offset: int, offset_delta: int, timestamp: int
    ) -> None:
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        return decrement_sequence(self.last_sequence, self.offset_delta)

    def __repr__(self) -> str:
        return (
            f"BatchMetadata(last_sequence={self.last_sequence}, last_offset={self.last_offset}, "
            f"offset_delta={self.offset_delta}, timestamp={self.timestamp})"
        )


class CompletedTxn:
    """A transaction of one producer that was ended by a marker at `last_offset`."""

    __slots__ = ("first_offset", "is_aborted", "last_offset", "last_stable_offset", "producer_id")

    def __init__(
        self, producer_id: int, first_offset: int, last_offset: int, is_aborted: bool
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.is_aborted = is_aborted
        #: The last stable offset once this transaction is ended; set when it is applied.
        self.last_stable_offset = -1

    def __repr__(self) -> str:
        outcome = "aborted" if self.is_aborted else "committed"
        return f"CompletedTxn({self.producer_id}, {self.first_offset}-{self.last_offset} {outcome})"


class ProducerStateEntry:
    """The latest state of one producer in the partition; `batches` are its last ones, at most five,
    oldest first.
    """

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_txn_first_offset",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        last_timestamp: int,
        current_txn_first_offset: int,
        batches: list[BatchMetadata],
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.current_txn_first_offset = current_txn_first_offset
        self.batches = batches

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """The offset of the last data record, -1 if there is none."""
        return self.batches[-1].last_offset if self.batches else -1

    @property
    def last_offset_delta(self) -> int:
        return self.batches[-1].offset_delta if self.batches else 0

    def __repr__(self) -> str:
        return (
            f"ProducerStateEntry(producer_id={self.producer_id}, "
            f"producer_epoch={self.producer_epoch}, coordinator_epoch={self.coordinator_epoch}, "
            f"last_timestamp={self.last_timestamp}, "
            f"current_txn_first_offset={self.current_txn_first_offset}, batches={self.batches})"
        )


def encode_snapshot(entries: Collection[ProducerStateEntry]) -> bytes:
    """Return the content of a `.snapshot` file."""
    payload = bytearray(_COUNT.pack(len(entries)))
    for entry in entries:
        payload += _ENTRY.pack(
            entry.producer_id,
            entry.producer_epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.current_txn_first_offset,
        )
    return _PREFIX.pack(_VERSION, crc32c(payload)) + payload


def decode_snapshot(payload: bytes) -> list[ProducerStateEntry]:
    """Return the producers of a `.snapshot` file; raises CorruptSnapshot if it is invalid."""
    if len(payload) < _ENTRIES_AT + _COUNT.size:
        raise CorruptSnapshot(f"producer snapshot of {len(payload)} bytes is truncated")
    version, crc = _PREFIX.unpack_from(payload)
    if version != _VERSION:
        raise CorruptSnapshot(f"producer snapshot of unknown version {version}")
    computed = crc32c(memoryview(payload)[_ENTRIES_AT:])
    if crc != computed:
        raise CorruptSnapshot(
            f"producer snapshot with a wrong checksum (stored {crc}, computed {computed})"
        )
    (count,) = _COUNT.unpack_from(payload, _ENTRIES_AT)
    start = _ENTRIES_AT + _COUNT.size
    if count < 0 or len(payload) != start + count * _ENTRY.size:
        raise CorruptSnapshot(f"producer snapshot of {len(payload)} bytes claims {count} producers")
    entries: list[ProducerStateEntry] = []
    for fields in _ENTRY.iter_unpack(payload[start:]):
        producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, txn = fields
        batches = [BatchMetadata(sequence, offset, delta, timestamp)] if offset >= 0 else []
        entries.append(
            ProducerStateEntry(
                producer_id, epoch, coordinator_epoch, timestamp, max(txn, -1), batches
            )
        )
    return entries


def stray_snapshots(
    snapshot_offsets: Iterable[int], segment_base_offsets: Collection[int]
) -> list[int]:
    """Return the offsets of the snapshots that are to be deleted when a log is opened.

    Those at the base offset of a segment are kept. Of the others, only the newest is kept, and only
    if it is beyond the last segment (it was taken when the log was closed).
    """
    strays = sorted(offset for offset in snapshot_offsets if offset not in segment_base_offsets)
    if strays and strays[-1] > max(segment_base_offsets, default=-1):
        strays.pop()
    return strays

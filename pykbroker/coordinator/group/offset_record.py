"""Records of committed offsets as bytes, patched from an earlier record of the same partition.

    length | attributes | timestamp delta | offset delta | key |
        length | version 4 | offset | leader epoch | "" | commit timestamp | tags | no headers

A group commits the same partitions again and again. Its records differ only in offset, epoch, time
and their place in the batch. The general codec encodes the others, such as tombstones, records with
metadata of the client, and those behind the first ONE_BYTE_DELTAS of a batch.

State   one record of up to MOST_KNOWN partitions of groups, into which the others are patched.
In      records.
Out     the bytes that `RecordCodec.encode_record` would return.
"""

from __future__ import annotations

from struct import Struct

from pykbroker.coordinator.group.records import OFFSET_COMMIT_VALUE_VERSION
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue

MOST_KNOWN = 512
ONE_BYTE_DELTAS = 64
DELTA_AT = 2  # after the record's length
OFFSET_AT = 2  # in the value
TIMESTAMP_AT = 15
NO_HEADERS = b"\0"

_put_offset_and_epoch = Struct(">qi").pack_into
_put_i64 = Struct(">q").pack_into


class GroupRecordCodec(RecordCodec):
    """Codec of `__consumer_offsets`; see the module."""

    def __init__(self) -> None:
        super().__init__(GROUP_RECORD_TYPES)
        self._known: dict[tuple[str, str, int, bytes], tuple[bytes | bytearray, int, int]] = {}

    def encode_record(
        self, record: CoordinatorRecord, offset_delta: int, breathe: Breathe = go_on
    ) -> bytes | bytearray:
        """See `RecordCodec`."""
        value = record.value
        if (
            record.value_version != OFFSET_COMMIT_VALUE_VERSION
            or not isinstance(value, OffsetCommitValue)
            or value.metadata
            or value.unknown_tags
            or offset_delta >= ONE_BYTE_DELTAS
        ):
            return super().encode_record(record, offset_delta, breathe)
        key = record.key
        partition = (key.group, key.topic, key.partition, value.topic_id)
        known = self._known.get(partition)
        if known is None:
            return self._learn(partition, record, offset_delta)
        sample, delta_at, value_at = known
        encoded = bytearray(sample)
        encoded[delta_at] = offset_delta << 1
        _put_offset_and_epoch(encoded, value_at + OFFSET_AT, value.offset, value.leader_epoch)
        _put_i64(encoded, value_at + TIMESTAMP_AT, value.commit_timestamp)
        return encoded

    def _learn(
        self, partition: tuple[str, str, int, bytes], record: CoordinatorRecord, offset_delta: int
    ) -> bytes | bytearray:
        """Encode the record, and remember it for later ones of the same partition."""
        encoded = super().encode_record(record, offset_delta)
        _, value = self.encode(record)
        assert value is not None
        length_bytes = next(at for at, byte in enumerate(encoded, 1) if byte < 0x80)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        value_at = len(encoded) - len(NO_HEADERS) - len(value)
        self._known[partition] = encoded, length_bytes + DELTA_AT, value_at
        return encoded

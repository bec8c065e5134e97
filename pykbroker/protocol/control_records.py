"""Control records: transaction markers and the records of the raft quorum itself.

    key     int16 version = 0 | int16 type
    type    0 ABORT   1 COMMIT   2 LEADER_CHANGE   3 SNAPSHOT_HEADER   4 SNAPSHOT_FOOTER
            5 KRAFT_VERSION   6 KRAFT_VOTERS
    value   ABORT, COMMIT   int16 version = 0 | int32 coordinator epoch
            the others      their generated message in version 0, the first field of which is this
                            version

A control batch has bit 5 of its attributes; a transaction marker is the only record of its batch,
which carries the producer's id and epoch and is transactional too. Clients may not write control
records, and do not hand them to their applications.

In      message objects of pykbroker.protocol.messages. Out: bytes, batches, message objects.
Source  Kafka's ControlRecordType.java, EndTransactionMarker.java, ControlRecordUtils.java.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

from pykbroker.protocol import record_batch
from pykbroker.protocol.api import message_class
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import ProtocolError
from pykbroker.protocol.record import CorruptRecord, NewRecord, Record
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.protocol.crc32c import BytesLike
    from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
    from pykbroker.protocol.messages.leader_change_message import LeaderChangeMessage
    from pykbroker.protocol.messages.snapshot_footer_record import SnapshotFooterRecord
    from pykbroker.protocol.messages.snapshot_header_record import SnapshotHeaderRecord
    from pykbroker.protocol.messages.voters_record import VotersRecord

    RaftControlMessage: TypeAlias = (
        LeaderChangeMessage
        | SnapshotHeaderRecord
        | SnapshotFooterRecord
        | KRaftVersionRecord
        | VotersRecord
    )

ABORT = 0
COMMIT = 1
LEADER_CHANGE = 2
SNAPSHOT_HEADER = 3
SNAPSHOT_FOOTER = 4
KRAFT_VERSION = 5
KRAFT_VOTERS = 6
UNKNOWN = -1

_TYPES = {
    "LeaderChangeMessage": LEADER_CHANGE,
    "SnapshotHeaderRecord": SNAPSHOT_HEADER,
    "SnapshotFooterRecord": SNAPSHOT_FOOTER,
    "KRaftVersionRecord": KRAFT_VERSION,
    "VotersRecord": KRAFT_VOTERS,
}
_NAMES = {control_type: name for name, control_type in _TYPES.items()}
_MESSAGE_VERSION = 0

_KEY = struct.Struct(">hh")
_MARKER_VALUE = struct.Struct(">hi")

# The record of a marker as every Kafka writes it: what stands before the key, key, length of the
# value, value, number of headers.
_MARKER_RECORD = struct.Struct(">5shhBhiB")
_BEFORE_MARKER_KEY = b"\x20\0\0\0\x08"  # 16 bytes, no attributes and deltas, a key of 4 bytes
_MARKER_VALUE_LENGTH = 12  # zigzag of 6


class EndTxnMarker(NamedTuple):
    """The end of a transaction: COMMIT or ABORT, and the epoch of the coordinator that wrote it."""

    control_type: int
    coordinator_epoch: int

    @property
    def is_commit(self) -> bool:
        return self.control_type == COMMIT


def encode_key(control_type: int) -> bytes:
    return _KEY.pack(0, control_type)


def decode_type(key: bytes | None) -> int:
    """The type in a control record's key; UNKNOWN for types of a later Kafka. CorruptRecord."""
    if key is None or len(key) < _KEY.size:
        raise CorruptRecord("key of a control record is too short")
    version, control_type = _KEY.unpack_from(key)
    if version < 0:
        raise CorruptRecord(f"key of a control record of version {version}")
    return control_type if ABORT <= control_type <= KRAFT_VOTERS else UNKNOWN


def decode_marker(key: bytes | None, value: bytes | None) -> EndTxnMarker:
    """The transaction marker of a control record with this key and value. CorruptRecord."""
    control_type = decode_type(key)
    if control_type not in (ABORT, COMMIT):
        raise CorruptRecord(f"control record of type {control_type} is no transaction marker")
    if value is None or len(value) < _MARKER_VALUE.size:
        raise CorruptRecord("value of a transaction marker is too short")
    version, coordinator_epoch = _MARKER_VALUE.unpack_from(value)
    if version < 0:
        raise CorruptRecord(f"transaction marker of version {version}")
    return EndTxnMarker(control_type, coordinator_epoch)


def marker_of(
    batch: BytesLike, header: record_batch.BatchHeader
) -> tuple[EndTxnMarker, int] | None:
    """(marker, timestamp) of a transaction's control batch; None if compaction has removed it.

    Raises CorruptBatch and CorruptRecord.
    """
    if (
        len(batch) == record_batch.RECORDS_AT + _MARKER_RECORD.size
        and header.record_count == 1
        and header.last_offset_delta >= 0
        and not header.attributes & record_batch.CODEC_MASK
    ):
        before, key_version, control_type, length, value_version, epoch, headers = (
            _MARKER_RECORD.unpack_from(batch, record_batch.RECORDS_AT)
        )
        if (
            (before, length, headers) == (_BEFORE_MARKER_KEY, _MARKER_VALUE_LENGTH, 0)
            and key_version >= 0
            and control_type in (ABORT, COMMIT)
            and value_version >= 0
        ):
            is_append_time = header.attributes & record_batch.LOG_APPEND_TIME_BIT
            timestamp = header.max_timestamp if is_append_time else header.base_timestamp
            return EndTxnMarker(control_type, epoch), timestamp
    for record in record_batch.iter_records(batch, header):
        return decode_marker(record.key, record.value), record.timestamp
    return None


def encode_message(message: RaftControlMessage) -> tuple[bytes, bytes]:
    """(key, value) of a control record of the quorum."""
    out: Parts = []
    message.encode(out, _MESSAGE_VERSION)
    return encode_key(_TYPES[type(message).__name__]), join_parts(out)


def decode_message(record: Record) -> RaftControlMessage | None:
    """The quorum's message of a control record; None for the types of a later Kafka. CorruptRecord
    for malformed ones and for transaction markers.
    """
    control_type = decode_type(record.key)
    if control_type == UNKNOWN:
        return None
    try:
        message, _ = _message_class(control_type).decode(record.value or b"", 0, _MESSAGE_VERSION)
    except ProtocolError as fault:
        raise CorruptRecord(f"control record of type {control_type}: {fault}") from None
    return message


def _message_class(control_type: int) -> type[RaftControlMessage]:
    name = _NAMES.get(control_type)
    if name is None:
        raise CorruptRecord(f"control record of type {control_type} is none of the quorum's")
    return cast("type[RaftControlMessage]", message_class(name))


def build_marker_batch(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = record_batch.NO_LEADER_EPOCH,
) -> bytearray:
    """The batch that ends a transaction of this producer."""
    record = _MARKER_RECORD.pack(
        _BEFORE_MARKER_KEY,
        0,
        marker.control_type,
        _MARKER_VALUE_LENGTH,
        0,
        marker.coordinator_epoch,
        0,
    )
    attributes = record_batch.TRANSACTIONAL_BIT | record_batch.CONTROL_BIT
    no_sequence = record_batch.NO_SEQUENCE
    fields = (
        attributes,
        0,
        timestamp_ms,
        timestamp_ms,
        producer_id,
        producer_epoch,
        no_sequence,
        1,
    )
    return record_batch.enclose(record, fields, base_offset, leader_epoch)


def build_control_batch(
    messages: Iterable[RaftControlMessage],
    *,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = record_batch.NO_LEADER_EPOCH,
) -> bytearray:
    """One control batch with these messages of the quorum."""
    records: list[NewRecord] = [
        (*encode_message(message), timestamp_ms, ()) for message in messages
    ]
    return record_batch.build_batch(
        records, base_offset=base_offset, leader_epoch=leader_epoch, is_control=True
    )

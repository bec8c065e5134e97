"""pykbroker.protocol.control_records against Apache's bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.protocol import control_records as cr
from pykbroker.protocol.control_records import EndTxnMarker, decode_marker, decode_message
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.leader_change_message import LeaderChangeMessage, Voter
from pykbroker.protocol.messages.snapshot_footer_record import SnapshotFooterRecord
from pykbroker.protocol.messages.snapshot_header_record import SnapshotHeaderRecord
from pykbroker.protocol.messages.voters_record import VotersRecord
from pykbroker.protocol.record import CorruptBatch, CorruptRecord, Record
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    RECORDS_AT,
    BatchHeader,
    iter_records,
    read_header,
    unpack_header,
)

APACHE = Path(__file__).parent.parent / "fixtures" / "apache"


@pytest.mark.parametrize(
    "name, marker, offset, timestamp, epoch",
    [
        ("commit", EndTxnMarker(cr.COMMIT, 11), 77, 1700000000123, 3),
        ("abort", EndTxnMarker(cr.ABORT, 12), 78, 1700000000124, 4),
    ],
)
def test_markers_are_byte_for_byte_apaches(
    name: str, marker: EndTxnMarker, offset: int, timestamp: int, epoch: int
) -> None:
    apache = (APACHE / f"marker-{name}.bin").read_bytes()
    assert apache == cr.build_marker_batch(
        marker,
        producer_id=4242,
        producer_epoch=epoch,
        timestamp_ms=timestamp,
        base_offset=offset,
        leader_epoch=5,
    )
    header = read_header(apache)
    assert header.is_control
    assert header.is_transactional
    (record,) = iter_records(apache)
    assert decode_marker(record.key, record.value) == marker
    assert marker.is_commit == (name == "commit")


MESSAGES: list[cr.RaftControlMessage] = [
    LeaderChangeMessage(
        leader_id=1, voters=[Voter(voter_id=1)], granting_voters=[Voter(voter_id=1)]
    ),
    SnapshotHeaderRecord(last_contained_log_timestamp=1700000000000),
    SnapshotFooterRecord(),
    KRaftVersionRecord(kraft_version=1),
    VotersRecord(voters=[]),
]


def test_messages_of_the_quorum_in_one_batch() -> None:
    batch = cr.build_control_batch(MESSAGES, timestamp_ms=99, base_offset=4, leader_epoch=2)
    header = read_header(batch)
    assert (header.is_control, header.is_transactional) == (True, False)
    assert (header.base_offset, header.partition_leader_epoch) == (4, 2)
    records = list(iter_records(batch))
    assert [cr.decode_type(record.key) for record in records] == [2, 3, 4, 5, 6]
    assert [decode_message(record) for record in records] == MESSAGES


def test_types_of_a_later_kafka_are_skipped() -> None:
    assert cr.decode_type(b"\x00\x00\x00\x09") == cr.UNKNOWN
    assert decode_message(Record(0, 0, b"\x00\x00\x00\x09", b"")) is None


@pytest.mark.parametrize(
    "key, value",
    [
        (None, b"\x00\x00\x00\x00\x00\x01"),
        (b"\x00\x00\x00", b"\x00\x00\x00\x00\x00\x01"),
        (b"\xff\xff\x00\x00", b"\x00\x00\x00\x00\x00\x01"),
        (b"\x00\x00\x00\x02", b"\x00\x00\x00\x00\x00\x01"),
        (b"\x00\x00\x00\x01", b"\x00\x00\x00"),
        (b"\x00\x00\x00\x01", None),
        (b"\x00\x00\x00\x01", b"\xff\xff\x00\x00\x00\x01"),
    ],
)
def test_malformed_markers(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(CorruptRecord):
        decode_marker(key, value)


def generally(batch: bytes, header: BatchHeader) -> Any:
    """The marker of a batch by the general way of reading records."""
    for record in iter_records(batch, header):
        return decode_marker(record.key, record.value), record.timestamp
    return None


def outcome_of(read: Callable[[bytes, BatchHeader], Any], batch: bytes) -> Any:
    try:
        return read(batch, unpack_header(batch))
    except (CorruptBatch, CorruptRecord) as fault:
        return type(fault)


@pytest.mark.parametrize("position", range(ATTRIBUTES_AT, RECORDS_AT + 17))
def test_a_marker_is_read_as_any_record(position: int) -> None:
    marker = EndTxnMarker(cr.ABORT, 12)
    batch = cr.build_marker_batch(marker, producer_id=7, producer_epoch=3, timestamp_ms=1000)
    assert cr.marker_of(batch, read_header(batch)) == (marker, 1000)
    assert len(batch) == RECORDS_AT + 17
    for value in (0, 1, 2, 8, 12, 32, 0x30, 0x7F, 0x80, 0xFF):
        changed = bytearray(batch)
        changed[position] = value
        for spoiled in (bytes(changed), bytes(changed[:-1]), bytes(changed) + b"\0"):
            assert outcome_of(cr.marker_of, spoiled) == outcome_of(generally, spoiled), value


def test_malformed_messages() -> None:
    with pytest.raises(CorruptRecord):
        decode_message(Record(0, 0, cr.encode_key(cr.KRAFT_VOTERS), b"\x00"))
    with pytest.raises(CorruptRecord, match="none of the quorum's"):
        decode_message(Record(0, 0, cr.encode_key(cr.COMMIT), b""))

"""Coordinator records as bytes."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.records import (
    group_tombstone,
    new_group_record,
    offset_commit_record,
    offset_tombstone,
)
from pykbroker.coordinator.record_codecs import (
    GROUP_RECORD_TYPES,
    TRANSACTION_RECORD_TYPES,
    RecordCodec,
)
from pykbroker.decision import CoordinatorRecord
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from pykbroker.protocol.primitives import DecodeError, EncodeError

CODEC = RecordCodec(GROUP_RECORD_TYPES)
PLAIN = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7, topic_id=b"\1" * 16)
EXPIRING = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7, expire_timestamp=8)

RECORDS = [
    new_group_record("g", 7),
    group_tombstone("g"),
    offset_commit_record("g", "t", 3, PLAIN),
    offset_commit_record("g", "t", 3, EXPIRING),
    offset_tombstone("g", "t", 3),
]


@pytest.mark.parametrize("record", RECORDS)
def test_there_and_back(record: CoordinatorRecord) -> None:
    key, value = CODEC.encode(record)
    assert CODEC.decode(key, value) == record
    assert CODEC.decode(memoryview(key), None if value is None else memoryview(value)) == record


def test_the_bytes() -> None:
    key, value = CODEC.encode(offset_commit_record("g", "t", 3, EXPIRING))
    assert key == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert value == (b"\0\1\0\0\0\0\0\0\0\5\0\1m\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\10")
    _, value = CODEC.encode(offset_commit_record("g", "t", 3, PLAIN))
    assert value is not None
    assert value[:2] == b"\0\4"


def test_record_types_of_a_newer_release_are_skipped_but_not_versions() -> None:
    assert CODEC.decode(b"\0\x7fanything", b"\0\0") is None
    key, _ = CODEC.encode(group_tombstone("g"))
    with pytest.raises(DecodeError, match="type 2 has a value of version 99"):
        CODEC.decode(key, b"\0\x63anything")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", None),
        (b"\0", None),
        (b"\0\2\0\5g", None),
        (b"\0\2\0\1g", b"\0"),
        (b"\0\2\0\1g", b"\0\3"),
    ],
)
def test_broken_bytes(key: bytes, value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        CODEC.decode(key, value)


TRANSACTIONS = RecordCodec(TRANSACTION_RECORD_TYPES)
OPEN = TransactionLogValue(
    producer_id=7,
    previous_producer_id=6,
    producer_epoch=2,
    next_producer_epoch=3,
    transaction_timeout_ms=60_000,
    transaction_status=1,
    transaction_partitions=[PartitionsSchema(topic="t", partition_ids=[0, 2])],
    transaction_last_update_timestamp_ms=9,
    transaction_start_timestamp_ms=8,
    client_transaction_version=2,
)
UNUSED = TransactionLogValue(producer_id=7, transaction_partitions=None)


@pytest.mark.parametrize("record", [(OPEN, 1), (UNUSED, 0), (UNUSED, 1), (None, 0)])
def test_transactions_there_and_back(record: tuple[TransactionLogValue | None, int]) -> None:
    written = CoordinatorRecord(TransactionLogKey(transactional_id="id"), *record)
    key, value = TRANSACTIONS.encode(written)
    assert key == b"\0\0\0\2id"
    assert TRANSACTIONS.decode(key, value) == written


def test_version_0_of_a_transaction_has_no_tagged_fields() -> None:
    key = TransactionLogKey(transactional_id="id")
    with pytest.raises(EncodeError, match="previous_producer_id at version 0"):
        TRANSACTIONS.encode(CoordinatorRecord(key, OPEN, 0))

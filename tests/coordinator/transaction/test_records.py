"""Transactions as records: the bytes are those of Kafka 4.4."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.record_codecs import TRANSACTION_RECORD_TYPES, RecordCodec
from pykbroker.coordinator.transaction.records import (
    tombstone,
    transaction_of,
    transaction_record,
)
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.protocol.messages.transaction_log_value import TransactionLogValue
from pykbroker.protocol.record import CorruptBatch
from pykbroker.types import TopicPartition

CODEC = RecordCodec(TRANSACTION_RECORD_TYPES)
OPEN = Transaction(
    producer_id=7,
    epoch=3,
    timeout_ms=60_000,
    state=TransactionState.ONGOING,
    partitions={TopicPartition("a", 1): None, TopicPartition("a", 0): None},
    started_ms=5,
    updated_ms=6,
    previous_producer_id=7,
    client_version=2,
)


@pytest.mark.parametrize("version", [0, 1])
def test_a_transaction_comes_back(version: int) -> None:
    record = transaction_record("id", OPEN, version)
    decoded = CODEC.decode(*CODEC.encode(record))
    assert decoded is not None
    assert decoded.key.transactional_id == "id"
    found = transaction_of(decoded.value)  # type: ignore[arg-type]
    if version:
        assert found == OPEN
        assert list(found.partitions) == list(OPEN.partitions)
    else:
        assert (found.previous_producer_id, found.client_version) == (-1, 0)
        assert (found.producer_id, found.partitions) == (7, OPEN.partitions)


def test_the_bytes() -> None:
    key, value = CODEC.encode(transaction_record("id", OPEN, 0))
    assert key == bytes.fromhex("00000002") + b"id"
    assert value == bytes.fromhex(
        "0000 0000000000000007 0003 0000ea60 01 00000001 0001 61"
        " 00000002 00000001 00000000 0000000000000006 0000000000000005"
    )


def test_an_empty_one_has_no_partitions_at_all() -> None:
    begun = Transaction(producer_id=7, epoch=0, timeout_ms=1, updated_ms=6)
    record = transaction_record("id", begun, 1)
    assert record.value is not None
    assert record.value.transaction_partitions is None
    assert transaction_of(record.value).partitions == {}


def test_a_tombstone() -> None:
    key, value = CODEC.encode(tombstone("id"))
    assert value is None
    assert CODEC.decode(key, value) is not None


def test_a_status_that_nobody_writes() -> None:
    with pytest.raises(CorruptBatch, match="unknown transaction status 9"):
        transaction_of(TransactionLogValue(transaction_status=9))

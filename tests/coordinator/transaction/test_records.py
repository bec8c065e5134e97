"""Transactions as records: the bytes are those of Kafka 4.4, and those of the general codec."""

from __future__ import annotations

import random

import pytest

from pykbroker.coordinator.record_codecs import TRANSACTION_RECORD_TYPES, RecordCodec
from pykbroker.coordinator.transaction import records
from pykbroker.coordinator.transaction.records import (
    TransactionRecordCodec,
    tombstone,
    transaction_record,
)
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.decision import CoordinatorRecord
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from pykbroker.protocol.primitives import EncodeError
from pykbroker.protocol.record import CorruptBatch
from pykbroker.types import TopicPartition

GENERAL = RecordCodec(TRANSACTION_RECORD_TYPES)
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


def in_messages(name: str, transaction: Transaction, version: int) -> CoordinatorRecord:
    """The record as `TransactionLog.java` fills its messages."""
    topics: dict[str, list[int]] = {}
    for topic, index in transaction.partitions:
        topics.setdefault(topic, []).append(index)
    is_empty = transaction.state is TransactionState.EMPTY
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=int(transaction.state),
        transaction_partitions=None
        if is_empty
        else [PartitionsSchema(topic=topic, partition_ids=ids) for topic, ids in topics.items()],
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
    )
    if version:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return CoordinatorRecord(TransactionLogKey(transactional_id=name), value, version)


def random_transaction(chance: random.Random) -> Transaction:
    """Mostly of a few partitions, and with the tags of a current client."""
    state = chance.choice(list(TransactionState))
    topics = ("a", "t" * 249, "ü" * 80)
    count = chance.choice((0, 1, 1, 2, 3, 16, 17, 300))
    partitions = {
        TopicPartition(chance.choice(topics), chance.choice((index, 1 << 30))): None
        for index in range(0 if state is TransactionState.EMPTY else count)
    }
    return Transaction(
        producer_id=chance.choice((0, 7, 1 << 62)),
        epoch=chance.choice((0, 3, 32767)),
        timeout_ms=chance.choice((1, 60_000, (1 << 31) - 1)),
        state=state,
        partitions=partitions,
        started_ms=chance.choice((-1, 0, 1_700_000_000_000)),
        updated_ms=chance.choice((0, 1_700_000_000_000)),
        previous_producer_id=chance.choice((-1, 0, 7, 7, 1 << 62)),
        next_producer_id=chance.choice((-1,) * 6 + (9,)),
        client_version=chance.choice((0, 1, 2, 2)),
    )


def test_the_bytes_are_those_of_the_general_codec() -> None:
    chance = random.Random(1)
    codec = TransactionRecordCodec()
    for _ in range(3000):
        transaction = random_transaction(chance)
        name = chance.choice(("", "id", "i" * 249, "i" * 250, "ü" * 40))
        version = chance.choice((0, 1, 1, 1))
        delta = chance.choice((0, 0, 1, 5000))
        record = transaction_record(name, transaction, version)
        expected = in_messages(name, transaction, version)
        assert codec.encode(record) == GENERAL.encode(expected)
        assert codec.encode_record(record, delta) == GENERAL.encode_record(expected, delta)
        decoded = codec.decode(*codec.encode(record))
        if version:
            assert decoded == record
            assert decoded is not None
            assert isinstance(decoded.value, Transaction)
            assert list(decoded.value.partitions) == in_order_of_topics(transaction)
    assert len(codec._known) > 10


def in_order_of_topics(transaction: Transaction) -> list[TopicPartition]:
    """The partitions as a record has them."""
    topics = list(dict.fromkeys(topic for topic, _ in transaction.partitions))
    return sorted(transaction.partitions, key=lambda partition: topics.index(partition.topic))


def test_a_bounded_number_of_partitions_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_KNOWN", 5)
    codec = TransactionRecordCodec()
    for index in range(12):
        transaction = OPEN._replace(partitions={TopicPartition("a", index): None})
        codec.encode(transaction_record("id", transaction, 1))
        assert 0 < len(codec._known) <= 5


def test_what_cannot_be_encoded_is_refused_each_time() -> None:
    codec = TransactionRecordCodec()
    for name in ("i" * 40_000, "\ud800"):
        for _ in range(2):
            with pytest.raises(EncodeError):
                codec.encode_record(transaction_record(name, OPEN, 1), 0)


@pytest.mark.parametrize("version", [0, 1])
def test_a_transaction_comes_back(version: int) -> None:
    codec = TransactionRecordCodec()
    decoded = codec.decode(*codec.encode(transaction_record("id", OPEN, version)))
    assert decoded is not None
    assert decoded.key == "id"
    found = decoded.value
    assert isinstance(found, Transaction)
    if version:
        assert found == OPEN
        assert list(found.partitions) == list(OPEN.partitions)
    else:
        assert (found.previous_producer_id, found.client_version) == (-1, 0)
        assert (found.producer_id, found.partitions) == (7, OPEN.partitions)


def test_the_bytes() -> None:
    key, value = TransactionRecordCodec().encode(transaction_record("id", OPEN, 0))
    assert key == bytes.fromhex("00000002") + b"id"
    assert value == bytes.fromhex(
        "0000 0000000000000007 0003 0000ea60 01 00000001 0001 61"
        " 00000002 00000001 00000000 0000000000000006 0000000000000005"
    )


def test_the_bytes_with_tagged_fields() -> None:
    key, value = TransactionRecordCodec().encode(transaction_record("id", OPEN, 1))
    assert key == bytes.fromhex("00000002") + b"id"
    assert value == bytes.fromhex(
        "0001 0000000000000007 0003 0000ea60 01 02 02 61 03 00000001 00000000 00"
        " 0000000000000006 0000000000000005 02 0008 0000000000000007 0202 0002"
    )


def test_an_empty_one_has_no_partitions_at_all() -> None:
    codec = TransactionRecordCodec()
    begun = Transaction(producer_id=7, epoch=0, timeout_ms=1, updated_ms=6)
    encoded = codec.encode(transaction_record("id", begun, 1))
    general = GENERAL.decode(*encoded)
    assert general is not None
    assert general.value is not None
    assert general.value.transaction_partitions is None
    decoded = codec.decode(*encoded)
    assert decoded == transaction_record("id", begun, 1)


def test_a_tombstone() -> None:
    codec = TransactionRecordCodec()
    key, value = codec.encode(tombstone("id"))
    assert value is None
    assert codec.decode(key, value) == tombstone("id")


def test_a_status_that_nobody_writes() -> None:
    value = TransactionLogValue(transaction_status=9)
    record = CoordinatorRecord(TransactionLogKey(transactional_id="id"), value, 1)
    with pytest.raises(CorruptBatch, match="unknown transaction status 9"):
        TransactionRecordCodec().decode(*GENERAL.encode(record))


def test_a_record_of_a_later_release_is_skipped() -> None:
    assert TransactionRecordCodec().decode(b"\0\x05", b"\0\0") is None

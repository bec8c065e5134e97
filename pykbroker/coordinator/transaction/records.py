"""A transaction as a record of `__transaction_state`, and back.

    key    0: int16 | transactional id
    value  version 0 or 1: int16 | producer id, epoch, time-out, state | partitions by topic |
           time of the change, time of the begin | version 1: tagged fields

The machine's records hold a Transaction; `TransactionRecordCodec` translates. Version 1 of the
value (from transaction.version 1 on) has tagged fields, such as the previous and the next producer
id and the client's transaction.version. `last_epoch` is in no record: a producer that repeats
InitProducerId over a fail-over is fenced, as in Kafka.

Nearly all records differ only in numbers from an earlier one of the same partitions. Their bytes
are put together here, around the bytes of the partitions as the general codec encoded them; every
other record is left to the general codec.
Source: Kafka's `TransactionLog.java`.
"""

from __future__ import annotations

from struct import Struct

from pykbroker.coordinator.record_codecs import TRANSACTION_RECORD_TYPES, RecordCodec
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import NO_PRODUCER_ID, Partitions, Transaction
from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import NO_SEQUENCE
from pykbroker.types import TopicPartition

TAGGED = 1
"""The version of the value that has the tagged fields."""
MOST_KNOWN = 512
FEW_PARTITIONS = 16
LONGEST_ID = 249

_STATES = {int(state): state for state in TransactionState}

_pack_key_start = Struct(">hh").pack  # type, length of the id
_HEAD = Struct(">hqhib")  # version, producer id, epoch, time-out, state
# The two times; how many tagged fields; of each its tag, size and content: 0, the previous producer
# id, and 2, the client's version, which clients before transaction.version 2 do not have.
_pack_tail = Struct(">qqBBBqBBh").pack
_pack_old_tail = Struct(">qqBBBq").pack


def transaction_record(
    transactional_id: str, transaction: Transaction, version: int
) -> CoordinatorRecord:
    """Return the record of `transaction`; `version` of the value is 0 or 1."""
    return CoordinatorRecord(transactional_id, transaction, version)


def tombstone(transactional_id: str) -> CoordinatorRecord:
    """Return the tombstone that deletes an id."""
    return CoordinatorRecord(transactional_id, None)


class TransactionRecordCodec(RecordCodec):
    """Codec of `__transaction_state`: keys are transactional ids, values are Transactions.

    State: up to MOST_KNOWN encoded lists of few partitions.
    """

    BASE_SEQUENCE = NO_SEQUENCE

    def __init__(self) -> None:
        super().__init__(TRANSACTION_RECORD_TYPES)
        self._known: dict[tuple[TopicPartition, ...], bytes] = {}

    def encode(
        self, record: CoordinatorRecord, breathe: Breathe = go_on
    ) -> tuple[bytes, bytes | None]:
        """See `RecordCodec`."""
        transactional_id: str = record.key
        transaction: Transaction | None = record.value
        if (
            transaction is None
            or record.value_version != TAGGED
            or transaction.state is TransactionState.EMPTY
            or transaction.previous_producer_id == NO_PRODUCER_ID
            or transaction.next_producer_id != NO_PRODUCER_ID
            or len(transaction.partitions) > FEW_PARTITIONS
            or len(transactional_id) > LONGEST_ID
            or not transactional_id.isascii()
        ):
            return super().encode(_messages(record, breathe))
        times = transaction.updated_ms, transaction.started_ms
        previous, client_version = transaction.previous_producer_id, transaction.client_version
        if client_version:
            tail = _pack_tail(*times, 2, 0, 8, previous, 2, 2, client_version)
        else:
            tail = _pack_old_tail(*times, 1, 0, 8, previous)
        partitions = tuple(transaction.partitions)
        encoded = self._known.get(partitions)
        if encoded is None:
            encoded = self._learn(partitions, record, len(tail))
        head = _HEAD.pack(
            TAGGED,
            transaction.producer_id,
            transaction.epoch,
            transaction.timeout_ms,
            transaction.state,
        )
        name = transactional_id.encode()
        return _pack_key_start(0, len(name)) + name, head + encoded + tail

    def _learn(
        self, partitions: tuple[TopicPartition, ...], record: CoordinatorRecord, tail_bytes: int
    ) -> bytes:
        """Return the partitions as the general codec encodes them, and remember them."""
        _, value = super().encode(_messages(record, go_on))
        assert value is not None
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        encoded = self._known[partitions] = value[_HEAD.size : -tail_bytes]
        return encoded

    def decode(
        self, key: bytes | memoryview, value: bytes | memoryview | None
    ) -> CoordinatorRecord | None:
        """See `RecordCodec`. Raises CorruptBatch for a status that no release writes."""
        record = super().decode(key, value)
        if record is None:
            return None
        transaction = None if record.value is None else _transaction_of(record.value)
        return CoordinatorRecord(record.key.transactional_id, transaction, record.value_version)


def _messages(record: CoordinatorRecord, breathe: Breathe) -> CoordinatorRecord:
    """Return the record with the generated messages of the key and the value."""
    key = TransactionLogKey(transactional_id=record.key)
    transaction: Transaction | None = record.value
    if transaction is None:
        return CoordinatorRecord(key, None)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=int(transaction.state),
        transaction_partitions=_by_topic(transaction, breathe),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
    )
    if record.value_version >= TAGGED:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return CoordinatorRecord(key, value, record.value_version)


def _by_topic(transaction: Transaction, breathe: Breathe) -> list[PartitionsSchema] | None:
    """Return the partitions by topic; None while the state is EMPTY, as in Kafka."""
    if transaction.state is TransactionState.EMPTY:
        return None
    topics: dict[str, list[int]] = {}
    for topic, index in paced(transaction.partitions, breathe):
        topics.setdefault(topic, []).append(index)
    return [PartitionsSchema(topic=name, partition_ids=ids) for name, ids in topics.items()]


def _transaction_of(value: TransactionLogValue) -> Transaction:
    state = _STATES.get(value.transaction_status)
    if state is None:
        raise CorruptBatch(f"unknown transaction status {value.transaction_status}")
    partitions: Partitions = {}
    if state is not TransactionState.EMPTY:
        partitions = {
            TopicPartition(topic.topic, index): None
            for topic in value.transaction_partitions or ()
            for index in topic.partition_ids
        }
    return Transaction(
        producer_id=value.producer_id,
        epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        state=state,
        partitions=partitions,
        started_ms=value.transaction_start_timestamp_ms,
        updated_ms=value.transaction_last_update_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        client_version=value.client_transaction_version,
    )

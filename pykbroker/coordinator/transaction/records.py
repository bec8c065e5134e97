"""A transaction as a record of `__transaction_state`, and back.

Version 1 of the value (from transaction.version 1 on) has the tagged fields: the previous and the
next producer id, and the client's transaction.version. `last_epoch` is in no record: a producer
that repeats InitProducerId over a fail-over is fenced, as in Kafka.
Source: Kafka's `TransactionLog.java`.
"""

from __future__ import annotations

from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import NO_EPOCH, Partitions, Transaction
from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from pykbroker.protocol.record import CorruptBatch
from pykbroker.types import TopicPartition

_STATES = {int(state): state for state in TransactionState}


def transaction_record(
    transactional_id: str, transaction: Transaction, version: int, breathe: Breathe = go_on
) -> CoordinatorRecord:
    """Return the record of `transaction`; `version` of the value is 0 or 1."""
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=int(transaction.state),
        transaction_partitions=_by_topic(transaction, breathe),
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
    )
    if version >= 1:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), value, version)


def tombstone(transactional_id: str) -> CoordinatorRecord:
    """Return the tombstone that deletes an id."""
    return CoordinatorRecord(TransactionLogKey(transactional_id=transactional_id), None)


def transaction_of(
    value: TransactionLogValue, decided: Transaction | None = None, breathe: Breathe = go_on
) -> Transaction:
    """Decode a record's value. Raises CorruptBatch for a status that no release writes.

    decided: the transaction whose record it is, for what the record does not hold.
    """
    state = _STATES.get(value.transaction_status)
    if state is None:
        raise CorruptBatch(f"unknown transaction status {value.transaction_status}")
    partitions: Partitions = {}
    if state is not TransactionState.EMPTY:
        partitions = {
            TopicPartition(topic.topic, index): None
            for topic in value.transaction_partitions or ()
            for index in paced(topic.partition_ids, breathe)
        }
    return Transaction(
        producer_id=value.producer_id,
        epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        state=state,
        partitions=partitions,
        started_ms=value.transaction_start_timestamp_ms,
        updated_ms=value.transaction_last_update_timestamp_ms,
        last_epoch=NO_EPOCH if decided is None else decided.last_epoch,
        previous_producer_id=(value if decided is None else decided).previous_producer_id,
        next_producer_id=value.next_producer_id,
        client_version=value.client_transaction_version,
    )


def _by_topic(transaction: Transaction, breathe: Breathe) -> list[PartitionsSchema] | None:
    """Return the partitions by topic; None while the state is EMPTY, as in Kafka."""
    if transaction.state is TransactionState.EMPTY:
        return None
    topics: dict[str, list[int]] = {}
    for topic, index in paced(transaction.partitions, breathe):
        topics.setdefault(topic, []).append(index)
    return [PartitionsSchema(topic=name, partition_ids=ids) for name, ids in topics.items()]

"""AddPartitionsToTxn: one transaction of a client, several of a broker."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.add_partitions_to_txn import HANDLER
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykbroker.types import TopicPartition
from tests.broker.handlers.transaction_broker import TransactionBroker

UNKNOWN = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
NOT_ATTEMPTED = int(ErrorCode.OPERATION_NOT_ATTEMPTED)


@pytest.fixture
def broker() -> TransactionBroker:
    broker = TransactionBroker()
    broker.init()
    return broker


@pytest.mark.parametrize("version", range(4))
def test_a_client(broker: TransactionBroker, version: int) -> None:
    assert broker.add(0, 0, 1, version=version) == [0, 0]
    assert broker.add(0, 1, version=version) == [0]
    fenced = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert broker.add(5, 0, version=version) == [fenced]
    wrong_id = broker.add(0, 0, version=version, v3_and_below_producer_id=1)
    assert wrong_id == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    no_id = broker.add(0, 0, version=version, v3_and_below_transactional_id="")
    assert no_id == [ErrorCode.INVALID_REQUEST]


def test_partitions_that_are_not_there(broker: TransactionBroker) -> None:
    topics = [
        AddPartitionsToTxnTopic(name="t", partitions=[0, 9]),
        AddPartitionsToTxnTopic(name="x", partitions=[0]),
    ]
    codes = broker.add(0, v3_and_below_topics=topics)
    assert codes == [NOT_ATTEMPTED, UNKNOWN, UNKNOWN]
    found: Any = broker.transactions.one_transaction("id")
    assert found.state.shown == "Empty"


@pytest.mark.parametrize("version", range(4))
def test_internal_topics_are_not_for_clients(broker: TransactionBroker, version: int) -> None:
    topics = [
        AddPartitionsToTxnTopic(name="__consumer_offsets", partitions=[0]),
        AddPartitionsToTxnTopic(name="t", partitions=[0]),
    ]
    codes = broker.add(0, version=version, v3_and_below_topics=topics)
    assert codes == [ErrorCode.TOPIC_AUTHORIZATION_FAILED, NOT_ATTEMPTED]
    found: Any = broker.transactions.one_transaction("id")
    assert found.state.shown == "Empty"


def test_a_topic_without_partitions_is_answered(broker: TransactionBroker) -> None:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="id",
        v3_and_below_producer_id=100,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[])],
    )
    (topic,) = broker.ask(HANDLER, request, 3).results_by_topic_v3_and_below
    assert (topic.name, topic.results_by_partition) == ("t", [])


def of_brokers(broker: TransactionBroker, *asked: AddPartitionsToTxnTransaction) -> Any:
    request = AddPartitionsToTxnRequest(transactions=list(asked))
    answer = broker.ask(HANDLER, request, 5)
    assert answer.error_code == 0
    return {
        result.transactional_id: [
            partition.partition_error_code
            for topic in result.topic_results
            for partition in topic.results_by_partition
        ]
        for result in answer.results_by_transaction
    }


def transaction(name: str, *indexes: int, verify: bool = False) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=name,
        producer_id=100,
        producer_epoch=0,
        verify_only=verify,
        topics=[AddPartitionsToTxnTopic(name="t", partitions=list(indexes))],
    )


def test_a_broker_verifies_and_adds(broker: TransactionBroker) -> None:
    abortable = int(ErrorCode.TRANSACTION_ABORTABLE)
    assert of_brokers(broker, transaction("id", 0, verify=True)) == {"id": [abortable]}
    assert of_brokers(broker, transaction("id", 0), transaction("other", 1)) == {
        "id": [0],
        "other": [ErrorCode.INVALID_PRODUCER_ID_MAPPING],
    }
    assert of_brokers(broker, transaction("id", 0, 1, verify=True)) == {"id": [0, abortable]}
    assert of_brokers(broker, transaction("id", 0, 9)) == {"id": [NOT_ATTEMPTED, UNKNOWN]}
    found: Any = broker.transactions.one_transaction("id")
    assert found.client_version == 2


@pytest.mark.parametrize("transactional_id", ["id", "", "other"])
def test_a_verification_is_answered_by_partition(
    broker: TransactionBroker, transactional_id: str
) -> None:
    asked = transaction(transactional_id, 0, 0, verify=True)
    asked.topics.append(AddPartitionsToTxnTopic(name="u", partitions=[]))
    answer = broker.ask(HANDLER, AddPartitionsToTxnRequest(transactions=[asked]), 5)
    (topic,) = answer.results_by_transaction[0].topic_results
    assert (topic.name, [p.partition_index for p in topic.results_by_partition]) == ("t", [0])


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("producer_id", [100, 101])
@pytest.mark.parametrize("transactional_id", ["id", "", "other"])
@pytest.mark.parametrize("indexes", [(0, 1), (0, 9)])
def test_partitions_of_this_node_join_without_a_message(
    broker: TransactionBroker,
    indexes: tuple[int, ...],
    transactional_id: str,
    producer_id: int,
    verify: bool,
) -> None:
    broker.add(0, 1)
    asked = transaction(transactional_id, *indexes, verify=verify)
    asked.producer_id = producer_id
    by_message = dict(zip(indexes, of_brokers(broker, asked)[transactional_id], strict=True))
    other = TransactionBroker()
    other.init()
    other.add(0, 1)
    partitions = {TopicPartition("t", index): None for index in indexes}
    found: Any = other.transactions.join(
        transactional_id, producer_id, 0, partitions, verify_only=verify
    )
    if isinstance(found, Deferred):
        other.node.end_turn()
        found = found.value
    assert {each.partition: code for code, those in found.items() for each in those} == by_message
    states = [each.transactions.one_transaction("id") for each in (broker, other)]
    assert states[0].partitions == states[1].partitions


@pytest.mark.parametrize("version", [3, 4])
def test_a_whole_request_that_failed(broker: TransactionBroker, version: int) -> None:
    if version < 4:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="id",
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
        )
    else:
        request = AddPartitionsToTxnRequest(transactions=[transaction("id", 0)])
    call = broker.call(HANDLER, request, version)
    reply: Any = HANDLER.error_reply(call.request, 15, None)
    if version < 4:
        (topic,) = reply.results_by_topic_v3_and_below
        assert topic.results_by_partition[0].partition_error_code == 15
    else:
        assert reply.error_code == 15

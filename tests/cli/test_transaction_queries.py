"""Which brokers are asked of transactions, how, and what their answers become."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.cli.admin import ServerError
from pykbroker.cli.command import CommandError
from pykbroker.cli.transaction_queries import (
    Listing,
    Marker,
    abort,
    describe_producers,
    describe_transaction,
    fence,
    list_transactions,
    partitions_of,
)
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages import (
    describe_producers_response,
    describe_transactions_response,
    list_transactions_response,
    write_txn_markers_response,
)
from pykbroker.protocol.messages.init_producer_id_response import InitProducerIdResponse
from tests.cli.scripted_cluster import ScriptedCluster

LEADERS = {("t", 0): 1, ("t", 1): 2, ("t", 2): -1}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ScriptedCluster:
    return ScriptedCluster(LEADERS).use(monkeypatch)


def listing(node: int, *, code: int = 0) -> list_transactions_response.ListTransactionsResponse:
    """Two ids on each node, in no order."""
    states = [
        list_transactions_response.TransactionState(
            transactional_id=f"{name}{node}", producer_id=node, transaction_state="Empty"
        )
        for name in "ba"
    ]
    return list_transactions_response.ListTransactionsResponse(
        error_code=code, transaction_states=[] if code else states
    )


def producers(request: Any, code: int = 0) -> describe_producers_response.DescribeProducersResponse:
    """Producers 9 and 8 in every partition that is asked for."""
    return describe_producers_response.DescribeProducersResponse(
        topics=[
            describe_producers_response.TopicResponse(
                name=topic.name,
                partitions=[
                    describe_producers_response.PartitionResponse(
                        partition_index=index,
                        error_code=code,
                        active_producers=[
                            describe_producers_response.ProducerState(producer_id=number)
                            for number in (9, 8)
                        ],
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def test_all_brokers_list(cluster: ScriptedCluster) -> None:
    loading = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]  # once
    cluster.answers["ListTransactions"] = lambda node, request: listing(
        node, code=loading.pop() if loading else 0
    )
    found = list_transactions(cluster.client(), duration_ms=7, pattern="x", producer_ids=[3])
    assert found == [
        Listing("a1", 1, 1, "Empty"),
        Listing("b1", 1, 1, "Empty"),
        Listing("a2", 2, 2, "Empty"),
        Listing("b2", 2, 2, "Empty"),
    ]
    asked = cluster.requests("ListTransactions")
    assert [node for node, _ in asked] == [1, 1, 2]
    request = asked[0][1]
    assert (request.duration_filter, request.transactional_id_pattern) == (7, "x")
    assert (request.producer_id_filters, request.state_filters) == ([3], [])
    list_transactions(cluster.client(), pattern="")
    request = cluster.requests("ListTransactions")[-1][1]
    assert (request.duration_filter, request.transactional_id_pattern) == (-1, None)


def test_a_broker_refuses_to_list(cluster: ScriptedCluster) -> None:
    code = ErrorCode.INVALID_REGULAR_EXPRESSION
    cluster.answers["ListTransactions"] = lambda node, request: listing(node, code=code)
    with pytest.raises(ServerError, match=r"regular expression"):
        list_transactions(cluster.client(), pattern="(")


def test_the_coordinator_describes(cluster: ScriptedCluster) -> None:
    codes = {"known": 0, "unknown": ErrorCode.TRANSACTIONAL_ID_NOT_FOUND}

    def answer(node: int, request: Any) -> Any:
        (name,) = request.transactional_ids
        topics = [
            describe_transactions_response.TopicData(topic="b", partitions=[2, 0]),
            describe_transactions_response.TopicData(topic="a", partitions=[1]),
        ]
        state = describe_transactions_response.TransactionState(
            transactional_id=name, error_code=codes[name], topics=topics
        )
        return describe_transactions_response.DescribeTransactionsResponse(
            transaction_states=[state]
        )

    cluster.answers["DescribeTransactions"] = answer
    coordinator, state = describe_transaction(cluster.client(), "known")
    assert coordinator == 2
    assert partitions_of(state) == [("a", 1), ("b", 0), ("b", 2)]
    assert [node for node, _ in cluster.requests("DescribeTransactions")] == [2]
    assert {request.key_type for _, request in cluster.requests("FindCoordinator")} == {1}
    with pytest.raises(ServerError) as caught:
        describe_transaction(cluster.client(), "unknown")
    assert caught.value.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_leaders_describe_producers_or_the_broker_that_is_asked_for(
    cluster: ScriptedCluster,
) -> None:
    cluster.answers["DescribeProducers"] = lambda node, request: producers(request)
    found = describe_producers(cluster.client(), [("t", 0), ("t", 1)])
    assert {key: [each.producer_id for each in value] for key, value in found.items()} == {
        ("t", 0): [8, 9],
        ("t", 1): [8, 9],
    }
    assert [node for node, _ in cluster.requests("DescribeProducers")] == [1, 2]
    describe_producers(cluster.client(), [("t", 0), ("t", 2)], broker=2)
    assert [node for node, _ in cluster.requests("DescribeProducers")] == [1, 2, 2]
    with pytest.raises(CommandError, match="t-2 does not exist or has no leader"):
        describe_producers(cluster.client(), [("t", 2)])
    with pytest.raises(CommandError, match="Broker 7 does not exist"):
        describe_producers(cluster.client(), [("t", 2)], broker=7)


def test_partitions_are_described_by_the_five_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {("t", number): 1 for number in range(1001)}
    cluster = ScriptedCluster(many).use(monkeypatch)
    cluster.answers["DescribeProducers"] = lambda node, request: producers(request)
    assert describe_producers(cluster.client(), many).keys() == many.keys()
    assert [
        len(request.topics[0].partition_indexes)
        for _, request in cluster.requests("DescribeProducers")
    ] == [500, 500, 1]


def test_a_partition_whose_producers_are_not_told(cluster: ScriptedCluster) -> None:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    cluster.answers["DescribeProducers"] = lambda node, request: producers(request, code)
    with pytest.raises(ServerError, match=r"^t-0: .*authoriz"):
        describe_producers(cluster.client(), [("t", 0)])


def test_the_leader_writes_the_marker(cluster: ScriptedCluster) -> None:
    codes = [ErrorCode.INVALID_PRODUCER_EPOCH, 0, ErrorCode.NOT_LEADER_OR_FOLLOWER]

    def answer(node: int, request: Any) -> Any:
        partition = write_txn_markers_response.WritableTxnMarkerPartitionResult(
            partition_index=1, error_code=codes.pop()
        )
        topic = write_txn_markers_response.WritableTxnMarkerTopicResult(
            name="t", partitions=[partition]
        )
        marker = write_txn_markers_response.WritableTxnMarkerResult(producer_id=7, topics=[topic])
        return write_txn_markers_response.WriteTxnMarkersResponse(markers=[marker])

    cluster.answers["WriteTxnMarkers"] = answer
    marker = Marker(("t", 1), 7, 3, 5)
    abort(cluster.client(), marker)
    asked = cluster.requests("WriteTxnMarkers")
    assert [node for node, _ in asked] == [2, 2]
    (sent,) = asked[0][1].markers
    assert (sent.producer_id, sent.producer_epoch, sent.coordinator_epoch) == (7, 3, 5)
    assert sent.transaction_result is False
    assert [(topic.name, topic.partition_indexes) for topic in sent.topics] == [("t", [1])]
    with pytest.raises(ServerError, match="epoch"):
        abort(cluster.client(), marker)
    with pytest.raises(CommandError, match="t-2 does not exist or has no leader"):
        abort(cluster.client(), Marker(("t", 2), 7, 3, 5))
    assert str(marker) == (
        "AbortTransactionSpec(topicPartition=t-1, producerId=7, producerEpoch=3, "
        "coordinatorEpoch=5)"
    )


def test_a_producer_is_fenced_once_its_last_transaction_has_ended(cluster: ScriptedCluster) -> None:
    codes = [0, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_COORDINATOR]
    cluster.answers["InitProducerId"] = lambda node, request: InitProducerIdResponse(
        error_code=codes.pop()
    )
    fence(cluster.client(), "id")
    asked = cluster.requests("InitProducerId")
    assert [node for node, _ in asked] == [2, 2, 2]
    request = asked[0][1]
    assert (request.transactional_id, request.transaction_timeout_ms) == ("id", 30_000)
    assert (request.producer_id, request.producer_epoch) == (-1, -1)

"""Asking coordinators whether partitions have joined a transaction."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.transactions.transaction_joining_driver import TransactionJoining
from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.coordinator.partitioning import partition_for
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from pykbroker.protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from pykbroker.types import Peer, TopicPartition
from tests.harness.records import partition_record
from tests.replication.node import Node, topic_id_of

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
OLD, ABORTABLE, JOINING = TransactionSupport
LOCAL, REMOTE = "x", "y"  # ids that this node and node 2 coordinate


def response(
    request: AddPartitionsToTxnRequest, codes: dict[TopicPartition, int] | None = None
) -> AddPartitionsToTxnResponse:
    """The answer to every transaction of a request: `codes`, 0 for what they do not name."""
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=transaction.transactional_id,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name=topic.name,
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=index,
                                partition_error_code=int(
                                    (codes or {}).get(TopicPartition(topic.name, index), 0)
                                ),
                            )
                            for index in topic.partitions
                        ],
                    )
                    for topic in transaction.topics
                ],
            )
            for transaction in request.transactions
        ]
    )


class World:
    """Node 1 leads partition 0 of __transaction_state, node 2 partition 1."""

    def __init__(self) -> None:
        self.node = Node()
        self.node.register(1)
        self.node.register(2)
        self.node.create_topic(TRANSACTION_STATE_TOPIC, number=98)
        self.node.apply(partition_record(topic_id_of(98), 1, replicas=[2], isr=[2], leader=2))
        assert [partition_for(each, 2) for each in (LOCAL, REMOTE)] == [0, 1]
        self.peers: dict[int, Peer] = {2: Peer(2, "there", 9092)}
        self.sent: list[tuple[AddPartitionsToTxnRequest, Deferred]] = []
        self.local: list[tuple[str, int, int, list[TopicPartition], bool]] = []
        self.codes: dict[TopicPartition, int] = {}
        self.joining = TransactionJoining(
            node_id=1,
            image=lambda: self.node.image,
            peer_of=self.peers.get,
            send=self._send,
            local=lambda: self,
        )

    def _send(self, peer: Peer, request: AddPartitionsToTxnRequest) -> Deferred:
        assert peer.node_id == 2
        answer = Deferred()
        self.sent.append((request, answer))
        return answer

    def join(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: dict[TopicPartition, None],
        *,
        verify_only: bool,
    ) -> dict[int, dict[TopicPartition, None]] | Deferred:
        self.local.append(
            (transactional_id, producer_id, producer_epoch, list(partitions), verify_only)
        )
        found: dict[int, dict[TopicPartition, None]] = {}
        for each in partitions:
            found.setdefault(int(self.codes.get(each, 0)), {})[each] = None
        return found

    def ask(
        self,
        transactional_id: str,
        *partitions: TopicPartition,
        epoch: int = 0,
        support: TransactionSupport = JOINING,
    ) -> Any:
        return self.joining.ask(transactional_id, 9, epoch, partitions or (T0,), support)

    def answer(self, number: int = 0, **codes: Any) -> None:
        request, deferred = self.sent[number]
        deferred.resolve(response(request, codes.get("codes")))


@pytest.fixture
def world() -> World:
    return World()


def test_this_node_is_asked_in_place(world: World) -> None:
    world.codes = {T1: ErrorCode.INVALID_TXN_STATE}
    assert world.ask(LOCAL, T0, T1, U0) == {T1: ErrorCode.INVALID_TXN_STATE}
    assert world.sent == []
    assert world.local == [(LOCAL, 9, 0, [T0, T1, U0], False)]


@pytest.mark.parametrize("support", TransactionSupport)
def test_only_joining_clients_add_partitions(world: World, support: TransactionSupport) -> None:
    world.ask(LOCAL, support=support)
    (*_, verify_only) = world.local[0]
    assert verify_only == (support is not JOINING)


def test_another_broker_is_asked_by_a_request(world: World) -> None:
    outcome = world.ask(REMOTE, T0, T1)
    assert not outcome.done
    world.answer(codes={T0: ErrorCode.CONCURRENT_TRANSACTIONS})
    assert outcome.value == {T0: ErrorCode.CONCURRENT_TRANSACTIONS}


def test_what_comes_while_a_broker_is_asked_goes_together(world: World) -> None:
    ids = [each for each in map(str, range(40)) if partition_for(each, 2) == 1][:3]
    outcomes = [world.ask(each) for each in ids]
    assert len(world.sent) == 1
    world.answer(0)
    assert [outcome.done for outcome in outcomes] == [True, False, False]
    (_, (request, _)) = world.sent
    assert [each.transactional_id for each in request.transactions] == ids[1:]
    world.answer(1)
    assert [outcome.value for outcome in outcomes] == [{}, {}, {}]
    assert len(world.sent) == 2


def busy(world: World) -> None:
    """Broker 2 is being asked for somebody else."""
    other = next(each for each in map(str, range(40)) if partition_for(each, 2) == 1)
    world.ask(other)


@pytest.mark.parametrize(
    "before, after, code",
    [(1, 1, ErrorCode.NETWORK_EXCEPTION), (1, 2, ErrorCode.INVALID_PRODUCER_EPOCH)],
)
def test_the_next_question_of_a_transaction_replaces_the_one_that_waits(
    world: World, before: int, after: int, code: int
) -> None:
    busy(world)
    first = world.ask(REMOTE, T0, T1, epoch=before)
    second = world.ask(REMOTE, T0, epoch=after)
    assert first.value == {T0: code, T1: code}
    world.answer(0)
    world.answer(1)
    assert second.value == {}


def test_a_question_of_an_old_epoch_is_fenced(world: World) -> None:
    busy(world)
    first = world.ask(REMOTE, epoch=2)
    assert world.ask(REMOTE, epoch=1) == {T0: ErrorCode.INVALID_PRODUCER_EPOCH}
    world.answer(0)
    world.answer(1)
    assert first.value == {}


@pytest.mark.parametrize(
    "code, support, told",
    [
        (ErrorCode.PRODUCER_FENCED, JOINING, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.TRANSACTION_ABORTABLE, OLD, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, JOINING, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, OLD, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_codes_that_the_client_knows(
    world: World, code: int, support: TransactionSupport, told: int
) -> None:
    world.codes = {T0: code}
    assert world.ask(LOCAL, support=support) == {T0: told}


@pytest.mark.parametrize(
    "failure, codes",
    [
        (ErrorCode.NETWORK_EXCEPTION, {T0: ErrorCode.NETWORK_EXCEPTION}),
        (ErrorCode.REQUEST_TIMED_OUT, {T0: ErrorCode.NETWORK_EXCEPTION}),
        (ErrorCode.UNSUPPORTED_VERSION, {}),  # an older broker: what is written is not verified
    ],
)
def test_a_broker_that_does_not_answer(
    world: World, failure: ErrorCode, codes: dict[TopicPartition, int]
) -> None:
    outcome = world.ask(REMOTE)
    world.sent[0][1].resolve(KafkaError(failure))
    assert outcome.value == codes
    world.ask(REMOTE)
    assert len(world.sent) == 2


@pytest.mark.parametrize(
    "code, told",
    [
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_request_that_is_refused_as_a_whole(world: World, code: int, told: int) -> None:
    outcome = world.ask(REMOTE, T0, T1)
    world.sent[0][1].resolve(AddPartitionsToTxnResponse(error_code=int(code)))
    assert outcome.value == {T0: told, T1: told}


def test_an_answer_to_something_else(world: World) -> None:
    outcome = world.ask(REMOTE)
    world.sent[0][1].resolve(AddPartitionsToTxnResponse())
    assert outcome.value == {T0: ErrorCode.NETWORK_EXCEPTION}


def test_nobody_coordinates_it() -> None:
    not_there = {T0: ErrorCode.COORDINATOR_NOT_AVAILABLE}
    world = World()
    world.node.delete_topic(98)
    assert world.ask(LOCAL) == not_there
    world = World()
    world.node.register(2, epoch=11, fenced=True)
    assert world.ask(REMOTE) == not_there
    world = World()
    world.peers.clear()  # it has no listener for brokers
    assert world.ask(REMOTE) == not_there

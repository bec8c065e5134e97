"""Markers, sorted by leader: one request in flight to each, sent until they are written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.coordinator.transaction.marker_driver import RETRY_MS, MarkerDriver, Sending
from pykbroker.coordinator.transaction.shard import Ended
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.write_txn_markers_response import WritableTxnMarkerPartitionResult
from pykbroker.types import TopicPartition
from tests.coordinator.memory_log import VirtualLoop


class Network:
    """Leaders that answer when a test says so."""

    def __init__(self, **leaders: int) -> None:
        self.loop = VirtualLoop()
        self.leaders = leaders  # of partition 0 of each topic
        self.asked: list[tuple[int, list[Any], Deferred]] = []
        self.done: list[Sending] = []
        self.driver = MarkerDriver(
            image=self._image, write=self._write, on_done=self.done.append, scheduler=self.loop
        )

    def _image(self) -> Any:
        def topic(name: str) -> Any:
            if name not in self.leaders:
                return None
            return SimpleNamespace(partitions={0: SimpleNamespace(leader=self.leaders[name])})

        return SimpleNamespace(topic=topic)

    def _write(self, leader: int, markers: list[Any]) -> Deferred:
        self.asked.append((leader, markers, Deferred()))
        return self.asked[-1][2]

    def queue(self, producer_id: int, *topics: str) -> Ended:
        begun = Transaction(producer_id=producer_id, epoch=0, timeout_ms=1)
        partitions = {TopicPartition(topic, 0): None for topic in topics}
        transaction = begun.with_partitions(partitions, 2, 1).ended(True, 2, 1)
        ended = Ended(f"id-{producer_id}", transaction)
        self.driver.queue(0, 5, ended)
        return ended

    def send(self, producer_id: int, *topics: str) -> Ended:
        ended = self.queue(producer_id, *topics)
        self.driver.send_queued()
        return ended

    def ask_again(self, ended: Ended) -> None:
        self.driver.ask_refused_again(ended)
        self.driver.send_queued()

    def answer(self, number: int, code: int = 0) -> None:
        """Every marker of a request gets this code; the results come in another order."""
        _, markers, deferred = self.asked[number]
        deferred.resolve(
            {
                (marker.producer_id, topic.name, index): WritableTxnMarkerPartitionResult(
                    partition_index=index, error_code=code
                )
                for marker in reversed(markers)
                for topic in marker.topics
                for index in topic.partition_indexes
            }
        )

    def shown(self) -> list[tuple[int, list[tuple[int, list[str]]]]]:
        return [
            (
                leader,
                [(each.producer_id, [topic.name for topic in each.topics]) for each in markers],
            )
            for leader, markers, _ in self.asked
        ]


def test_one_request_to_each_leader() -> None:
    network = Network(a=1, b=2, c=1)
    network.send(7, "a", "b", "c")
    assert network.shown() == [(1, [(7, ["a", "c"])]), (2, [(7, ["b"])])]
    marker = network.asked[0][1][0]
    assert (marker.producer_epoch, marker.coordinator_epoch) == (1, 5)
    assert (marker.transaction_result, marker.transaction_version) == (True, 2)
    network.answer(0)
    assert network.done == []
    network.answer(1)
    assert [sending.ended.transactional_id for sending in network.done] == ["id-7"]


def test_what_is_queued_together_is_sent_together() -> None:
    network = Network(a=1, b=2)
    network.queue(7, "a", "b")
    network.queue(8, "a")
    network.queue(9, "gone")
    assert network.asked == []
    network.driver.send_queued()
    assert network.shown() == [(1, [(7, ["a"]), (8, ["a"])]), (2, [(7, ["b"])])]
    assert [sending.ended.transactional_id for sending in network.done] == ["id-9"]
    network.driver.send_queued()
    assert (len(network.asked), len(network.done)) == (2, 1)


def test_what_comes_meanwhile_goes_together_in_the_next_request() -> None:
    network = Network(a=1)
    for producer_id in (7, 8, 9):
        network.send(producer_id, "a")
    assert network.shown() == [(1, [(7, ["a"])])]
    network.answer(0)
    assert network.shown()[1:] == [(1, [(8, ["a"]), (9, ["a"])])]
    network.answer(1)
    assert len(network.done) == 3


def test_again_to_the_leader_of_then() -> None:
    network = Network(a=1, b=1)
    network.send(7, "a", "b")
    network.answer(0, int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    network.leaders["b"] = 2
    network.loop.advance(RETRY_MS)
    assert network.shown()[1:] == [(1, [(7, ["a"])]), (2, [(7, ["b"])])]
    network.asked[1][2].resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
    network.leaders["a"] = -1
    network.loop.advance(10 * RETRY_MS)
    assert len(network.asked) == 3
    network.leaders["a"] = 1
    network.loop.advance(RETRY_MS)
    network.answer(2)
    network.answer(3)
    assert len(network.done) == 1


def test_a_partition_that_refuses_is_asked_again_when_an_operator_may_have_helped() -> None:
    network = Network(a=1, b=2)
    ended = network.send(7, "a", "b")
    network.answer(0, int(ErrorCode.INVALID_PRODUCER_EPOCH))
    network.answer(1)
    network.loop.advance(60_000)
    assert (len(network.asked), network.done) == (2, [])
    assert network.driver.is_sending(ended)
    other = ended.transaction.completed(3).initialised(2, -1, 1, 4)
    assert not network.driver.is_sending(Ended("id-7", other))
    network.ask_again(ended)
    network.ask_again(ended)  # in flight already
    assert network.shown()[2:] == [(1, [(7, ["a"])])]  # what is written is not written again
    network.answer(2)
    assert len(network.done) == 1
    network.ask_again(ended)
    assert len(network.asked) == 3


def test_a_partition_that_has_refused_may_be_deleted() -> None:
    network = Network(a=1)
    ended = network.send(7, "a")
    network.answer(0, int(ErrorCode.TRANSACTION_COORDINATOR_FENCED))
    network.leaders.clear()
    network.ask_again(ended)
    assert (len(network.asked), len(network.done)) == (1, 1)


def test_a_partition_that_cannot_hold_markers_is_done() -> None:
    network = Network(a=1)
    network.send(7, "a")
    network.answer(0, int(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT))
    assert len(network.done) == 1


def test_forgotten_while_an_answer_is_on_its_way() -> None:
    network = Network(a=1, b=1)
    network.send(7, "a")
    network.send(8, "b")
    network.driver.forget(0)
    network.answer(0)
    assert (len(network.asked), network.done) == (1, [])
    network.send(7, "a")
    network.send(7, "b")  # in place of that
    network.answer(1)
    network.answer(2)
    assert [list(sending.ended.transaction.partitions) for sending in network.done] == [
        [TopicPartition("b", 0)]
    ]

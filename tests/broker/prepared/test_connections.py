"""Prepared requests cost a connection neither memory nor time, nor later preparations."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.requests.worker import Worker
from pykbroker.protocol.messages.produce_request import PartitionProduceData, TopicProduceData
from tests.broker.prepared.test_fetch import Node as FetchNode
from tests.broker.prepared.test_fetch import fetch
from tests.broker.prepared.test_produce import Node, produce, read
from tests.harness.equal_answers import GeneralWorker, PreparingWorker, Side
from tests.harness.records import partition_record
from tests.replication.node import batch, topic_id_of


def to_topic(name: str, number: int, size: int = 1) -> bytes:
    parts = [PartitionProduceData(index=0, records=batch(b"v" * size))]
    topic = TopicProduceData(name=name, topic_id=topic_id_of(number), partition_data=parts)
    return produce(12, topic_data=[topic])


def test_an_idle_connection_keeps_no_frame() -> None:
    node = Node()
    node.ask(produce(12, 0))
    for _ in range(2):
        assert node.ask(to_topic("t", 7, size=500_000))
    connection: Any = node.connections[1]
    assert not connection.in_flight
    assert connection.take_frame() == (b"", 0, 0)


@pytest.mark.parametrize("worker", [GeneralWorker, PreparingWorker])
def test_an_answer_does_not_wait_for_the_next_ones_replicas(worker: type[Worker]) -> None:
    node = Node.__new__(Node)
    Side.__init__(node, worker)
    node.broker.node.delete_topic()
    node.broker.node.create_topic("t", 3)
    of_two = partition_record(topic_id_of(7), 3, replicas=[1, 2], isr=[1, 2], leader=1)
    node.broker.node.apply(of_two)
    node.connect(1)
    first = node.ask(produce(12, 0, correlation_id=1, timeout_ms=30_000))
    assert [number for number, _ in read(first, 12)] == [1]
    of_one = produce(12, 0, correlation_id=2, timeout_ms=30_000)
    sent = node.ask(of_one + produce(12, 3, correlation_id=3, timeout_ms=30_000))
    assert [number for number, _ in read(sent, 12)] == [2]


def test_a_connection_that_changes_its_topic_now_and_then_is_prepared_again() -> None:
    node = Node()
    node.broker.node.create_topic("u", 1, 8)
    frames = [to_topic("t", 7), to_topic("u", 8)]
    on_general_path = []
    for turn in range(10):
        before = node.general
        for _ in range(400):
            node.ask(frames[turn % 2])
        on_general_path.append(node.general - before)
    assert max(on_general_path) < 100


@pytest.mark.parametrize("epoch", [-2, -(2**31)])
def test_an_unsound_session_epoch_is_refused_each_time(epoch: int) -> None:
    node = FetchNode()
    frame = fetch(12, (0, 0), session_epoch=epoch)
    replies = [node.ask(frame, 12) for _ in range(4)]
    assert [reply and reply.error_code for reply in replies] == [70] * 4

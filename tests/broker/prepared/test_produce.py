"""Which Produce requests are prepared for, and which are served so."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pykbroker.broker.requests.long_produce import PIECE
from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import encode_request
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.produce_response import ProduceResponse
from pykbroker.protocol.parts_writer import Parts, join_parts
from tests.harness.equal_answers import PreparingWorker, Side
from tests.replication.node import batch, topic_id_of


def produce(
    version: int, *indexes: int, correlation_id: int = 5, acks: int = -1, **fields: Any
) -> bytes:
    parts = [PartitionProduceData(index=index, records=batch(b"value")) for index in indexes]
    topics = [TopicProduceData(name="t", topic_id=topic_id_of(7), partition_data=parts)]
    settled: dict[str, Any] = {"acks": acks, "timeout_ms": 10, "topic_data": topics}
    message = ProduceRequest(**settled | fields)
    out: Parts = []
    encode_request(APIS[0], version, correlation_id, "app", message, out)
    return join_parts(out)


class Node(Side):
    """One node with a topic of three partitions, one client on it."""

    def __init__(self, **config: Any) -> None:
        super().__init__(PreparingWorker)
        self.broker.node.delete_topic()
        self.broker.node.create_topic("t", 3, **config)
        self.connect(1)

    @property
    def general(self) -> int:
        assert isinstance(self.worker, PreparingWorker)
        return self.worker.general["Produce"]

    def ask(self, *frames: bytes) -> bytes:
        for frame in frames:
            self.receive(1, frame)
        self.run()
        sent = bytes(self.sockets[1].sent)
        self.sockets[1].sent.clear()
        return sent


def read(sent: bytes, version: int) -> list[tuple[int, ProduceResponse]]:
    replies = []
    while sent:
        size, correlation_id = struct.unpack_from(">ii", sent)
        at = 9 if version >= 9 else 8
        frame = memoryview(sent)[: 4 + size]
        replies.append((correlation_id, ProduceResponse.decode(frame, at, version)[0]))
        sent = sent[4 + size :]
    return replies


def offsets(reply: ProduceResponse) -> list[tuple[int, int, int]]:
    return [
        (part.index, part.error_code, part.base_offset)
        for topic in reply.responses
        for part in topic.partition_responses
    ]


@pytest.mark.parametrize("version", range(3, 14))
def test_the_second_request_is_served_without_being_decoded(version: int) -> None:
    node = Node()
    node.ask(produce(version, 0))
    assert node.general == 1
    sent = node.ask(produce(version, 2, correlation_id=6))
    sent += node.ask(produce(version, 0, 1, 2, correlation_id=7))
    assert node.general == 1
    assert [(number, offsets(reply)) for number, reply in read(sent, version)] == [
        (6, [(2, 0, 0)]),
        (7, [(0, 0, 1), (1, 0, 0), (2, 0, 1)]),
    ]


@pytest.mark.parametrize("version", range(3, 14))
def test_several_topics(version: int) -> None:
    node = Node()
    node.broker.node.create_topic("u", 2, number=8)

    def several(*indexes: tuple[int, ...]) -> bytes:
        topics = [
            TopicProduceData(
                name=name,
                topic_id=topic_id_of(number),
                partition_data=[
                    PartitionProduceData(index=index, records=batch(b"value")) for index in of_topic
                ],
            )
            for name, number, of_topic in zip("tu", (7, 8), indexes, strict=True)
        ]
        return produce(version, topic_data=topics)

    node.ask(several((0,), (0,)))
    assert node.general == 1
    ((_, reply),) = read(node.ask(several((2, 0), (0, 1))), version)
    assert [len(topic.partition_responses) for topic in reply.responses] == [2, 2]
    assert offsets(reply) == [(2, 0, 0), (0, 0, 1), (0, 0, 1), (1, 0, 0)]
    if version < 13:
        assert [topic.name for topic in reply.responses] == ["t", "u"]
    else:
        assert [topic.topic_id for topic in reply.responses] == [topic_id_of(7), topic_id_of(8)]
    assert node.general == 1
    node.ask(several((0,), (17,)))
    assert node.general == 2
    node.broker.node.delete_topic(8)
    node.ask(several((0,), (0,)))
    assert node.general == 3
    partition = node.broker.replica_manager.find("t", 0)
    assert partition is not None
    assert partition.log.log_end_offset == 4


def test_one_topic_twice_is_not_prepared_for() -> None:
    node = Node()
    topic = TopicProduceData(
        name="t", partition_data=[PartitionProduceData(index=0, records=batch(b"value"))]
    )
    for _ in range(3):
        node.ask(produce(8, topic_data=[topic, topic]))
    assert node.general == 3


def test_a_pipeline_is_answered_in_order_within_one_round() -> None:
    node = Node()
    node.ask(produce(9, 0))
    sent = node.ask(b"".join(produce(9, n % 3, correlation_id=n) for n in range(40)))
    assert [number for number, _ in read(sent, 9)] == list(range(40))
    assert node.general == 1


def test_a_pipeline_is_answered_in_order_although_a_partition_gets_another_replica() -> None:
    node = Node(min_insync_replicas="2")
    node.ask(produce(9, 0))
    more = PartitionChangeRecord(
        topic_id=topic_id_of(7), partition_id=0, replicas=[1, 2], adding_replicas=[2]
    )
    services: Any = node.broker

    def end_round() -> None:
        """As when the fetch of another voter, in this round, has committed the change."""
        node.broker.node.apply(more)
        node._end_round()

    node.worker.serve_brokers(services, end_round)
    sent = node.ask(produce(9, 0, correlation_id=1) + produce(9, 1, correlation_id=2))
    assert [number for number, _ in read(sent, 9)] == [1, 2]


def test_what_differs_in_a_pipeline_waits_for_what_is_before_it() -> None:
    node = Node()
    node.ask(produce(9, 0))
    frames = [
        produce(9, 0, correlation_id=1),
        produce(9, 17, correlation_id=2),
        produce(7, 0, correlation_id=3),
        produce(9, 0, correlation_id=4),
    ]
    sent = node.ask(b"".join(frames))
    numbers = []
    while sent:
        size, number = struct.unpack_from(">ii", sent)
        numbers.append(number)
        sent = sent[4 + size :]
    assert numbers == [1, 2, 3, 4]
    assert node.general == 3


def test_acks_0_has_no_reply_and_goes_on() -> None:
    node = Node()
    assert node.ask(*(produce(9, 0, acks=0) for _ in range(5))) == b""
    assert node.general == 1
    assert node.broker.replica_manager.find("t", 0).log.log_end_offset == 5  # type: ignore[union-attr]


def test_acks_0_ends_the_connection_when_the_disk_fails() -> None:
    node = Node()
    node.ask(produce(9, 0, acks=0))
    node.broker.node.fail_writes()
    node.ask(produce(9, 0, acks=0))
    assert node.general == 1
    assert node.sockets[1].is_closed


def test_a_failed_write_is_told() -> None:
    node = Node()
    node.ask(produce(9, 0))
    node.broker.node.fail_writes()
    sent = node.ask(produce(9, 0, 1, correlation_id=8))
    ((number, reply),) = read(sent, 9)
    assert number == 8
    assert offsets(reply) == [(0, 56, -1), (1, 56, -1)]
    assert node.general == 1


def test_replicas_are_waited_for() -> None:
    node = Node(replicas=(1, 2), isr=(1, 2))
    node.broker.node.register(2)
    node.receive(1, produce(9, 0))
    node.run()
    partition = node.broker.replica_manager.find("t", 0)
    assert partition is not None
    node.broker.node.follower_fetch(partition, 1)
    node.run()
    node.ask()
    assert node.ask(produce(9, 0, correlation_id=8)) == b""
    assert node.general == 1
    node.broker.node.follower_fetch(partition, 2)
    node.broker.wake()
    assert [(n, offsets(r)) for n, r in read(node.ask(), 9)] == [(8, [(0, 0, 1)])]


def test_what_has_changed_meanwhile_is_seen() -> None:
    """Nothing of a partition is remembered: neither its settings nor that it is led here."""
    node = Node(replicas=(1, 2), isr=(1,))
    node.ask(produce(9, 0))
    ((_, reply),) = read(node.ask(produce(9, 0)), 9)
    assert offsets(reply) == [(0, 0, 1)]
    assert node.general == 1
    for change, code in (
        (config("min.insync.replicas", "2"), 19),
        (config("min.insync.replicas", "1"), 0),
        (config("max.message.bytes", "10"), 10),
        (config("max.message.bytes", None), 0),
        (PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=0, leader=2), 6),
        (PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=0, leader=1), 0),
    ):
        node.broker.node.apply(change)
        ((_, reply),) = read(node.ask(produce(9, 0)), 9)
        assert [error for _, error, _ in offsets(reply)] == [code], change


def test_a_topic_of_the_same_name_is_another_one() -> None:
    node = Node()
    node.ask(produce(13, 0))
    node.broker.node.delete_topic()
    node.broker.node.create_topic("t", 3, number=8)
    ((_, reply),) = read(node.ask(produce(13, 0)), 13)
    assert [error for _, error, _ in offsets(reply)] == [100]


def config(name: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="t", name=name, value=value)


@pytest.mark.parametrize(
    "fields",
    [
        {"transactional_id": "t"},
        {"acks": 2},
        {"topic_data": []},
        {"topic_data": [TopicProduceData(name="t", partition_data=[])]},
        {
            "topic_data": [
                TopicProduceData(
                    name="t", partition_data=[PartitionProduceData(index=n, records=batch())]
                )
                for n in range(2)
            ]
        },
        {
            "topic_data": [
                TopicProduceData(
                    name="__consumer_offsets",
                    partition_data=[PartitionProduceData(index=0, records=batch())],
                )
            ]
        },
    ],
)
def test_special_requests_are_not_prepared_for(fields: dict[str, Any]) -> None:
    node = Node()
    for _ in range(3):
        node.ask(produce(9, 0, **fields))
        assert not node.connections[1].prepared
    assert node.general == 3


def test_who_never_repeats_himself_is_not_tried_for_ever() -> None:
    node = Node()
    for number in range(100):
        node.ask(produce(9, 0, timeout_ms=10 + number % 2))
    assert 50 <= node.general <= 100
    node.ask(*(produce(9, 0) for _ in range(200)))
    before = node.general
    node.ask(produce(9, 0))
    assert node.general == before


def test_so_many_partitions_that_the_general_path_makes_pieces_of_them_are_left_to_it() -> None:
    node = Node()
    names = ("u", "v", "w")
    for number, name in enumerate(names):
        node.broker.node.create_topic(name, 100, 10 + number)

    def request(partitions: int) -> bytes:
        parts = [PartitionProduceData(index=at, records=batch(b"v")) for at in range(partitions)]
        topics = [
            TopicProduceData(name=name, topic_id=topic_id_of(10 + number), partition_data=parts)
            for number, name in enumerate(names)
        ]
        return produce(13, topic_data=topics)

    for partitions in (2, 60):
        ((_, reply),) = read(node.ask(request(partitions)), 13)
        assert [code for _, code, _ in offsets(reply)] == [0] * 3 * partitions
    assert node.general == 1
    node.ask(request(100))
    assert node.general == 2


def test_a_request_that_the_general_path_makes_pieces_of_is_not_prepared_for() -> None:
    node = Node()
    node.broker.node.create_topic("u", PIECE + 1, 8)
    parts = [PartitionProduceData(index=at, records=batch(b"v")) for at in range(PIECE + 1)]
    topic = TopicProduceData(name="u", topic_id=topic_id_of(8), partition_data=parts)
    node.ask(produce(13, topic_data=[topic]))
    assert not node.connections[1].prepared


def test_a_request_with_tags_between_its_topics_is_not_prepared_for() -> None:
    """What is in a tag is not known: it may look like a partition."""
    node = Node()
    node.broker.node.create_topic("u", 1, 8)
    topics = [
        TopicProduceData(
            topic_id=topic_id_of(number),
            partition_data=[PartitionProduceData(index=0, records=batch(b"v"))],
        )
        for number in (7, 8)
    ]
    frame = bytearray(produce(13, topic_data=topics))
    tags_at = frame.index(topic_id_of(8)) - 1
    frame[tags_at : tags_at + 1] = b"\1\5\2xy"  # one tag, number 5, of two bytes
    frame[:4] = struct.pack(">i", len(frame) - 4)
    for general in (1, 2):
        ((_, reply),) = read(node.ask(bytes(frame)), 13)
        assert [code for _, code, _ in offsets(reply)] == [0, 0]
        assert node.general == general
    assert not node.connections[1].prepared

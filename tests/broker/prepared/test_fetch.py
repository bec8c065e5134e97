"""Which Fetch requests are prepared for, and which are served so."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.fetch_response import FetchResponse
from pykbroker.protocol.parts_writer import Parts, join_parts, part_size
from tests.harness.equal_answers import PreparingWorker, Side
from tests.replication.node import topic_id_of


def fetch(version: int, *asked: tuple[int, int], correlation_id: int = 5, **fields: Any) -> bytes:
    limit = fields.pop("partition_max_bytes", 1 << 20)
    parts = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=limit)
        for index, offset in asked
    ]
    topics = [FetchTopic(topic="t", topic_id=topic_id_of(7), partitions=parts)]
    settled: dict[str, Any] = {
        "max_wait_ms": 500,
        "min_bytes": 1,
        "session_epoch": -1,
        "topics": topics,
    }
    out: Parts = []
    encode_request(APIS[1], version, correlation_id, "app", FetchRequest(**settled | fields), out)
    return join_parts(out)


class Node(Side):
    """One node with a topic of three partitions and a record in each, one client on it."""

    def __init__(self) -> None:
        super().__init__(PreparingWorker)
        self.broker.node.delete_topic()
        self.broker.node.create_topic("t", 3)
        for index in range(3):
            partition = self.broker.replica_manager.find("t", index)
            assert partition is not None
            self.broker.node.append(partition, b"v" * 100)
        self.connect(1)

    @property
    def general(self) -> int:
        assert isinstance(self.worker, PreparingWorker)
        return self.worker.general["Fetch"]

    def ask(self, frame: bytes, version: int) -> FetchResponse | None:
        """The answer, if it comes at once; without a frame, to the one before."""
        if frame:
            self.receive(1, frame)
        self.run()
        sent = bytes(self.sockets[1].sent)
        self.sockets[1].sent.clear()
        if not sent:
            return None
        (size,) = struct.unpack_from(">i", sent)
        assert size == len(sent) - 4
        body = memoryview(sent)[4:]
        correlation_id, at = decode_response_header(body, APIS[1], version)
        assert correlation_id == 5
        return FetchResponse.decode(body, at, version)[0]


def sizes(reply: FetchResponse | None) -> list[tuple[int, int, int]]:
    assert reply is not None
    return [
        (part.partition_index, part.high_watermark, part_size(part.records or b""))
        for topic in reply.responses
        for part in topic.partitions
    ]


@pytest.mark.parametrize("version", range(4, 19))
@pytest.mark.parametrize("isolation_level", [0, 1])
def test_the_second_request_is_served_without_being_decoded(
    version: int, isolation_level: int
) -> None:
    node = Node()
    for asked in ([(0, 0)], [(2, 0)], [(0, 0), (1, 0), (2, 1)]):
        reply = node.ask(fetch(version, *asked, isolation_level=isolation_level), version)
        assert sizes(reply) == [(index, 1, 0 if offset else 61 + 109) for index, offset in asked]
    assert node.general == 1


def test_limits_count_over_all_partitions() -> None:
    node = Node()
    node.ask(fetch(11, (0, 0)), 11)
    reply = node.ask(fetch(11, (0, 0), (1, 0), (2, 0), partition_max_bytes=1), 11)
    assert sizes(reply) == [(0, 1, 170), (1, 1, 0), (2, 1, 0)]
    node.ask(fetch(11, (0, 0), max_bytes=200), 11)
    reply = node.ask(fetch(11, (0, 0), (1, 0), (2, 0), max_bytes=200), 11)
    assert sizes(reply) == [(0, 1, 170), (1, 1, 0), (2, 1, 0)]


def test_what_has_to_wait_waits() -> None:
    node = Node()
    node.ask(fetch(11, (0, 0)), 11)
    assert node.ask(fetch(11, (0, 1)), 11) is None
    assert node.general == 2
    assert len(node.broker.purgatory) == 1


def test_an_empty_answer_at_once_where_nobody_wants_to_wait() -> None:
    node = Node()
    node.ask(fetch(11, (0, 0), max_wait_ms=0), 11)
    assert sizes(node.ask(fetch(11, (0, 1), max_wait_ms=0), 11)) == [(0, 1, 0)]
    assert node.general == 1


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        (11, {"rack_id": "a"}),
        (11, {"replica_id": 2}),
        (11, {"topics": []}),
        (11, {"topics": [FetchTopic(topic="t", partitions=[])]}),
        (13, {"topics": [FetchTopic(topic_id=topic_id_of(77), partitions=[FetchPartition()])]}),
    ],
)
def test_special_requests_are_not_prepared_for(version: int, fields: dict[str, Any]) -> None:
    node = Node()
    for _ in range(3):
        node.ask(fetch(version, (0, 0), **fields), version)
        assert not node.connections[1].prepared
    assert node.general == 3

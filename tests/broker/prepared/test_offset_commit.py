"""Commits of the same partitions again: decided each time, neither decoded nor encoded."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import encode_request
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from tests.broker.handlers.group_broker import TOPIC_ID
from tests.harness.asked_node import AskedNode
from tests.harness.equal_answers import PreparingWorker, Side
from tests.replication.node import topic_id_of

OTHER = 8


class Client:
    """One client of a node with the topics "t" (partitions 0 and 1) and "u" (0, 1 and 2)."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.side = Side(PreparingWorker)
        self.broker: AskedNode = self.side.broker
        self.broker.node.create_topic("u", 3, OTHER)
        self.side.connect(1)

    @property
    def general(self) -> int:
        """How many commits were left to the general path."""
        assert isinstance(self.side.worker, PreparingWorker)
        return self.side.worker.general["OffsetCommit"]

    def frame(self, *topics: OffsetCommitRequestTopic, **fields: Any) -> bytes:
        out: Parts = []
        message = OffsetCommitRequest(**{"group_id": "simple", "topics": list(topics)} | fields)
        encode_request(APIS[8], self.version, 7, "app", message, out)
        return join_parts(out)

    def commit(self, *topics: OffsetCommitRequestTopic, **fields: Any) -> bytes:
        """The answer."""
        self.side.receive(1, self.frame(*topics, **fields))
        self.side.run()
        sent = bytes(self.side.sockets[1].sent)
        self.side.sockets[1].sent.clear()
        return sent

    def committed(self, topic: str, index: int) -> tuple[int, int, str]:
        (shard,) = [
            each for each in self.broker.groups.runtime.machines() if "simple" in each.groups
        ]
        entry = shard.offsets.get("simple", topic, index)
        return entry.offset, entry.leader_epoch, entry.metadata


def topic(name: str, *offsets: int, epoch: int = -1, metadata: str = "") -> Any:
    return OffsetCommitRequestTopic(
        name=name,
        topic_id=TOPIC_ID if name == "t" else topic_id_of(OTHER),
        partitions=[
            OffsetCommitRequestPartition(
                partition_index=index,
                committed_offset=offset,
                committed_leader_epoch=epoch,
                committed_metadata=metadata,
            )
            for index, offset in enumerate(offsets)
        ],
    )


@pytest.mark.parametrize("version", range(2, 11))
def test_several_partitions_of_several_topics(version: int) -> None:
    client = Client(version)
    first = client.commit(topic("t", 1, -1, metadata="m"), topic("u", 3, 4, 5))
    for step in range(1, 5):
        again = client.commit(
            topic("t", step, step << 40, metadata="m"), topic("u", -1, 0, step, epoch=step)
        )
        assert again == first
        assert client.committed("t", 1) == (step << 40, -1, "m")
        epoch = step if version >= 6 else -1
        assert client.committed("u", 2) == (step, epoch, "")
    assert client.general == 1


def test_the_correlation_id_is_that_of_the_request() -> None:
    client = Client(8)
    client.commit(topic("t", 1))
    frame = bytearray(client.frame(topic("t", 2)))
    struct.pack_into(">i", frame, 8, -3)
    client.side.receive(1, bytes(frame))
    client.side.run()
    assert struct.unpack_from(">i", client.side.sockets[1].sent, 4) == (-3,)
    assert client.general == 1


def test_what_differs_in_anything_else_is_the_general_paths() -> None:
    client = Client(8)
    client.commit(topic("t", 1))
    client.commit(topic("t", 1, metadata="new"))
    assert client.committed("t", 0) == (1, -1, "new")
    client.commit(topic("t", 2, 3))
    client.commit(topic("u", 2))
    client.commit(topic("t", 2), group_id="another")
    assert client.general == 5
    client.commit(topic("t", 9))
    assert client.general == 5
    assert client.committed("t", 0) == (9, -1, "")


def test_a_topic_that_goes_and_comes_back_is_looked_up_each_time() -> None:
    client = Client(9)
    well = client.commit(topic("u", 1))
    client.broker.node.delete_topic(OTHER)
    gone = client.commit(topic("u", 2))
    assert gone != well
    assert struct.unpack_from(">h", gone, len(gone) - 5) == (3,)  # UNKNOWN_TOPIC_OR_PARTITION
    client.broker.node.create_topic("u", 1, OTHER + 1)
    assert client.commit(topic("u", 3)) == well
    assert client.committed("u", 0)[0] == 3
    assert client.general == 1


def test_a_refusal_of_the_coordinator_is_told() -> None:
    client = Client(9)
    question = topic("t", 1)
    refused = client.commit(question, generation_id_or_member_epoch=3)
    assert client.commit(question, generation_id_or_member_epoch=3) == refused
    assert struct.unpack_from(">h", refused, len(refused) - 5) == (69,)  # GROUP_ID_NOT_FOUND
    assert client.general == 1


def test_commits_in_flight_when_leadership_is_lost_are_refused() -> None:
    client = Client(9)
    well = client.commit(topic("t", 1))
    client.broker.node.fail_writes()
    failed = client.commit(topic("t", 2))
    assert len(failed) == len(well)
    assert failed != well
    assert client.general == 1


@pytest.mark.parametrize(
    "topics",
    [(), (topic("t"),), (topic("t", 1), topic("u")), (topic("u", *range(101)),)],
    ids=["no topic", "no partition", "a topic without", "too many"],
)
def test_what_is_not_prepared_for(topics: tuple[Any, ...]) -> None:
    client = Client(8)
    for _ in range(3):
        client.commit(*topics)
    assert client.general == 3


def test_unusual_bytes_of_a_length_are_not_prepared_for() -> None:
    client = Client(8)
    frame = bytearray(client.frame(topic("t", 1)).replace(b"\x07simple", b"\x87\x00simple"))
    struct.pack_into(">i", frame, 0, len(frame) - 4)
    for _ in range(2):
        client.side.receive(1, bytes(frame))
        client.side.run()
    assert client.committed("t", 0)[0] == 1
    assert client.general == 2

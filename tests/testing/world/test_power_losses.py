"""What power failures may take from replicated partitions: played nodes and images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.testing.world.power_losses import PowerLosses
from pykbroker.types import TopicPartition

KEY = TopicPartition("t", 0)
TOPIC_ID = b"i" * 16
DIRECTORIES = ("/a", "/b")


class Stage:
    """Three nodes; each is registered with the epoch 10 and has flushed its log up to `flushed`."""

    def __init__(self, *flushed: int) -> None:
        self.offset = 0
        self.epochs = dict.fromkeys((1, 2, 3), 10)
        self.partition = PartitionImage((1, 2, 3), (b"d" * 16,) * 3, (1, 2, 3), 1)
        self.nodes = [self._node(number, offset) for number, offset in enumerate(flushed, 1)]
        self.losses = PowerLosses(self.nodes)
        self.publish()

    @staticmethod
    def _node(number: int, flushed: int) -> Any:
        log = SimpleNamespace(topic_partition=KEY, recovery_point=flushed)
        server = SimpleNamespace(
            log_manager=SimpleNamespace(logs=lambda: [log]),
            kraft=SimpleNamespace(image=None, controller=None),
        )
        files = MemoryFiles()
        for directory in DIRECTORIES:
            files.mkdir(directory)
        return SimpleNamespace(
            node_id=number,
            server=server,
            has_stopped=False,
            machine=SimpleNamespace(files=files),
            directories=DIRECTORIES,
        )

    def publish(self, **changed: Any) -> None:
        self.offset += 1
        self.partition = self.partition._replace(**changed)
        topic = SimpleNamespace(name="t", id=TOPIC_ID, partitions={0: self.partition})
        image = SimpleNamespace(
            offset=self.offset,
            topics_by_id={topic.id: topic},
            topic=lambda name: topic if name == "t" else None,
            brokers={number: SimpleNamespace(epoch=epoch) for number, epoch in self.epochs.items()},
        )
        for node in self.nodes:
            node.server.kraft.image = image

    def registers_again(self, number: int, **changed: Any) -> None:
        self.epochs[number] += 10
        self.publish(**changed)

    def stops(self, number: int, *, closed: Iterable[str] = DIRECTORIES) -> None:
        node = self.nodes[number - 1]
        node.has_stopped = True
        for directory in closed:
            node.machine.files.write_file(f"{directory}/.kafka_cleanshutdown", b"")

    def end(self, number: int, *, power: bool = True) -> dict[TopicPartition, int]:
        return self.losses.process_ended(self.nodes[number - 1], is_power=power)


def test_nothing_is_lost_while_an_in_sync_replica_runs() -> None:
    stage = Stage(5, 6, 7)
    assert stage.end(1) == {}
    assert stage.end(2) == {}
    assert stage.end(3) == {KEY: 5}


@pytest.mark.parametrize("closed", [DIRECTORIES, DIRECTORIES[:1]])
def test_a_node_that_could_not_close_one_of_its_directories_is_not_trusted(
    closed: Sequence[str],
) -> None:
    stage = Stage(5, 6, 7)
    stage.stops(2, closed=closed)
    assert stage.end(2, power=False) == {}
    stage.publish(isr=(1,), elr=(2,))
    assert stage.end(1) == ({} if closed == DIRECTORIES else {KEY: 5})


def test_kills_alone_lose_nothing() -> None:
    stage = Stage(5, 6, 7)
    assert [stage.end(number, power=False) for number in (1, 2, 3)] == [{}, {}, {}]


def test_a_killed_node_is_not_trusted_any_more_than_one_without_power() -> None:
    stage = Stage(5, 6, 7)
    assert stage.end(2) == {}
    assert stage.end(1, power=False) == {}
    assert stage.end(3, power=False) == {KEY: 6}


def test_a_node_that_has_registered_again_and_is_in_sync_keeps_everything() -> None:
    stage = Stage(5, 6, 7)
    assert stage.end(1) == {}
    stage.registers_again(1, isr=(2, 3))
    assert stage.end(2) == {}
    stage.registers_again(2, isr=(3,))
    stage.publish(isr=(3, 1))
    assert stage.end(3) == {}
    assert stage.end(1) == {KEY: 5}


def test_eligible_replicas_count_and_the_last_known_leader_when_there_are_none() -> None:
    stage = Stage(5, 6, 7)
    stage.publish(isr=(1,), elr=(2,))
    assert stage.end(1) == {}
    assert stage.end(2, power=False) == {KEY: 5}
    stage.registers_again(1, isr=(), elr=(2,), last_known_elr=(1,))
    stage.registers_again(2, elr=())
    assert stage.end(1) == {KEY: 5}


def test_a_last_known_leader_that_came_back_without_records_may_lead_after_the_last_eligible() -> (
    None
):
    stage = Stage(5, 6, 7)
    stage.publish(isr=(1,), elr=(3,))
    assert stage.end(1) == {}
    stage.registers_again(1, isr=(), elr=(3,), last_known_elr=(1,))
    assert stage.losses.losses() == {}
    assert stage.end(3, power=False) == {KEY: 5}


def test_who_stops_in_good_order_has_everything() -> None:
    stage = Stage(5, 6, 7)
    stage.stops(1)
    assert stage.end(2) == {}
    assert stage.end(3) == {}
    assert stage.end(1, power=False) == {}


def test_the_topic_is_known_by_its_name() -> None:
    stage = Stage(5, 6, 7)
    assert stage.losses.topic_id("t") is None
    stage.end(1)
    assert stage.losses.topic_id("t") == TOPIC_ID
    assert stage.losses.topic_id("u") is None


def test_a_reassignment_may_leave_a_partition_to_replicas_that_lost_their_power() -> None:
    stage = Stage(5, 6, 7)
    stage.end(1)
    assert stage.end(2) == {}
    assert stage.losses.losses() == {}
    stage.publish(isr=(1, 2))
    assert stage.losses.losses() == {KEY: 5}


def test_what_was_committed_together_with_what_follows_counts() -> None:
    """The partition was left to a node without power, and the node has registered again, before
    any node could tell."""
    stage = Stage(5, 6, 7)
    offset = 0

    def commit(*messages: Any) -> dict[TopicPartition, int]:
        nonlocal offset
        records = [MetadataRecord(message, 0) for message in messages]
        batch = LogBatch(offset, offset + len(records) - 1, 1, 0, 0, records, [])
        offset += len(records)
        return stage.losses.committed(batch)

    def register(epoch: int) -> RegisterBrokerRecord:
        return RegisterBrokerRecord(broker_id=1, broker_epoch=epoch, fenced=True)

    partition = PartitionRecord(
        partition_id=0,
        topic_id=TOPIC_ID,
        replicas=[1, 2, 3],
        isr=[1, 2, 3],
        leader=2,
        directories=[b"d" * 16] * 3,
    )
    assert commit(TopicRecord(name="t", topic_id=TOPIC_ID), partition, register(10)) == {}
    assert stage.end(1) == {}
    stage.registers_again(1, isr=(), last_known_elr=(1,))
    left_alone = PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, isr=[1], leader=1)
    assert commit(left_alone) == {KEY: 5}
    nobody = PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, isr=[], leader=-1)
    assert commit(register(20), nobody) == {}

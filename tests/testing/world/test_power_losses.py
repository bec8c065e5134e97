"""What power failures may take from replicated partitions: played nodes and images."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.testing.world.power_losses import PowerLosses
from pykbroker.types import TopicPartition

KEY = TopicPartition("t", 0)


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
        directories = [SimpleNamespace(is_online=True), SimpleNamespace(is_online=True)]
        server = SimpleNamespace(
            log_manager=SimpleNamespace(logs=lambda: [log], directories=directories),
            kraft=SimpleNamespace(image=None, controller=None),
        )
        return SimpleNamespace(node_id=number, server=server, has_stopped=False)

    def publish(self, **changed: Any) -> None:
        self.offset += 1
        self.partition = self.partition._replace(**changed)
        topic = SimpleNamespace(name="t", id=b"i" * 16, partitions={0: self.partition})
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

    def end(self, number: int, *, power: bool = True) -> dict[TopicPartition, int]:
        return self.losses.process_ended(self.nodes[number - 1], is_power=power)


def test_nothing_is_lost_while_an_in_sync_replica_runs() -> None:
    stage = Stage(5, 6, 7)
    assert stage.end(1) == {}
    assert stage.end(2) == {}
    assert stage.end(3) == {KEY: 5}


@pytest.mark.parametrize("is_online", [True, False])
def test_a_node_that_stops_without_one_of_its_directories_is_not_trusted(is_online: bool) -> None:
    stage = Stage(5, 6, 7)
    node = stage.nodes[1]
    node.has_stopped = True
    node.server.log_manager.directories[1].is_online = is_online
    assert stage.end(2, power=False) == {}
    stage.publish(isr=(1,), elr=(2,))
    assert stage.end(1) == ({} if is_online else {KEY: 5})


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
    stage.nodes[0].has_stopped = True
    assert stage.end(2) == {}
    assert stage.end(3) == {}
    assert stage.end(1, power=False) == {}


def test_the_topic_is_known_by_its_name() -> None:
    stage = Stage(5, 6, 7)
    assert stage.losses.topic_id("t") is None
    stage.end(1)
    assert stage.losses.topic_id("t") == b"i" * 16
    assert stage.losses.topic_id("u") is None


def test_a_reassignment_may_leave_a_partition_to_replicas_that_lost_their_power() -> None:
    stage = Stage(5, 6, 7)
    stage.end(1)
    assert stage.end(2) == {}
    assert stage.losses.losses() == {}
    stage.publish(isr=(1, 2))
    assert stage.losses.losses() == {KEY: 5}

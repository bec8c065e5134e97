"""New partitions: in-sync replicas are those that are active."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.assignment import manual_partitions, placed_partitions
from tests.kraft.controller.controller_world import ControllerWorld, directory_of


def manual(*replicas: int) -> SimpleNamespace:
    return SimpleNamespace(broker_ids=list(replicas))


def test_fenced_replicas_are_not_in_sync() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.heartbeat(2, want_fence=True)
    made = manual_partitions(world.controller.state, [manual(2, 1)], first=5, factor=2)
    partition = made[5]
    assert (partition.replicas, partition.isr, partition.leader) == ((2, 1), (1,), 1)
    assert partition.directories == (directory_of(2), directory_of(1))


def test_nobody_of_the_assignment_is_active() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.heartbeat(2, want_fence=True)
    with pytest.raises(KafkaError, match="are fenced or in controlled shutdown"):
        manual_partitions(world.controller.state, [manual(2)], first=0, factor=1)


def test_all_brokers_are_leaving() -> None:
    world = ControllerWorld().brokers(1)
    state = world.controller.state
    placed_partitions(state, 0, 1, 1)
    leaving = state.image.brokers[1]._replace(in_controlled_shutdown=True)
    state.image.brokers = {1: leaving}
    with pytest.raises(KafkaError) as refused:
        placed_partitions(state, 0, 1, 1)
    assert refused.value.code == ErrorCode.INVALID_REPLICATION_FACTOR

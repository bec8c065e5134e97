"""Questions that the controller's subjects share."""

from __future__ import annotations

from pykbroker.kraft.partition_image import UNASSIGNED_DIRECTORY
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic


def test_who_may_lead() -> None:
    world = ControllerWorld().brokers(1, 2)
    state = world.controller.state
    assert (state.is_active(1), state.is_active(9)) == (True, False)
    world.heartbeat(2, want_fence=True)
    assert not state.is_active(2)


def test_where_replicas_go() -> None:
    state = ControllerWorld().brokers(1).controller.state
    assert state.default_directory(1) == directory_of(1)
    assert state.default_directory(9) == UNASSIGNED_DIRECTORY


def test_partitions_at_places_of_the_index() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2], 1: [2, 1]}))
    state = world.controller.state
    topic_id = world.image.topics_by_name["t"].id
    assert list(state.at([(topic_id, 1)])) == [
        (world.image.topics_by_id[topic_id], 1, world.partition("t", 1))
    ]


def test_the_effective_configuration_is_made_again_when_overrides_change() -> None:
    world = ControllerWorld().brokers(1)
    state = world.controller.state
    first = state.config()
    assert state.config() is first
    world.create(topic("t", configs={"retention.ms": "1"}))
    assert state.config().log_retention_time_ms == first.log_retention_time_ms

"""Elections: which replica leads as brokers come and go."""

from __future__ import annotations

import pytest

from pykbroker.kraft.directory_assignment import assignment_request
from pykbroker.kraft.partition_image import NO_LEADER, UNASSIGNED_DIRECTORY
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic

FIRST, SECOND = b"d" * 16, b"e" * 16


def test_unclean_election_by_topic_config() -> None:
    world = ControllerWorld().brokers(1, 2)
    unclean = {"unclean.leader.election.enable": "true"}
    world.create(
        topic("safe", assignments={0: [2, 1]}),
        topic("unsafe", assignments={0: [2, 1]}, configs=unclean),
    )
    world.heartbeat(1, want_fence=True)
    world.heartbeat(1)
    for name in ("safe", "unsafe"):
        assert world.partition(name).isr == (2,)
    world.heartbeat(2, want_fence=True)
    assert world.partition("safe").leader == NO_LEADER
    unsafe = world.partition("unsafe")
    assert (unsafe.leader, unsafe.isr, unsafe.leader_recovery_state) == (1, (1,), 1)


@pytest.fixture
def restarted() -> ControllerWorld:
    """Broker 1 with a partition in its second directory, which is missing at its next start."""
    world = ControllerWorld().brokers(2)
    world.register(1, log_dirs=[FIRST, SECOND])
    world.heartbeat(1)
    world.create(
        topic("alone", assignments={0: [1]}),
        topic("unsafe", assignments={0: [1]}, configs={"unclean.leader.election.enable": "true"}),
        topic("unassigned", assignments={0: [1]}),
        topic("both", assignments={0: [1, 2]}),
    )
    for name in ("alone", "unsafe", "both"):
        assign(world, name, SECOND)
    assert world.partition("unassigned").directories == (UNASSIGNED_DIRECTORY,)
    world.fail_over()
    world.register(1, log_dirs=[FIRST], incarnation_id=b"2" * 16)
    assert not world.heartbeat(1).is_fenced
    return world


def assign(world: ControllerWorld, name: str, directory: bytes) -> None:
    placed = {(world.image.topics_by_name[name].id, 0): directory}
    request = assignment_request(1, world.image.brokers[1].epoch, placed)
    world.decide(world.controller.assign_replicas_to_dirs, request)


def test_a_directory_that_is_offline_at_the_start_leads_nothing(
    restarted: ControllerWorld,
) -> None:
    for name in ("alone", "unsafe"):
        partition = restarted.partition(name)
        assert (partition.leader, partition.isr) == (NO_LEADER, (1,))
    assert restarted.partition("unassigned").leader == 1
    assert restarted.partition("both").leader == 2


def test_the_directory_comes_back_at_the_next_start(restarted: ControllerWorld) -> None:
    restarted.fail_over()
    restarted.register(1, log_dirs=[FIRST, SECOND], incarnation_id=b"3" * 16)
    restarted.heartbeat(1)
    for name in ("alone", "unsafe", "unassigned"):
        assert restarted.partition(name).leader == 1, name


def test_a_log_that_was_moved_out_of_the_offline_directory_is_led(
    restarted: ControllerWorld,
) -> None:
    assign(restarted, "alone", FIRST)
    partition = restarted.partition("alone")
    assert (partition.leader, partition.directories) == (1, (FIRST,))


def test_a_directory_that_fails_with_the_heartbeat_that_unfences() -> None:
    world = ControllerWorld()
    world.register(1, log_dirs=[FIRST, SECOND])
    world.heartbeat(1)
    world.create(topic("alone", assignments={0: [1]}))
    assign(world, "alone", SECOND)
    world.fail_over()
    world.register(1, log_dirs=[FIRST, SECOND], incarnation_id=b"2" * 16)
    assert world.partition("alone").leader == NO_LEADER
    world.heartbeat(1, offline_log_dirs=[SECOND])
    assert world.partition("alone").leader == NO_LEADER
    assert not world.image.brokers[1].fenced


def test_the_preferred_leader_needs_an_online_directory() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    world.heartbeat(1, offline_log_dirs=[directory_of(1)])
    assert world.partition("t").leader == 2

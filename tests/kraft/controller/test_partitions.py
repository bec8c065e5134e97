"""Elections: who leads when brokers come and go."""

from __future__ import annotations

import pytest

from pykbroker.kraft.controller.partitions import (
    ONLINE,
    PREFERRED,
    UNCLEAN,
    change_partition,
    elect_leader,
)
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage
from tests.kraft.controller.controller_world import ControllerWorld, topic


def image(
    leader: int, isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3)
) -> PartitionImage:
    return PartitionImage(replicas, (b"d" * 16,) * len(replicas), isr, leader)


@pytest.mark.parametrize(
    ("leader", "isr", "alive", "election", "expected"),
    [
        (2, (1, 2), {1, 2, 3}, ONLINE, (2, False)),  # the leader stays
        (2, (1, 2), {1, 2, 3}, PREFERRED, (1, False)),
        (2, (2, 3), {2, 3}, PREFERRED, (2, False)),  # the preferred one is not in sync
        (2, (1, 2), {1, 3}, ONLINE, (1, False)),
        (2, (2,), {1, 3}, ONLINE, (NO_LEADER, False)),
        (2, (2,), {1, 3}, UNCLEAN, (1, True)),
        (2, (2,), set(), UNCLEAN, (NO_LEADER, False)),
        (NO_LEADER, (3,), {1, 2, 3}, ONLINE, (3, False)),
    ],
)
def test_elections(
    leader: int,
    isr: tuple[int, ...],
    alive: set[int],
    election: str,
    expected: tuple[int, bool],
) -> None:
    assert elect_leader(image(leader, isr), isr, election, alive.__contains__) == expected


def change(partition: PartitionImage, isr: tuple[int, ...], alive: set[int], level: int = 33):
    return change_partition(
        b"t" * 16,
        0,
        partition,
        isr=isr,
        acceptable=alive.__contains__,
        metadata_version=level,
        election=ONLINE,
    )


def test_no_record_when_nothing_changes() -> None:
    assert change(image(1, (1, 2)), (1, 2), {1, 2}) is None


def test_the_last_in_sync_replica_stays_in_the_set() -> None:
    record = change(image(1, (1,)), (), {2})
    assert record is not None
    assert (record.message.leader, record.message.isr) == (NO_LEADER, None)


def test_a_shrink_raises_the_epoch_only_before_3_6() -> None:
    record = change(image(1, (1, 2)), (1,), {1})
    assert record is not None
    assert (record.message.leader, record.message.isr) == (-2, [1])
    record = change(image(1, (1, 2)), (1,), {1}, level=8)
    assert record is not None
    assert (record.message.leader, record.message.isr, record.version) == (1, [1], 0)


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

"""Loading very many groups holds the event loop no longer than loading a few."""

from __future__ import annotations

import heapq

import pytest

from pykbroker.coordinator import loading_driver, shard_loader
from pykbroker.coordinator.batches import decision_batch
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.coordinator.group.records import group_metadata_record
from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.decision import CoordinatorRecord
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from tests.coordinator.group_world import CODEC, GroupWorld
from tests.harness.breathing import breathing_slices
from tests.harness.stretches import StepCounter

FEW, MANY = 300, 1200
IN_BATCH = 100
BREATHS = 4


class LoadingWorld(GroupWorld):
    """A coordinator that has not yet loaded the groups of its log."""

    def __init__(self, groups: int, members: int) -> None:
        super().__init__()
        records = [group_record(f"group-{number}", members) for number in range(groups)]
        for first in range(0, groups, IN_BATCH):
            some = records[first : first + IN_BATCH]
            self.log.append(0, decision_batch(CODEC, ShardDecision(), some, 0, 0), 0, 0)
        self.log.end_turn()
        self.loop._calls.clear()

    def start(self) -> None:
        self.slices = breathing_slices(self.loop, BREATHS)
        self.groups = GroupCoordinator(
            node_id=1,
            settings=self.settings,
            log=self.log,
            scheduler=self.loop,
            clock=self.loop,
            new_uuid=lambda: "",
            slices=self.slices,
        )

    def is_active(self) -> bool:
        """Whether the machine is loaded and free."""
        return self.groups.runtime._hosted[0].state is HostState.ACTIVE

    def longest_turn(self) -> int:
        """The most steps of one turn of the loop until the machine is loaded and free."""
        longest = 0
        counter = StepCounter()  # the one that the thread of a job reports to
        while not self.is_active():
            turn = heapq.heappop(self.loop._calls).callback
            longest = max(longest, counter.steps_of(turn))
            self.log.end_turn()
        return longest


def group_record(group_id: str, members: int) -> CoordinatorRecord:
    """A group that is stable, with members that have long forgotten it."""
    of_group = [
        MemberMetadata(
            member_id=f"member-{number}",
            group_instance_id=None,
            client_id="c",
            client_host="h",
            rebalance_timeout=60_000,
            session_timeout=45_000,
            subscription=b"",
            assignment=b"",
        )
        for number in range(members)
    ]
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader="member-0",
        current_state_timestamp=0,
        members=of_group,
    )
    return group_metadata_record(group_id, value)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading_driver, "SLICE_MS", 0)
    monkeypatch.setattr(shard_loader, "STEP_RECORDS", 5)


def longest_turn(groups: int, members: int) -> int:
    world = LoadingWorld(groups, members)
    world.elect()
    longest = world.longest_turn()
    hosted = world.groups.runtime._hosted[0]
    assert len(world.shard.groups) == groups
    assert len(hosted.timers) == groups * members + 1  # a session of each, and expiry
    world.slices.close()
    return longest


def test_the_longest_turn_does_not_grow_with_the_groups() -> None:
    assert longest_turn(MANY, 1) - longest_turn(FEW, 1) < (MANY - FEW) * 0.5


def test_requests_that_come_meanwhile_wait() -> None:
    world = LoadingWorld(FEW, 1)
    world.elect()
    hosted = world.groups.runtime._hosted[0]
    while hosted.state is HostState.LOADING:
        heapq.heappop(world.loop._calls).callback()
    assert hosted.state is HostState.BUSY
    answer = world.heartbeat(group="group-7", member="member-0", generation=1)
    assert isinstance(answer, Deferred)
    assert not answer.done
    world.longest_turn()
    assert answer.value.error_code == 0
    assert hosted.timers
    world.slices.close()


def test_a_partition_that_is_resigned_meanwhile_starts_nothing() -> None:
    world = LoadingWorld(FEW, 1)
    world.elect()
    hosted = world.groups.runtime._hosted[0]
    while hosted.state is HostState.LOADING:
        heapq.heappop(world.loop._calls).callback()
    answer = world.heartbeat(group="group-7", member="member-0", generation=1)
    world.groups.runtime.on_resigned(0)
    assert answer.value.error_code == ErrorCode.NOT_COORDINATOR
    world.advance(0)
    assert not hosted.timers
    assert hosted.state is HostState.FAILED
    world.slices.close()

"""Long operations whose client disconnects, whose machine is discarded, or which fail."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from pykbroker.coordinator import loading_driver
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.environment import slices
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.types import TopicPartition
from tests.coordinator.group_world import GroupWorld
from tests.coordinator.test_long_turns_driver import ALL, SlicedWorld, long_commit, state, turns


@pytest.fixture(autouse=True)
def _short_lists_breathe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "FEW", 0)


def run_until_busy(world: SlicedWorld) -> None:
    """Calls of the loop one by one, until an operation breathes."""
    while state(world) is not HostState.BUSY:
        turns(world, 1)


def test_a_leader_that_hangs_up_while_its_sync_breathes_loses_no_reply_of_others() -> None:
    world = SlicedWorld(initial_rebalance_delay_ms=3000)
    world.elect()
    for client in ("a", "b"):
        world.join(client, version=3)
    world.advance(9000)
    group = world.group("g")
    leader = group.leader_id
    assert leader is not None
    (follower,) = set(group.members) - {leader}
    waiting = world.sync("f", member=follower, generation=group.generation)
    request = SyncGroupRequest(
        group_id="g",
        generation_id=group.generation,
        member_id=leader,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=member, assignment=b"x")
            for member in group.members
        ],
    )
    gone = False
    world.slices.run("SyncGroup", lambda: world.groups.sync(request), lambda: not gone)
    run_until_busy(world)
    gone = True
    world.advance(0)
    assert state(world) is HostState.ACTIVE
    world.slices.close()
    assert waiting.done


def test_a_first_member_that_hangs_up_while_its_join_breathes_does_not_block_its_group() -> None:
    world = SlicedWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.commit(group="other", offsets="t-0:1")
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    gone = False
    world.slices.run("JoinGroup", lambda: world.groups.join(request, 3, "c", "h"), lambda: not gone)
    run_until_busy(world)
    gone = True
    world.advance(0)
    waiting = world.join("b", version=3)
    for _ in range(30):
        world.advance(1000)
    world.slices.close()
    assert waiting.done
    assert waiting.value.error_code == 0


def test_a_failed_start_makes_no_machine_active_that_is_loaded_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading_driver, "SLICE_MS", 0)
    world = GroupWorld()
    world.elect()
    for number in range(30):
        world.commit(offsets=",".join(f"t-{number}:{n}" for n in range(10)))
    world.groups.runtime.on_resigned(0)
    world.elect(epoch=1)
    assert world.groups.runtime._hosted[0].state is HostState.LOADING
    world.delete_topics("other")  # waits
    sound = GroupShard.loaded
    failed: list[int] = []

    def fails_once(self: GroupShard, now_ms: int) -> Any:
        if not failed:
            failed.append(now_ms)
            raise RuntimeError("a bug")
        return sound(self, now_ms)

    monkeypatch.setattr(GroupShard, "loaded", fails_once)
    while not failed:
        world.loop._calls.sort()
        world.loop._calls.pop(0).callback()
    assert world.fetch().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_a_request_that_waited_and_fails_is_answered_and_so_are_those_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = SlicedWorld()
    world.elect()
    long_commit(world)
    run_until_busy(world)
    sound = GroupShard.fetch_offsets
    calls: list[Any] = []

    def fails_once(self: GroupShard, *arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:
            raise RuntimeError("a bug")
        return sound(self, *arguments)

    monkeypatch.setattr(GroupShard, "fetch_offsets", fails_once)
    first: Any = world.groups.fetch_offsets(ALL, False)
    second: Any = world.groups.fetch_offsets(ALL, False)
    with suppress(RuntimeError):
        world.advance(0)
    world.advance(60_000)
    world.slices.close()
    assert isinstance(first.value, RuntimeError)
    assert second.done
    assert second.value.error_code == 0


def test_an_operation_of_a_machine_that_was_thrown_away_does_not_end_another_ones() -> None:
    world = SlicedWorld()
    world.elect()  # an empty log: a machine that is thrown away is there again at once
    long_commit(world, offset=7)
    second: Any = long_commit(world, offset=8)
    run_until_busy(world)
    world.groups.runtime.on_failed(TopicPartition("__consumer_offsets", 0), 56)
    seen = []
    while not second.done:
        turns(world, 1)
        seen.append(state(world))
    world.advance(0)
    world.slices.close()
    busy = seen[seen.index(HostState.BUSY) : -1]
    assert set(busy) == {HostState.BUSY}

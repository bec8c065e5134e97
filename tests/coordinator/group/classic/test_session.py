"""Sessions: lazy timers, leaving, failing."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.coordinator.group.step import CallerContext
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from tests.coordinator.group_world import GroupWorld


@pytest.fixture
def world() -> GroupWorld:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.join("a", client="a", version=3)
    world.advance(0)
    world.sync("a", member="a-01", generation=1, assign="a-01:all")
    return world


def test_a_heartbeat_starts_no_timer_and_writes_nothing(world: GroupWorld) -> None:
    world.advance(5_000)
    shard: GroupShard = world.shard
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="a-01")
    decision = shard.heartbeat(request, CallerContext(version=4), 1, world.loop.now_ms())
    assert decision.reply.error_code == 0
    assert (decision.records, decision.replies, decision.timers) == ([], [], [])


def test_the_session_lasts_from_the_last_heartbeat(world: GroupWorld) -> None:
    for _ in range(5):
        world.advance(9_999)
        assert world.heartbeat(member="a-01", generation=1).error_code == 0
    world.advance(9_999)
    assert world.group("g").state is GroupState.STABLE
    world.advance(1)
    assert world.group("g").state is GroupState.EMPTY


def test_a_shorter_session_counts_from_the_next_join_on(world: GroupWorld) -> None:
    world.join(member="a-01", version=3, session=6_000)
    world.sync(member="a-01", generation=2)
    world.advance(6_000)
    assert world.group("g").state is GroupState.EMPTY


def test_leaving_answers_what_the_member_waits_for(world: GroupWorld) -> None:
    waiting = world.join("b", client="b", version=3)
    world.leave(members="b-02")
    assert waiting.value.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_new_member_that_gave_up_is_out_after_five_minutes(world: GroupWorld) -> None:
    world.leave(members="a-01")
    world.join("first", client="x", version=3, rebalance=2**31 - 1)
    world.advance(0)
    # A rebalance that cannot end: the only other member is pending for longer.
    world.sync(member="x-02", generation=3)
    gone = world.join("gone", client="y", version=3, rebalance=2**31 - 1)
    for _ in range(60):
        world.advance(5_000)
        world.heartbeat(member="x-02", generation=3)
    assert gone.value.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert list(world.group("g").members) == ["x-02"]


def test_a_batch_of_leaves_causes_one_rebalance(world: GroupWorld) -> None:
    world.join("b", client="b", version=3)
    world.join("c", client="c", version=3)
    world.join("a", member="a-01", version=3)
    world.sync("a", member="a-01", generation=2)
    reply = world.leave(members="b-02,ghost,c-03")
    assert [m.error_code for m in reply.members] == [0, int(ErrorCode.UNKNOWN_MEMBER_ID), 0]
    assert world.group("g").state is GroupState.PREPARING_REBALANCE
    assert list(world.group("g").members) == ["a-01"]


def test_a_leave_of_nobody_changes_nothing(world: GroupWorld) -> None:
    reply = world.leave(members="ghost,/ghost")
    assert all(m.error_code == ErrorCode.UNKNOWN_MEMBER_ID for m in reply.members)
    assert world.group("g").state is GroupState.STABLE

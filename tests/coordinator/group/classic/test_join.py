"""JoinGroup: version differences and corner cases that the scripts do not show."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from tests.coordinator.group_world import GroupWorld


@pytest.fixture
def world() -> GroupWorld:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    return world


@pytest.mark.parametrize("version", range(10))
def test_member_id_required_from_version_4_on(world: GroupWorld, version: int) -> None:
    reply = world.join(version=version)
    if version >= 4:
        assert reply.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert reply.member_id == "c-01"
        assert reply.protocol_name == (None if version >= 7 else "")
        assert list(world.group("g").pending_members) == ["c-01"]
    else:
        assert isinstance(reply, Deferred)
        assert world.group("g").members["c-01"].is_new


def test_a_pending_member_must_not_turn_static(world: GroupWorld) -> None:
    world.join()
    reply = world.join(member="c-01", instance="i")
    assert reply.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_pending_members_hold_the_join_phase_open(world: GroupWorld) -> None:
    world.join(version=3)
    world.advance(0)
    world.sync(member="c-01", generation=1)
    world.join("p", client="p")  # pending, does not start a rebalance
    assert world.group("g").state is GroupState.STABLE
    waiting = world.join("a", member="c-01", version=3)
    assert not waiting.done
    world.leave(members="p-02")
    assert waiting.value.generation_id == 2


def test_a_retried_join_ends_the_first_one(world: GroupWorld) -> None:
    world.join(version=3)
    world.advance(0)
    world.sync(member="c-01", generation=1)
    world.join("b", client="b", version=3)
    first = world.join("b again", member="b-02", version=3)
    second = world.join("b again", member="b-02", version=3)
    assert first.value.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert not second.done
    assert world.group("g").awaiting_join_count == 1


def test_rejoining_with_other_protocols_restarts_a_completing_rebalance(world: GroupWorld) -> None:
    world.join(version=3)
    world.advance(0)
    same = world.join(member="c-01", version=3)
    assert (same.error_code, same.generation_id) == (0, 1)
    other = world.join(member="c-01", version=3, topics="t+u")
    assert (other.error_code, other.generation_id) == (0, 2)


def test_a_follower_with_other_protocols_starts_a_rebalance(world: GroupWorld) -> None:
    world.join("a", client="a", version=3)
    world.advance(0)
    world.join("b", client="b", version=3)
    world.join("a", member="a-01", version=3)
    world.sync(member="a-01", generation=2)
    same = world.join("b", member="b-02", version=3)
    assert same.generation_id == 2
    other = world.join("b", member="b-02", version=3, topics="u")
    assert isinstance(other, Deferred)
    assert world.group("g").state is GroupState.PREPARING_REBALANCE


def test_the_static_leader_is_told_to_skip_from_version_9_on(world: GroupWorld) -> None:
    world.join(instance="i", version=9)
    world.advance(0)
    world.sync(member="i-01", generation=1, instance="i", assign="i-01:all")
    reply = world.join(instance="i", version=9)
    assert (reply.leader, reply.skip_assignment) == ("i-02", True)
    assert [m.member_id for m in reply.members] == ["i-02"]
    reply = world.join(instance="i", version=8)
    assert (reply.leader, reply.skip_assignment, reply.members) == ("i-02", False, [])
    assert world.group("g").leader_id == "i-03"


def test_a_static_member_that_changes_the_protocol_causes_a_rebalance(world: GroupWorld) -> None:
    world.join(instance="i", protocols="range")
    world.advance(0)
    world.sync(member="i-01", generation=1, instance="i", assign="i-01:all")
    reply = world.join(instance="i", protocols="sticky,range")
    assert (reply.generation_id, reply.protocol_name) == (2, "sticky")


def test_a_refused_replacement_gives_the_old_member_its_place_back(world: GroupWorld) -> None:
    world.join(instance="i")
    world.advance(0)
    world.sync(member="i-01", generation=1, instance="i", assign="i-01:all")
    world.log.refuse_with = int(ErrorCode.NOT_ENOUGH_REPLICAS)
    reply = world.join(instance="i", topics="u", session=20_000)
    assert reply.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    group = world.group("g")
    assert group.static_members == {"i": "i-01"}
    assert group.members["i-01"].session_timeout_ms == 10_000
    assert world.heartbeat(member="i-01", instance="i", generation=1).error_code == 0
    world.advance(9_999)
    assert world.heartbeat(member="i-01", instance="i", generation=1).error_code == 0


def test_a_static_member_restarting_in_a_completing_rebalance_restarts_it(
    world: GroupWorld,
) -> None:
    world.join("a", client="a", version=3)
    world.advance(0)
    world.join("s", instance="i")
    world.join("a", member="a-01", version=3)
    synced = world.sync("s", member="i-02", instance="i", generation=2)
    waiting = world.join("s", instance="i")
    assert synced.value.error_code == ErrorCode.FENCED_INSTANCE_ID
    assert not waiting.done
    world.join("a", member="a-01", version=3)
    assert (waiting.value.error_code, waiting.value.generation_id) == (0, 3)


def test_the_last_to_rejoin_are_out_when_the_limit_was_lowered(world: GroupWorld) -> None:
    world.join("a", client="a", version=3)
    world.advance(0)
    world.join("b", client="b", version=3)
    world.join("a", member="a-01", version=3)
    world.sync(member="a-01", generation=2)
    world.sync("b", member="b-02", generation=2)
    world.settings = type(world.settings)(
        num_partitions=1, initial_rebalance_delay_ms=0, max_size=1
    )
    world.restart()
    assert world.group("g").state is GroupState.PREPARING_REBALANCE  # over the limit when loaded
    kept = world.join("b", member="b-02", version=3)
    refused = world.join("a", member="a-01", version=3)
    assert refused.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert not kept.done
    assert list(world.group("g").members) == ["b-02"]

"""The state table, row by row, against the machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.states import RULES, GroupState, SyncAnswer
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from tests.coordinator.group_world import GroupWorld

STATES = list(GroupState)


def world_in(state: GroupState) -> tuple[GroupWorld, str, int]:
    """A world whose group "g" is in `state`; a member of it and its generation.

    The member is one that left where the state has no members.
    """
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    if state is GroupState.DEAD:
        return world, "c-01", 1
    world.join(version=3)
    world.advance(0)
    member, generation = "c-01", 1
    if state is GroupState.COMPLETING_REBALANCE:
        return world, member, generation
    world.sync(member=member, generation=generation, assign=f"{member}:all")
    if state is GroupState.PREPARING_REBALANCE:
        world.join("other", version=3)
    elif state is GroupState.EMPTY:
        world.leave(members=member)
    assert world.group("g").state is state
    return world, member, generation


@pytest.mark.parametrize("state", STATES)
def test_heartbeat(state: GroupState) -> None:
    world, member, generation = world_in(state)
    reply = world.heartbeat(member=member, generation=generation)
    assert reply.error_code == RULES[state].heartbeat


@pytest.mark.parametrize("state", STATES)
def test_sync(state: GroupState) -> None:
    world, member, generation = world_in(state)
    if state is GroupState.COMPLETING_REBALANCE:
        # A follower of the same generation parks; the leader's own request is tested in scripts.
        world.join("second", version=3)
        world.join(member=member, version=3)
        reply = world.sync(member="c-02", generation=2)
        assert isinstance(reply, Deferred)
        assert RULES[state].sync is SyncAnswer.PARK
        return
    reply = world.sync(member=member, generation=generation)
    if RULES[state].sync is SyncAnswer.ASSIGNMENT:
        assert (reply.error_code, reply.assignment) == (0, b"all")
    else:
        assert reply.error_code == RULES[state].sync


@pytest.mark.parametrize("state", STATES)
def test_member_commit(state: GroupState) -> None:
    world, member, generation = world_in(state)
    reply = world.commit(member=member, generation=generation)
    code = reply.topics[0].partitions[0].error_code
    if state is GroupState.EMPTY:
        # Nobody has passed the member check there; a generation of its own is of an older time.
        assert code == ErrorCode.UNKNOWN_MEMBER_ID
    else:
        assert code == RULES[state].member_commit


@pytest.mark.parametrize("state", STATES)
def test_simple_commit(state: GroupState) -> None:
    world, _, _ = world_in(state)
    reply = world.commit()
    assert reply.topics[0].partitions[0].error_code == RULES[state].simple_commit


@pytest.mark.parametrize("state", [GroupState.STABLE, GroupState.PREPARING_REBALANCE])
def test_a_commit_extends_the_session(state: GroupState) -> None:
    world, member, generation = world_in(state)
    before = world.group("g").members[member].session_deadline_ms
    world.advance(1000)
    world.commit(member=member, generation=generation)
    after = world.group("g").members[member].session_deadline_ms
    assert RULES[state].extends_session
    assert after == before + 1000


@pytest.mark.parametrize("state", STATES)
def test_delete_group(state: GroupState) -> None:
    world, _, _ = world_in(state)
    (result,) = world.delete_groups()
    assert result.error_code == RULES[state].delete_group
    assert ("g" in world.shard.groups) == bool(result.error_code and state is not GroupState.DEAD)


@pytest.mark.parametrize("state", STATES)
def test_offset_delete_of_another_protocol_type(state: GroupState) -> None:
    world, _, _ = world_in(state)
    if state is not GroupState.DEAD:
        world.group("g").protocol_type = "connect"
        world.group("g").subscribed_topics = None
    reply = world.delete_offsets(topics="t-0")
    assert reply.error_code == RULES[state].offset_delete


@pytest.mark.parametrize("state", STATES)
def test_describe(state: GroupState) -> None:
    world, _, _ = world_in(state)
    (group,) = world.describe()
    assert group.group_state == state.value
    assert bool(group.protocol_data) == RULES[state].shows_protocol
    if group.members:
        assert bool(group.members[0].member_metadata) == RULES[state].shows_protocol


@pytest.mark.parametrize("state", [s for s in STATES if s is not GroupState.DEAD])
def test_a_new_member_starts_a_rebalance_or_waits_in_it(state: GroupState) -> None:
    world, _, _ = world_in(state)
    reply = world.join("late", client="late", version=3)
    assert isinstance(reply, Deferred)
    assert world.group("g").state is GroupState.PREPARING_REBALANCE
    leads = [target for _, target in RULES[state].leads_to]
    assert RULES[state].can_rebalance == (GroupState.PREPARING_REBALANCE in leads)


@pytest.mark.parametrize("state", STATES)
def test_transitions_outside_of_the_table_are_bugs(state: GroupState) -> None:
    allowed = {target for _, target in RULES[state].leads_to}
    for target in STATES:
        group = ClassicGroup("g", 0)
        group.state = state
        if target in allowed:
            group.transition(target, 5)
            assert (group.state, group.previous_state) == (target, state)
            assert group.state_timestamp_ms == 5
        else:
            with pytest.raises(RuntimeError, match="does not lead to"):
                group.transition(target, 5)


LEADS: dict[tuple[GroupState, GroupState], Callable[[GroupWorld, str], object]] = {
    (GroupState.EMPTY, GroupState.PREPARING_REBALANCE): lambda w, m: w.join(version=3),
    (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE): lambda w, m: w.join(
        member=m, version=3
    ),
    (GroupState.PREPARING_REBALANCE, GroupState.EMPTY): lambda w, m: w.leave(members=f"{m},c-02"),
    (GroupState.COMPLETING_REBALANCE, GroupState.STABLE): lambda w, m: w.sync(
        member=m, generation=1
    ),
    (GroupState.COMPLETING_REBALANCE, GroupState.PREPARING_REBALANCE): lambda w, m: w.join(
        version=3
    ),
    (GroupState.STABLE, GroupState.PREPARING_REBALANCE): lambda w, m: w.join(version=3),
}


@pytest.mark.parametrize("edge", LEADS, ids=lambda edge: f"{edge[0].name}-{edge[1].name}")
def test_what_leads_out(edge: tuple[GroupState, GroupState]) -> None:
    state, target = edge
    world, member, _ = world_in(state)
    LEADS[edge](world, member)
    assert world.group("g").state is target
    assert target in [to for _, to in RULES[state].leads_to]

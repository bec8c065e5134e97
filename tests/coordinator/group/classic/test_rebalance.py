"""The rebalance, one step at a time: all effects of each event."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.classic import rebalance
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import NO_TIMER, ClassicMember
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.step import Step
from pykbroker.decision import CancelTimer, StartTimer
from pykbroker.errors import ErrorCode

SETTINGS = GroupSettings(initial_rebalance_delay_ms=3_000)
JOIN, SYNC = ("join", "g"), ("sync", "g")


def group_of(*names: str, state: GroupState = GroupState.STABLE) -> ClassicGroup:
    group = ClassicGroup("g", 0)
    for name in names:
        group.add(
            ClassicMember(
                member_id=name,
                group_instance_id=f"i-{name}" if name.startswith("s") else None,
                client_id="c",
                client_host="/h",
                rebalance_timeout_ms=20_000,
                session_timeout_ms=10_000,
                protocol_type="connect",
                protocols=(("p", name.encode()),),
                assignment=b"old",
            )
        )
    group.state = state
    group.previous_state = GroupState.STABLE
    return group


def test_the_first_rebalance_waits_for_others() -> None:
    group = group_of("a", state=GroupState.EMPTY)
    step = Step(SETTINGS, 100)
    rebalance.prepare(step, group, "why")
    assert group.state is GroupState.PREPARING_REBALANCE
    assert step.decision.timers == [CancelTimer(SYNC), StartTimer(JOIN, 3_100)]
    assert group.initial_remaining_ms == 17_000


@pytest.mark.parametrize(
    ("elapsed", "delays"), [(True, [3_000, 3_000, 3_000, 3_000, 3_000, 2_000]), (False, [])]
)
def test_and_goes_on_while_members_come(elapsed: bool, delays: list[int]) -> None:
    group = group_of("a", state=GroupState.EMPTY)
    rebalance.prepare(Step(SETTINGS, 0), group, "why")
    group.park_join(group.members["a"], "caller")
    now, seen = 3_000, []
    while group.state is GroupState.PREPARING_REBALANCE:
        group.new_member_added = elapsed
        step = Step(SETTINGS, now)
        rebalance.join_timer_expired(step, group)
        for timer in step.decision.timers:
            if isinstance(timer, StartTimer) and timer.key == JOIN:
                seen.append(timer.deadline_ms - now)
                now = timer.deadline_ms
    assert seen == delays
    assert now == 3_000 + sum(delays)  # with new members: the rebalance timeout in all


def test_later_ones_wait_for_the_members() -> None:
    group = group_of("a", "b")
    step = Step(SETTINGS, 100)
    rebalance.prepare(step, group, "why")
    assert step.decision.timers == [CancelTimer(SYNC), StartTimer(JOIN, 20_100)]
    assert [m.assignment for m in group.members.values()] == [b"old", b"old"]


def test_the_end_of_the_join_phase() -> None:
    group = group_of("a", "late", "s", state=GroupState.PREPARING_REBALANCE)
    group.park_join(group.members["a"], "caller a")
    group.members["late"].timer_deadline_ms = 5
    step = Step(SETTINGS, 100)
    rebalance.complete_join(step, group)
    assert (group.state, group.generation) == (GroupState.COMPLETING_REBALANCE, 1)
    assert list(group.members) == ["a", "s"]  # the static member stays
    ((caller, reply),) = step.decision.replies
    assert caller == "caller a"
    assert [(m.member_id, m.metadata) for m in reply.members] == [("a", b"a"), ("s", b"s")]
    assert (reply.protocol_type, reply.protocol_name, reply.leader) == ("connect", "p", "a")
    assert step.decision.timers == [
        CancelTimer(JOIN),
        CancelTimer(("session", "g", "late")),
        StartTimer(("session", "g", "a"), 10_100),
        StartTimer(("session", "g", "s"), 10_100),
        StartTimer(SYNC, 20_100),
    ]
    assert group.pending_sync == {"a", "s"}
    assert step.decision.records == []


def test_nobody_joined_and_only_static_members_are_left() -> None:
    group = group_of("s", state=GroupState.PREPARING_REBALANCE)
    step = Step(SETTINGS, 100)
    rebalance.complete_join(step, group)
    assert group.state is GroupState.PREPARING_REBALANCE
    assert step.decision.timers == [CancelTimer(JOIN), StartTimer(JOIN, 20_100)]


def test_nobody_is_left() -> None:
    group = group_of(state=GroupState.PREPARING_REBALANCE)
    group.generation = 6
    step = Step(SETTINGS, 100)
    rebalance.complete_join(step, group)
    (record,) = step.decision.records
    assert record.value is not None
    assert (record.value.generation, record.value.members, record.value.protocol) == (7, [], None)
    assert record.value.current_state_timestamp == 100
    assert record.value_version == 3
    assert group.state is GroupState.EMPTY


def test_a_rebalance_sends_those_who_sync_back_to_join() -> None:
    group = group_of("a", "b", state=GroupState.COMPLETING_REBALANCE)
    group.members["b"].awaiting_sync = "caller b"
    step = Step(SETTINGS, 100)
    rebalance.prepare(step, group, "why")
    ((caller, reply),) = step.decision.replies
    assert (caller, reply.error_code) == ("caller b", ErrorCode.REBALANCE_IN_PROGRESS)
    assert [m.assignment for m in group.members.values()] == [b"", b""]


@pytest.mark.parametrize(
    "state", [GroupState.EMPTY, GroupState.STABLE, GroupState.COMPLETING_REBALANCE]
)
def test_a_join_timer_in_another_state_is_late(state: GroupState) -> None:
    group = group_of("a", state=state)
    step = Step(SETTINGS, 100)
    rebalance.join_timer_expired(step, group)
    assert (step.decision.timers, step.decision.replies, group.state) == ([], [], state)


@pytest.mark.parametrize("state", [GroupState.EMPTY, GroupState.PREPARING_REBALANCE])
def test_a_sync_timer_in_another_state_is_late(state: GroupState) -> None:
    group = group_of("a", state=state)
    group.pending_sync = {"a"}
    step = Step(SETTINGS, 100)
    rebalance.sync_timer_expired(step, group)
    assert (step.decision.timers, list(group.members)) == ([], ["a"])


def test_a_session_timer_is_started_anew_only_when_it_would_fire_too_late() -> None:
    group = group_of("a")
    member = group.members["a"]
    starts = []
    for now, timeout in ((0, 10_000), (5_000, 10_000), (6_000, 3_000), (7_000, None)):
        step = Step(SETTINGS, now)
        rebalance.restart_session(step, group, member, timeout)
        starts.append([timer.deadline_ms for timer in step.decision.timers])  # type: ignore[union-attr]
    assert starts == [[10_000], [], [9_000], []]
    assert (member.session_deadline_ms, member.timer_deadline_ms) == (17_000, 9_000)
    rebalance.cancel_session(Step(SETTINGS, 0), group, member)
    assert member.timer_deadline_ms == NO_TIMER

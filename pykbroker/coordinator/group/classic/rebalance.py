"""The rebalance: preparing it, ending its join phase, distributing assignments, its timers.

    prepare ---- initial (Empty): waits group.initial.rebalance.delay.ms, again while new members
       |          keep coming, up to the rebalance timeout of the first one
       |-------- otherwise: until all members and pending ones joined, or the rebalance timeout
       v
    complete_join: members that did not join are out (static ones stay; if none of them has joined,
       |          the wait begins again), the leader is one that joined, the generation starts;
       |          JoinGroup replies leave; pending-sync timer starts. Without members: Empty
       v
    sync.py

Timer keys: ("join", group), ("sync", group), ("session", group, member).
Source: Kafka's `GroupMetadataManager.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import EMPTY_ASSIGNMENT, NO_TIMER, ClassicMember
from pykbroker.coordinator.group.classic.replies import (
    join_error,
    join_success,
    sync_error,
    sync_success,
)
from pykbroker.coordinator.group.classic.states import RULES, GroupState
from pykbroker.coordinator.group.records import group_metadata_record
from pykbroker.coordinator.group.step import Step
from pykbroker.decision import CancelTimer, StartTimer
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.join_group_response import JoinGroupResponse
from pykbroker.protocol.messages.sync_group_response import SyncGroupResponse

_log = logging.getLogger("pykbroker.coordinator.group")

JOIN = "join"
SYNC = "sync"
SESSION = "session"


def restart_session(
    step: Step, group: ClassicGroup, member: ClassicMember, timeout_ms: int | None = None
) -> None:
    """Restart the member's session: it ends `timeout_ms` (its session time-out) from now.

    A running timer is kept unless it would fire too late; see `session.expire_session`.
    """
    deadline = step.now_ms + (member.session_timeout_ms if timeout_ms is None else timeout_ms)
    member.session_deadline_ms = deadline
    if deadline < member.timer_deadline_ms:
        member.timer_deadline_ms = deadline
        key = (SESSION, group.group_id, member.member_id)
        step.decision.timers.append(StartTimer(key, deadline))


def cancel_session(step: Step, group: ClassicGroup, member: ClassicMember) -> None:
    """Cancel the session of a member that is removed or replaced."""
    member.timer_deadline_ms = NO_TIMER
    step.decision.timers.append(CancelTimer((SESSION, group.group_id, member.member_id)))


def answer_join(
    step: Step, group: ClassicGroup, member: ClassicMember, reply: JoinGroupResponse
) -> None:
    """Answer the parked JoinGroup of a member, if there is one."""
    caller = member.awaiting_join
    if caller is not None:
        group.park_join(member, None)
        step.decision.replies.append((caller, reply))


def answer_sync(step: Step, member: ClassicMember, reply: SyncGroupResponse) -> bool:
    """Answer the parked SyncGroup of a member; return False if there is none."""
    caller = member.awaiting_sync
    if caller is None:
        return False
    member.awaiting_sync = None
    step.decision.replies.append((caller, reply))
    return True


def park_join(
    step: Step, group: ClassicGroup, member: ClassicMember, caller: Hashable, version: int
) -> None:
    """Park a JoinGroup; an earlier parked one of the member (which has retried) is answered."""
    displaced = member.awaiting_join
    if displaced is not None:
        reply = join_error(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id, member.join_version)
        step.decision.replies.append((displaced, reply))
    group.park_join(member, caller)
    member.join_version = version


def remove_with_answer(step: Step, group: ClassicGroup, member: ClassicMember) -> None:
    """Remove a member that left or failed. Its parked requests receive UNKNOWN_MEMBER_ID, so that a
    client that is still alive rejoins.
    """
    answer_join(
        step, group, member, join_error(ErrorCode.UNKNOWN_MEMBER_ID, "", member.join_version)
    )
    answer_sync(step, member, sync_error(ErrorCode.UNKNOWN_MEMBER_ID))
    cancel_session(step, group, member)
    group.remove(member.member_id)


def rebalance_or_complete(step: Step, group: ClassicGroup, reason: str) -> None:
    """Start a rebalance after a membership change, or check whether the running one can proceed."""
    if RULES[group.state].can_rebalance:
        prepare(step, group, reason)
    else:
        maybe_complete_join(step, group)


def prepare(step: Step, group: ClassicGroup, reason: str) -> None:
    """Start a rebalance. Members that wait for an assignment must rejoin.

    `reason` is logged, because operators often ask why a group rebalances.
    """
    _log.info(
        "group %s: rebalance after generation %d: %s", group.group_id, group.generation, reason
    )
    if group.state is GroupState.COMPLETING_REBALANCE:
        fail_syncs(step, group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_sync.clear()
    step.decision.timers.append(CancelTimer((SYNC, group.group_id)))
    initial = group.state is GroupState.EMPTY
    group.transition(GroupState.PREPARING_REBALANCE, step.now_ms)
    if initial:
        delay = step.settings.initial_rebalance_delay_ms
        group.new_member_added = False
        group.initial_delay_ms = delay
        group.initial_remaining_ms = max(group.rebalance_timeout_ms - delay, 0)
        _start_join_timer(step, group, delay)
    elif group.all_joined:
        complete_join(step, group)
    else:
        _start_join_timer(step, group, group.rebalance_timeout_ms)


def maybe_complete_join(step: Step, group: ClassicGroup) -> None:
    """End the join phase if all members have joined. The initial rebalance waits for its timer."""
    if (
        group.state is GroupState.PREPARING_REBALANCE
        and group.previous_state is not GroupState.EMPTY
        and group.all_joined
    ):
        complete_join(step, group)


def join_timer_expired(step: Step, group: ClassicGroup) -> None:
    """End the join phase, because its time is up. One that began in Empty is extended instead, as
    long as members have been added since, up to the rebalance timeout.
    """
    if group.state is not GroupState.PREPARING_REBALANCE:
        return
    remaining = group.initial_remaining_ms
    initial = group.previous_state is GroupState.EMPTY
    if initial and group.new_member_added and remaining != 0:
        group.new_member_added = False
        delay = min(step.settings.initial_rebalance_delay_ms, remaining)
        group.initial_remaining_ms = max(remaining - group.initial_delay_ms, 0)
        group.initial_delay_ms = delay
        _start_join_timer(step, group, delay)
    else:
        complete_join(step, group)


def complete_join(step: Step, group: ClassicGroup) -> None:
    """End the join phase with the members that have joined; dynamic ones that have not are removed.
    If only static members are left and none has joined, wait for another rebalance timeout.
    """
    step.decision.timers.append(CancelTimer((JOIN, group.group_id)))
    for member in list(group.members.values()):
        if member.awaiting_join is None and member.group_instance_id is None:
            cancel_session(step, group, member)
            group.remove(member.member_id)
    if not group.elect_joined_leader() and group.members:
        # Only static members, and none of them has joined: retry until their sessions expire.
        _start_join_timer(step, group, group.rebalance_timeout_ms)
        return
    group.start_generation(step.now_ms)
    _log.info(
        "group %s: generation %d with %d members",
        group.group_id,
        group.generation,
        len(group.members),
    )
    if group.state is GroupState.EMPTY:
        value = group.to_record_value()
        step.decision.records.append(group_metadata_record(group.group_id, value))
        return
    for member in group.members.values():
        answer_join(step, group, member, join_success(group, member))
        member.is_new = False
        restart_session(step, group, member)
        group.pending_sync.add(member.member_id)
    deadline = step.now_ms + group.rebalance_timeout_ms
    step.decision.timers.append(StartTimer((SYNC, group.group_id), deadline))


def sync_timer_expired(step: Step, group: ClassicGroup) -> None:
    """Remove members that joined but never synced, and rebalance (KAFKA-12890)."""
    if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        return
    if not group.pending_sync:
        return
    silent = sorted(group.pending_sync)
    for member_id in silent:
        member = group.members.get(member_id)
        if member is not None:
            remove_with_answer(step, group, member)
    prepare(step, group, f"no SyncGroup was received from {', '.join(silent)}")


def sync_received(step: Step, group: ClassicGroup, member_id: str) -> None:
    """One member less to wait for."""
    group.pending_sync.discard(member_id)
    if not group.pending_sync:
        step.decision.timers.append(CancelTimer((SYNC, group.group_id)))


def hand_out(step: Step, group: ClassicGroup, assignments: dict[str, bytes]) -> None:
    """Answer every parked SyncGroup with its assignment and restart those sessions."""
    for member in group.members.values():
        assignment = assignments.get(member.member_id, EMPTY_ASSIGNMENT)
        if answer_sync(step, member, sync_success(group, assignment)):
            restart_session(step, group, member)


def fail_syncs(step: Step, group: ClassicGroup, code: int) -> None:
    """Answer every parked SyncGroup with an error; the old assignments are void."""
    for member in group.members.values():
        member.assignment = EMPTY_ASSIGNMENT
        if answer_sync(step, member, sync_error(code)):
            restart_session(step, group, member)


def restart_after_refusal(step: Step, group: ClassicGroup, generation: int) -> ShardDecision:
    """The record of a new generation was not taken: rebalance again."""
    if group.state is GroupState.COMPLETING_REBALANCE and group.generation == generation:
        prepare(step, group, f"generation {generation} could not be written")
    return step.decision


def _start_join_timer(step: Step, group: ClassicGroup, delay_ms: int) -> None:
    step.decision.timers.append(StartTimer((JOIN, group.group_id), step.now_ms + delay_ms))

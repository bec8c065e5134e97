"""JoinGroup on an existing group object: whether the member may join, and what follows.

    first             no room: GROUP_MAX_SIZE_REACHED; no protocol in common with the members:
                      INCONSISTENT_GROUP_PROTOCOL; else:
    no member id ---- group.instance.id known -> replaces that static member (fences the old one)
         |            group.instance.id new ---> joins
         |            dynamic, version >= 4 ---> MEMBER_ID_REQUIRED, id is pending (KIP-394)
         |            dynamic, version < 4 ----> joins
    member id ------- pending -----------------> joins; with an instance id: UNKNOWN_SERVER_ERROR
                      no member ---------------> UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID
                      member: rejoins; what it starts depends on the state:
                        PreparingRebalance   parked
                        CompletingRebalance  same protocols: current generation; else rebalance
                        Stable               leader or new protocols: rebalance; else generation
                        Empty                UNKNOWN_MEMBER_ID

In:  the request, the caller's id. Out: `step.decision` (the reply, or the caller is parked).
Source: Kafka's `GroupMetadataManager.classicGroupJoinToClassicGroup`.
"""

from __future__ import annotations

from collections.abc import Hashable

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import ClassicMember
from pykbroker.coordinator.group.classic.rebalance import (
    SESSION,
    answer_join,
    answer_sync,
    cancel_session,
    maybe_complete_join,
    park_join,
    prepare,
    rebalance_or_complete,
    restart_session,
)
from pykbroker.coordinator.group.classic.replies import join_error, join_success, sync_error
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.records import group_metadata_record
from pykbroker.coordinator.group.step import CallerContext, Step
from pykbroker.decision import StartTimer
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.join_group_request import JoinGroupRequest

MEMBER_ID_REQUIRED_FROM = 4
SKIP_ASSIGNMENT_FROM = 9
MAX_REASON_CHARACTERS = 255

Protocols = tuple[tuple[str, bytes], ...]


def join(
    step: Step,
    group: ClassicGroup,
    request: JoinGroupRequest,
    context: CallerContext,
    caller: Hashable,
) -> None:
    """Decide one JoinGroup."""
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in request.protocols)
    member_id = request.member_id
    if not _has_room(step, group, member_id):
        member = group.members.get(member_id)
        if member is not None:
            cancel_session(step, group, member)
        group.remove(member_id)
        _refuse(step, context, ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    elif not group.supports(request.protocol_type, [name for name, _ in protocols]):
        _refuse(step, context, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
    elif not member_id:
        _join_unknown(step, group, request, protocols, context, caller)
    elif member_id in group.pending_members:
        if request.group_instance_id is not None:
            # A pending member is never static: Kafka treats it as an illegal state.
            _refuse(step, context, ErrorCode.UNKNOWN_SERVER_ERROR, member_id)
        else:
            _add(step, group, request, protocols, context, caller, member_id)
    else:
        _rejoin(step, group, request, protocols, context, caller)


def _has_room(step: Step, group: ClassicGroup, member_id: str) -> bool:
    """Return whether group.max.size allows another member. While members rejoin, the waiting ones
    count: if the limit was lowered, the last ones to rejoin are rejected.
    """
    limit = step.settings.max_size
    if group.state is GroupState.EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        waits = member is not None and member.awaiting_join is not None
        return waits or group.awaiting_join_count < limit
    return member is not None or len(group.members) < limit


def _join_unknown(
    step: Step,
    group: ClassicGroup,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: CallerContext,
    caller: Hashable,
) -> None:
    instance_id = request.group_instance_id
    if instance_id is not None:
        new_id = f"{instance_id}-{context.fresh_uuid}"
        old_id = group.static_members.get(instance_id)
        if old_id is None:
            _add(step, group, request, protocols, context, caller, new_id)
        else:
            _replace_static(step, group, request, protocols, context, caller, old_id, new_id)
        return
    new_id = f"{context.client_id}-{context.fresh_uuid}"
    if context.version < MEMBER_ID_REQUIRED_FROM:
        _add(step, group, request, protocols, context, caller, new_id)
        return
    deadline = step.now_ms + request.session_timeout_ms
    group.pending_members[new_id] = deadline
    step.decision.timers.append(StartTimer((SESSION, group.group_id, new_id), deadline))
    _refuse(step, context, ErrorCode.MEMBER_ID_REQUIRED, new_id)


def _rejoin(
    step: Step,
    group: ClassicGroup,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: CallerContext,
    caller: Hashable,
) -> None:
    error = group.check_member(request.member_id, request.group_instance_id)
    if error or group.state is GroupState.EMPTY:
        # In an Empty group a member id can only be an outdated one.
        _refuse(step, context, error or ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        return
    member = group.members[request.member_id]
    unchanged = protocols == member.protocols
    if group.state is GroupState.COMPLETING_REBALANCE:
        # Unchanged metadata: the member did not receive its JoinGroup answer.
        repeat = unchanged
    elif group.state is GroupState.STABLE:
        # A leader that rejoins wants a new assignment, for example for new partitions of a topic.
        repeat = unchanged and group.leader_id != member.member_id
    else:
        repeat = False
    if repeat:
        step.decision.reply = join_success(group, member)
        return
    _update(step, group, member, request, protocols, context, caller)
    who = "the leader" if group.leader_id == member.member_id else "member"
    rebalance_or_complete(step, group, f"{who} {member.member_id} joins again{_why(request)}")


def _add(
    step: Step,
    group: ClassicGroup,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: CallerContext,
    caller: Hashable,
    member_id: str,
) -> None:
    """Add a new member and park its request. Its session time-out is the join time-out of new
    members: it cannot send heartbeats yet, and a client that gave up must not stay a member
    forever.
    """
    pending_deadline_ms = group.pending_members.get(member_id)
    member = ClassicMember(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=context.client_id,
        client_host=context.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=protocols,
    )
    member.is_new = True
    if pending_deadline_ms is not None:
        member.timer_deadline_ms = pending_deadline_ms  # that timer keeps running; see session.py
    if group.state is GroupState.PREPARING_REBALANCE and group.previous_state is GroupState.EMPTY:
        group.new_member_added = True
    group.add(member)
    park_join(step, group, member, caller, context.version)
    restart_session(step, group, member, step.settings.new_member_join_timeout_ms)
    rebalance_or_complete(step, group, f"new member {member_id}{_why(request)}")


def _update(
    step: Step,
    group: ClassicGroup,
    member: ClassicMember,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: CallerContext,
    caller: Hashable,
) -> None:
    group.set_protocols(member, protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    park_join(step, group, member, caller, context.version)


def _replace_static(
    step: Step,
    group: ClassicGroup,
    request: JoinGroupRequest,
    protocols: Protocols,
    context: CallerContext,
    caller: Hashable,
    old_id: str,
    new_id: str,
) -> None:
    """Replace a static member that has returned with the same instance id and without its member
    id. Any client that still uses the old member id is fenced.
    """
    old = group.members[old_id]
    old_leader = group.leader_id
    answer_join(
        step, group, old, join_error(ErrorCode.FENCED_INSTANCE_ID, old_id, old.join_version)
    )
    answer_sync(step, old, sync_error(ErrorCode.FENCED_INSTANCE_ID))
    cancel_session(step, group, old)
    group.pending_sync.discard(old_id)
    member = group.replace_static(old_id, new_id)
    _update(step, group, member, request, protocols, context, caller)
    restart_session(step, group, member)
    if group.state is GroupState.COMPLETING_REBALANCE:
        # The leader may already have assigned partitions to the old member id.
        prepare(step, group, f"static member {old_id} is {new_id} now{_why(request)}")
    elif group.state is not GroupState.STABLE:
        maybe_complete_join(step, group)
    elif group.select_protocol() != group.protocol_name:
        reason = f"static member {new_id} changes the protocol{_why(request)}"
        rebalance_or_complete(step, group, reason)
    else:
        _persist_replacement(step, group, member, context, old, old_leader)


def _persist_replacement(
    step: Step,
    group: ClassicGroup,
    member: ClassicMember,
    context: CallerContext,
    old: ClassicMember,
    old_leader: str | None,
) -> None:
    """Write and return the new member id without a rebalance, because the
    group is Stable and keeps its protocol.

    From version 9 on, a leader receives the members and the instruction not to assign (KIP-814).
    Older versions receive the old leader's id, so that they do not act as the leader.
    """
    value = group.to_record_value()
    step.decision.records.append(group_metadata_record(group.group_id, value))
    if context.version >= SKIP_ASSIGNMENT_FROM:
        is_leader = group.leader_id == member.member_id
        reply = join_success(group, member, skip_assignment=is_leader)
    else:
        reply = join_success(group, member)
        reply.members = []
        reply.leader = old_leader or ""
    answer_join(step, group, member, reply)
    settings = step.settings  # the step holds the decision, and that holds `undo`

    def undo(code: int, now_ms: int) -> ShardDecision:
        """Restore the old member id, because the record was rejected."""
        back = Step(settings, now_ms)
        cancel_session(back, group, member)
        restored = group.replace_static(member.member_id, old.member_id)
        group.set_protocols(restored, old.protocols)
        restored.rebalance_timeout_ms = old.rebalance_timeout_ms
        restored.session_timeout_ms = old.session_timeout_ms
        restart_session(back, group, restored)
        return back.decision

    step.decision.undo = undo


def _why(request: JoinGroupRequest) -> str:
    """Return the client's reason (KIP-800), cut at the length at which stock clients cut it."""
    return f" ({request.reason[:MAX_REASON_CHARACTERS]})" if request.reason else ""


def _refuse(step: Step, context: CallerContext, code: int, member_id: str) -> None:
    step.decision.reply = join_error(code, member_id, context.version)

"""The end of sessions: members that fail, members that leave.

A heartbeat usually only moves the member's `session_deadline_ms`; the running timer looks again
when it fires and starts anew if the member was heard of. That keeps the most frequent request of
all cheap.
"""

from __future__ import annotations

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import NO_TIMER
from pykbroker.coordinator.group.classic.rebalance import (
    SESSION,
    complete_join,
    maybe_complete_join,
    rebalance_or_complete,
    remove_with_answer,
)
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.step import Step
from pykbroker.decision import CancelTimer, StartTimer
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.leave_group_response import LeaveGroupResponse, MemberResponse


def expire_session(step: Step, group: ClassicGroup, member_id: str) -> None:
    """A session timer fired."""
    if member_id in group.pending_members:
        group.remove(member_id)
        _complete_if_all_joined(step, group)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    if step.now_ms < member.session_deadline_ms:
        member.timer_deadline_ms = member.session_deadline_ms
        key = (SESSION, group.group_id, member_id)
        step.decision.timers.append(StartTimer(key, member.session_deadline_ms))
        return
    member.timer_deadline_ms = NO_TIMER
    if member.keeps_session:
        return  # the next answer to it starts the session again
    remove_with_answer(step, group, member)
    if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
        rebalance_or_complete(step, group, f"the session of {member_id} has expired")
    else:
        _complete_if_all_joined(step, group)


def _complete_if_all_joined(step: Step, group: ClassicGroup) -> None:
    """Unlike a leave, a failure ends the initial rebalance early too, as in Kafka."""
    if group.state is GroupState.PREPARING_REBALANCE and group.all_joined:
        complete_join(step, group)


def leave(step: Step, group: ClassicGroup, request: LeaveGroupRequest) -> None:
    """Decide one LeaveGroup; versions 0 to 2 come here as a batch of one member."""
    responses = [_leave_one(step, group, identity) for identity in request.members]
    step.decision.reply = LeaveGroupResponse(members=responses)
    if all(response.error_code for response in responses):
        return
    if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
        left = ", ".join(
            identity.member_id or f"instance {identity.group_instance_id}"
            for identity, response in zip(request.members, responses, strict=True)
            if not response.error_code
        )
        rebalance_or_complete(step, group, f"{left} left")
    elif group.state is GroupState.PREPARING_REBALANCE:
        maybe_complete_join(step, group)


def _leave_one(step: Step, group: ClassicGroup, identity: MemberIdentity) -> MemberResponse:
    member_id = identity.member_id
    instance_id = identity.group_instance_id
    error = ErrorCode.NONE
    if not member_id:
        # An administrator removes a static member by its instance id alone.
        current = None if instance_id is None else group.static_members.get(instance_id)
        if current is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        else:
            remove_with_answer(step, group, group.members[current])
    elif member_id in group.pending_members:
        group.remove(member_id)
        step.decision.timers.append(CancelTimer((SESSION, group.group_id, member_id)))
    else:
        error = ErrorCode(group.check_member(member_id, instance_id))
        if not error:
            remove_with_answer(step, group, group.members[member_id])
    return MemberResponse(member_id=member_id, group_instance_id=instance_id, error_code=int(error))


def leave_unknown_group(request: LeaveGroupRequest) -> LeaveGroupResponse:
    """The group does not exist: no member of it does."""
    return LeaveGroupResponse(
        members=[
            MemberResponse(
                member_id=identity.member_id,
                group_instance_id=identity.group_instance_id,
                error_code=int(ErrorCode.UNKNOWN_MEMBER_ID),
            )
            for identity in request.members
        ]
    )

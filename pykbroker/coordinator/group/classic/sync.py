"""SyncGroup: members wait for the leader's assignment, which is written before it is distributed.

The leader's request produces the record of the generation. Its replay makes the group Stable and
gives every member its assignment; the parked replies are released once the record is committed.
Source: Kafka's `GroupMetadataManager.classicGroupSyncToClassicGroup`.
"""

from __future__ import annotations

from collections.abc import Hashable

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.rebalance import (
    hand_out,
    restart_after_refusal,
    sync_received,
)
from pykbroker.coordinator.group.classic.replies import sync_error, sync_success
from pykbroker.coordinator.group.classic.states import RULES, SyncAnswer
from pykbroker.coordinator.group.records import group_metadata_record
from pykbroker.coordinator.group.step import Step
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest


def sync(step: Step, group: ClassicGroup, request: SyncGroupRequest, caller: Hashable) -> None:
    """Decide one SyncGroup."""
    answer = RULES[group.state].sync
    error = _check(group, request)
    if error:
        step.decision.reply = sync_error(error)
    elif answer is SyncAnswer.ASSIGNMENT:
        sync_received(step, group, request.member_id)
        assignment = group.members[request.member_id].assignment
        step.decision.reply = sync_success(group, assignment)
    elif answer is SyncAnswer.PARK:
        _park(step, group, request, caller)
    else:
        step.decision.reply = sync_error(answer)


def _check(group: ClassicGroup, request: SyncGroupRequest) -> int:
    error = group.check_member(request.member_id, request.group_instance_id)
    if error:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if _differ(request.protocol_type, group.protocol_type) or _differ(
        request.protocol_name, group.protocol_name
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE


def _differ(asked: str | None, actual: str | None) -> bool:
    return asked is not None and actual is not None and asked != actual


def _park(step: Step, group: ClassicGroup, request: SyncGroupRequest, caller: Hashable) -> None:
    member = group.members[request.member_id]
    if member.awaiting_sync is not None:  # the client retried
        displaced = sync_error(ErrorCode.REBALANCE_IN_PROGRESS)
        step.decision.replies.append((member.awaiting_sync, displaced))
    member.awaiting_sync = caller
    sync_received(step, group, request.member_id)
    if group.leader_id != member.member_id:
        return
    assignments = {
        assignment.member_id: bytes(assignment.assignment) for assignment in request.assignments
    }
    value = group.to_record_value(assignments)
    step.decision.records.append(group_metadata_record(group.group_id, value))
    hand_out(step, group, assignments)
    generation = group.generation
    settings = step.settings  # the step holds the decision, and that holds `undo`

    def undo(code: int, now_ms: int) -> ShardDecision:
        """Rebalance again, because the record was rejected (its callers receive an error)."""
        return restart_after_refusal(Step(settings, now_ms), group, generation)

    step.decision.undo = undo

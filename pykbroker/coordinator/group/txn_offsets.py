"""Decisions about offsets committed by a transaction (TxnOffsetCommit).

    no such group      generation < 0: creates a simple group; else GROUP_ID_NOT_FOUND (version 6+),
                       ILLEGAL_GENERATION before
    Empty              generation < 0: any client
    generation >= 0 or a member or instance id (KIP-447): that member with the current generation
    none of these      any client, in every state: producers before KIP-447 send no member

The state of the group does not matter otherwise, and no session is extended. The offsets are not
visible before the end of the transaction: see `offset_store.py`.

Functions read the groups and add records to `step.decision`; they change nothing else.
Source: Kafka's `OffsetMetadataManager.java`, `ClassicGroup.java`.
"""

from __future__ import annotations

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.offset_commits import Forms, commit_topic
from pykbroker.coordinator.group.step import CallerContext, Step
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
)
from pykbroker.protocol.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

GROUP_ID_NOT_FOUND_FROM = 6

FORMS = Forms(TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition)


def commit_error(request: TxnOffsetCommitRequest, code: int) -> TxnOffsetCommitResponse:
    """Return the same error for every partition of the request."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=partition.partition_index, error_code=int(code)
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def commit(
    step: Step, group: ClassicGroup | None, request: TxnOffsetCommitRequest, context: CallerContext
) -> None:
    """Decide one TxnOffsetCommit whose topics and partitions exist (the handler has checked)."""
    error = _check(group, request, context.version)
    if error:
        step.decision.reply = commit_error(request, error)
        return
    decision = step.decision
    decision.producer_id = request.producer_id
    decision.producer_epoch = request.producer_epoch
    decision.guard = context.guard
    topics = [
        commit_topic(step, request.group_id, topic, FORMS)
        for topic in paced(request.topics, step.breathe)
    ]
    decision.reply = TxnOffsetCommitResponse(topics=topics)


def _check(group: ClassicGroup | None, request: TxnOffsetCommitRequest, version: int) -> int:
    generation = request.generation_id_or_member_epoch
    if group is None:
        if generation < 0:
            return ErrorCode.NONE
        if version >= GROUP_ID_NOT_FOUND_FROM:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION
    if generation < 0 and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    if generation >= 0 or request.member_id or request.group_instance_id is not None:
        error = group.check_member(request.member_id, request.group_instance_id)
        if error:
            return error
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.NONE

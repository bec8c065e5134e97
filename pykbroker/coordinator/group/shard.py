"""The group coordinator's machine for one partition of `__consumer_offsets`.

State, durable: what `replay` made of the partition's records: every group's last generation
    (`ClassicGroup.durable`) and the committed offsets (`OffsetStore`).
State, volatile: rebalances in progress (see `classic/group.py`).
In:  join, sync, heartbeat, leave, commit_offsets, commit_transactional_offsets, delete_offsets,
    delete_groups, topics_deleted: each `(request, context, caller, now_ms) -> ShardDecision`;
    `loaded(now_ms)` and `timer_expired(key, now_ms)`, which decide as well;
    fetch_offsets, describe, list_groups: queries; replay, replay_end_of_transaction.
Out: decisions: records for the log, replies, timers.
Invariants: the durable state is a function of the records replayed, live or in recovery.
    A caller receives exactly one reply; a parked caller is named in a later decision.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from pykbroker.coordinator.coordinator_log import coordinator_error
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group import offsets
from pykbroker.coordinator.group.classic import join, rebalance, session, sync
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.rebalance import JOIN, SESSION, SYNC
from pykbroker.coordinator.group.classic.replies import join_error, sync_error
from pykbroker.coordinator.group.classic.states import RULES, GroupState
from pykbroker.coordinator.group.offset_store import OffsetStore
from pykbroker.coordinator.group.records import group_tombstone, new_group_record
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.step import CallerContext, Step
from pykbroker.decision import CoordinatorRecord, StartTimer
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.messages.join_group_request import JoinGroupRequest
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest
from pykbroker.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_request import OffsetCommitRequest
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from pykbroker.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest
from pykbroker.protocol.record_batch import NO_PRODUCER_ID

if TYPE_CHECKING:  # imported when the first client asks for them
    from pykbroker.protocol.messages.describe_groups_response import DescribedGroup
    from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
    from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse
    from pykbroker.protocol.messages.offset_delete_request import OffsetDeleteRequest
    from pykbroker.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest

EXPIRE_OFFSETS = "expire-offsets"


class GroupShard:
    """The machine of one partition of `__consumer_offsets`."""

    __slots__ = ("_breathe", "groups", "offsets", "settings")

    def __init__(self, settings: GroupSettings, breathe: Breathe = go_on) -> None:
        """breathe: called between the parts of long steps (`environment/slices.py`)."""
        self._breathe = breathe
        self.settings = settings
        self.groups: dict[str, ClassicGroup] = {}
        self.offsets = OffsetStore()

    # ---- membership

    def join(
        self, request: JoinGroupRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """JoinGroup; the bounds of the session time-out were checked before."""
        step = Step(self.settings, now_ms, self._breathe)
        group_id = request.group_id
        group = self.groups.get(group_id)
        if group is not None:
            join.join(step, group, request, context, caller)
            return step.decision
        if request.member_id:
            code = ErrorCode.UNKNOWN_MEMBER_ID
            step.decision.reply = join_error(code, request.member_id, context.version)
            return step.decision
        group = self.groups[group_id] = ClassicGroup(group_id, now_ms)
        join.join(step, group, request, context, caller)
        # Kafka writes an empty generation for a new group, so that it exists after a fail-over.
        step.decision.records.append(new_group_record(group_id, now_ms))
        step.decision.undo = lambda code, undo_ms: self._drop_new_group(group_id, code, undo_ms)
        return step.decision

    def _drop_new_group(self, group_id: str, code: int, now_ms: int) -> ShardDecision:
        """Drop a new group whose first record was rejected."""
        step = Step(self.settings, now_ms, self._breathe)
        group = self.groups.pop(group_id, None)
        if group is not None:
            for member in list(group.members.values()):
                reply = join_error(coordinator_error(code), "", member.join_version)
                rebalance.answer_join(step, group, member, reply)
                rebalance.cancel_session(step, group, member)
        return step.decision

    def sync(
        self, request: SyncGroupRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """SyncGroup."""
        step = Step(self.settings, now_ms, self._breathe)
        group = self.groups.get(request.group_id)
        if group is None:
            step.decision.reply = sync_error(ErrorCode.UNKNOWN_MEMBER_ID)
        else:
            sync.sync(step, group, request, caller)
        return step.decision

    def heartbeat(
        self, request: HeartbeatRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """Heartbeat: the most frequent request; it needs no record and usually no timer."""
        step = Step(self.settings, now_ms, self._breathe)
        group = self.groups.get(request.group_id)
        if group is None:
            code = int(ErrorCode.UNKNOWN_MEMBER_ID)
        else:
            code = int(group.check_member(request.member_id, request.group_instance_id))
            if code == 0:
                if request.generation_id != group.generation:
                    code = int(ErrorCode.ILLEGAL_GENERATION)
                else:
                    code = int(RULES[group.state].heartbeat)
                    rebalance.restart_session(step, group, group.members[request.member_id])
        step.decision.reply = HeartbeatResponse(error_code=code)
        return step.decision

    def leave(
        self, request: LeaveGroupRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """LeaveGroup, in the form of version 3 and later (a batch)."""
        step = Step(self.settings, now_ms, self._breathe)
        group = self.groups.get(request.group_id)
        if group is None:
            step.decision.reply = session.leave_unknown_group(request)
        else:
            session.leave(step, group, request)
        return step.decision

    # ---- offsets

    def commit_offsets(
        self, request: OffsetCommitRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """OffsetCommit of topics and partitions that exist."""
        step = Step(self.settings, now_ms, self._breathe)
        offsets.commit(step, self.groups.get(request.group_id), request, context)
        return step.decision

    def commit_transactional_offsets(
        self, request: TxnOffsetCommitRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """TxnOffsetCommit of topics and partitions that exist."""
        from pykbroker.coordinator.group import txn_offsets

        step = Step(self.settings, now_ms, self._breathe)
        txn_offsets.commit(step, self.groups.get(request.group_id), request, context)
        return step.decision

    def fetch_offsets(
        self, request: OffsetFetchRequestGroup, require_stable: bool
    ) -> OffsetFetchResponseGroup:
        """OffsetFetch of one group."""
        return offsets.fetch(self.offsets, request, require_stable, self._breathe)

    def delete_offsets(
        self, request: OffsetDeleteRequest, context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """OffsetDelete of topics and partitions that exist."""
        step = Step(self.settings, now_ms, self._breathe)
        group = self.groups.get(request.group_id)
        offsets.delete(step, self.offsets, group, request)
        return step.decision

    # ---- groups

    def delete_groups(
        self, group_ids: Sequence[str], context: CallerContext, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """DeleteGroups, those of this partition. The reply is a list of results."""
        from pykbroker.protocol.messages.delete_groups_response import DeletableGroupResult

        step = Step(self.settings, now_ms, self._breathe)
        results = []
        for group_id in paced(group_ids, self._breathe):
            group = self.groups.get(group_id)
            code = RULES[GroupState.DEAD if group is None else group.state].delete_group
            if not code:
                step.decision.records.extend(
                    offsets.delete_all(self.offsets, group_id, self._breathe)
                )
                step.decision.records.append(group_tombstone(group_id))
            results.append(DeletableGroupResult(group_id=group_id, error_code=int(code)))
        step.decision.reply = results
        return step.decision

    def describe(self, group_ids: Sequence[str], version: int) -> list[DescribedGroup]:
        """DescribeGroups, those of this partition."""
        from pykbroker.coordinator.group import queries

        return [
            queries.describe(group_id, self.groups.get(group_id), version)
            for group_id in paced(group_ids, self._breathe)
        ]

    def list_groups(self, request: ListGroupsRequest, version: int) -> ListGroupsResponse:
        """ListGroups, those of this partition."""
        from pykbroker.coordinator.group import queries
        from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse

        groups = queries.list_groups(
            paced(self.groups.values(), self._breathe),
            request.states_filter,
            request.types_filter,
        )
        return ListGroupsResponse(groups=groups)

    def topics_deleted(
        self,
        deleted: Sequence[tuple[bytes, str]],
        context: CallerContext | None,
        caller: Hashable,
        now_ms: int,
    ) -> ShardDecision:
        """Delete the offsets committed for deleted topics (id, name)."""
        step = Step(self.settings, now_ms, self._breathe)
        step.decision.atomic = False
        step.decision.records = offsets.delete_topics(self.offsets, deleted, self._breathe)
        return step.decision

    # ---- time

    def loaded(self, now_ms: int) -> ShardDecision:
        """Start sessions after all records are replayed; rebalance groups over group.max.size."""
        step = Step(self.settings, now_ms, self._breathe)
        for group in paced(self.groups.values(), self._breathe):
            group.learn_subscribed_topics()
            for member in paced(group.members.values(), self._breathe):
                rebalance.restart_session(step, group, member)
            if len(group.members) > self.settings.max_size:
                rebalance.prepare(step, group, "more members than group.max.size")
        self._start_expiry_timer(step)
        return step.decision

    def timer_expired(self, key: Hashable, now_ms: int) -> ShardDecision:
        """Handle a timer of an earlier decision; outdated ones find nothing to do."""
        step = Step(self.settings, now_ms, self._breathe)
        if key == EXPIRE_OFFSETS:
            self._expire_offsets(step)
            return step.decision
        if not isinstance(key, tuple):
            raise RuntimeError(f"unknown timer {key!r}")
        group = self.groups.get(key[1])
        if group is None:
            return step.decision
        kind = key[0]
        if kind == SESSION:
            session.expire_session(step, group, key[2])
        elif kind == JOIN:
            rebalance.join_timer_expired(step, group)
        elif kind == SYNC:
            rebalance.sync_timer_expired(step, group)
        else:
            raise RuntimeError(f"unknown timer {key!r}")
        return step.decision

    def _expire_offsets(self, step: Step) -> None:
        step.decision.atomic = False
        retention_ms = self.settings.offsets_retention_ms
        for group_id, group in paced(self.groups.items(), self._breathe):
            records, none_left = offsets.expire(
                self.offsets, group, step.now_ms, retention_ms, self._breathe
            )
            step.decision.records.extend(records)
            if none_left and group.state is GroupState.EMPTY:
                step.decision.records.append(group_tombstone(group_id))
        self._start_expiry_timer(step)

    def _start_expiry_timer(self, step: Step) -> None:
        interval = self.settings.offsets_retention_check_interval_ms
        step.decision.timers.append(StartTimer(EXPIRE_OFFSETS, step.now_ms + interval))

    # ---- replay

    def replay(
        self, record: CoordinatorRecord, offset: int, producer_id: int = NO_PRODUCER_ID
    ) -> None:
        """Replay the record at `offset`; with `producer_id` if it is part of a transaction."""
        key = record.key
        value = record.value
        if isinstance(key, GroupMetadataKey):
            if value is None:
                self.groups.pop(key.group, None)
                return
            group = self.groups.get(key.group)
            if group is None:
                group = ClassicGroup(key.group, value.current_state_timestamp)
                self.groups[key.group] = group
            group.replay_record(value)
        elif isinstance(key, (OffsetCommitKey, LegacyOffsetCommitKey)):
            if value is None:
                self.offsets.replay_tombstone(key.group, key.topic, key.partition)
                return
            if not isinstance(value, OffsetCommitValue):  # the format before 0.9, type 0
                value = OffsetCommitValue(
                    offset=value.offset,
                    metadata=value.metadata,
                    commit_timestamp=value.commit_timestamp,
                )
            if key.group not in self.groups:
                # A simple group: it commits offsets and has no members.
                self.groups[key.group] = ClassicGroup(key.group, value.commit_timestamp)
            self.offsets.replay_commit(
                key.group, key.topic, key.partition, value, offset, producer_id
            )

    def replay_end_of_transaction(self, producer_id: int, committed: bool) -> None:
        """Replay a transaction's end marker."""
        self.offsets.replay_end_of_transaction(producer_id, committed)

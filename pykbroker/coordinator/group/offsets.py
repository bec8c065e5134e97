"""Decisions about committed offsets: commit, fetch, delete, expire, and deleted topics.

Who may commit (`_check_commit`; states of the group in `classic/states.py`):

    no such group      generation < 0: creates a simple group; else GROUP_ID_NOT_FOUND (version 9+),
                       ILLEGAL_GENERATION before
    Empty              generation < 0: any client, whatever its member id
    generation >= 0 or a member or instance id: that member with the current generation
    none of these      UNKNOWN_MEMBER_ID unless Empty

Expiry (`expire`): an explicit expire timestamp counts; else offsets.retention.minutes after
    - the group became Empty (a group with a protocol type; without a time for that, the commit),
    - the commit (a simple group; or a topic that Stable consumers no longer subscribe to).
    Nothing else expires, whatever its timestamp: not in other states, no subscribed topic.
    A retention so long that the sum overflows has expired at once, as in Kafka.
    Offsets with an open transaction stay; a group without offsets is deleted when it is Empty.

Functions read the store and the groups; all that they change is the session of the member that
commits. Records are returned, or added to `step.decision`.
Source: Kafka's `OffsetMetadataManager.java`, `ClassicGroup.java`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.rebalance import restart_session
from pykbroker.coordinator.group.classic.states import RULES, GroupState
from pykbroker.coordinator.group.offset_commits import NO_EXPIRY, Forms, commit_topic
from pykbroker.coordinator.group.offset_store import CommittedOffset, OffsetStore
from pykbroker.coordinator.group.records import offset_tombstone
from pykbroker.coordinator.group.step import CallerContext, Step
from pykbroker.coordinator.partitioning import java_long
from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_request import OffsetCommitRequest
from pykbroker.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from pykbroker.protocol.messages.offset_fetch_response import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from pykbroker.protocol.primitives import ZERO_UUID

if TYPE_CHECKING:
    from pykbroker.protocol.messages.offset_delete_request import OffsetDeleteRequest

GROUP_ID_NOT_FOUND_FROM = 9
NO_RETENTION = -1
INVALID_OFFSET = -1

FORMS = Forms(OffsetCommitResponseTopic, OffsetCommitResponsePartition)


def commit_error(request: OffsetCommitRequest, code: int) -> OffsetCommitResponse:
    """Return the same error for every partition of the request."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=partition.partition_index, error_code=int(code)
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def commit(
    step: Step, group: ClassicGroup | None, request: OffsetCommitRequest, context: CallerContext
) -> None:
    """Decide one OffsetCommit whose topics and partitions exist (the handler has checked)."""
    error = _check_commit(step, group, request, context)
    if error:
        step.decision.reply = commit_error(request, error)
        return
    retention = request.retention_time_ms
    expires = NO_EXPIRY if retention == NO_RETENTION else java_long(step.now_ms + retention)
    topics = [
        commit_topic(step, request.group_id, topic, FORMS, expires)
        for topic in paced(request.topics, step.breathe)
    ]
    step.decision.reply = OffsetCommitResponse(topics=topics)


def _check_commit(
    step: Step, group: ClassicGroup | None, request: OffsetCommitRequest, context: CallerContext
) -> int:
    generation = request.generation_id_or_member_epoch
    if group is None:
        if generation < 0:
            return ErrorCode.NONE
        if context.version >= GROUP_ID_NOT_FOUND_FROM:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION
    rules = RULES[group.state]
    if generation < 0 and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    if generation >= 0 or request.member_id or request.group_instance_id is not None:
        error = group.check_member(request.member_id, request.group_instance_id)
        if error:
            return error
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        if rules.member_commit:
            return rules.member_commit
        if rules.extends_session:
            restart_session(step, group, group.members[request.member_id])
        return ErrorCode.NONE
    return rules.simple_commit


# ---- fetch


def fetch_error(group_id: str, code: int) -> OffsetFetchResponseGroup:
    """Return an error for a whole group; the handler translates it for versions before 8."""
    return OffsetFetchResponseGroup(group_id=group_id, topics=[], error_code=int(code))


def fetch(
    store: OffsetStore,
    request: OffsetFetchRequestGroup,
    require_stable: bool,
    breathe: Breathe = go_on,
) -> OffsetFetchResponseGroup:
    """Return the offsets of one group: every requested partition, in order; or all committed."""
    group_id = request.group_id
    committed = store.committed.get(group_id, {})
    unstable = store.open_by_group.get(group_id, {}) if require_stable else {}
    if request.topics is None:
        topics = [
            OffsetFetchResponseTopics(
                name=name,
                partitions=[
                    _fetched(name, index, entry, unstable)
                    for index, entry in paced(entries.items(), breathe)
                ],
            )
            for name, entries in paced(committed.items(), breathe)
        ]
    else:
        topics = []
        for topic in paced(request.topics, breathe):
            entries = committed.get(topic.name, {})
            partitions = []
            for index in paced(topic.partition_indexes, breathe):
                found = entries.get(index)
                if found is not None and _other_topic(found.topic_id, topic.topic_id):
                    found = None  # committed for a deleted topic of the same name
                partitions.append(_fetched(topic.name, index, found, unstable))
            topics.append(
                OffsetFetchResponseTopics(
                    name=topic.name, topic_id=topic.topic_id, partitions=partitions
                )
            )
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics)


def _other_topic(committed: bytes, asked: bytes) -> bool:
    return committed != ZERO_UUID and asked != ZERO_UUID and committed != asked


def _fetched(
    topic: str,
    index: int,
    entry: CommittedOffset | None,
    unstable: Mapping[tuple[str, int], set[int]],
) -> OffsetFetchResponsePartitions:
    if unstable and (topic, index) in unstable:
        return OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=INVALID_OFFSET,
            metadata="",
            error_code=int(ErrorCode.UNSTABLE_OFFSET_COMMIT),
        )
    if entry is None:
        return OffsetFetchResponsePartitions(
            partition_index=index, committed_offset=INVALID_OFFSET, metadata=""
        )
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=entry.offset,
        committed_leader_epoch=entry.leader_epoch,
        metadata=entry.metadata,
    )


# ---- delete


def delete(
    step: Step, store: OffsetStore, group: ClassicGroup | None, request: OffsetDeleteRequest
) -> None:
    """Decide one OffsetDelete whose topics and partitions exist (the handler has checked)."""
    from pykbroker.protocol.messages.offset_delete_response import (
        OffsetDeleteResponse,
        OffsetDeleteResponsePartition,
        OffsetDeleteResponseTopic,
    )

    state = GroupState.DEAD if group is None else group.state
    error = RULES[state].offset_delete
    if group is None or (error and not group.uses_consumer_protocol):
        step.decision.reply = OffsetDeleteResponse(error_code=int(error))
        return
    topics = []
    for topic in paced(request.topics, step.breathe):
        code = 0
        if group.is_subscribed(topic.name):
            code = int(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
        partitions = []
        for partition in paced(topic.partitions, step.breathe):
            index = partition.partition_index
            partitions.append(OffsetDeleteResponsePartition(partition_index=index, error_code=code))
            if not code and (
                store.get(group.group_id, topic.name, index) is not None
                or store.is_open(group.group_id, topic.name, index)
            ):
                step.decision.records.append(offset_tombstone(group.group_id, topic.name, index))
        topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
    step.decision.reply = OffsetDeleteResponse(topics=topics)


def delete_all(
    store: OffsetStore, group_id: str, breathe: Breathe = go_on
) -> list[CoordinatorRecord]:
    """Return tombstones for every offset of a group, including pending ones."""
    records = [
        offset_tombstone(group_id, topic, index)
        for topic, entries in paced(store.committed.get(group_id, {}).items(), breathe)
        for index in paced(entries, breathe)
    ]
    records.extend(
        offset_tombstone(group_id, topic, index)
        for topic, index in paced(store.open_by_group.get(group_id, {}), breathe)
        if store.get(group_id, topic, index) is None
    )
    return records


def delete_topics(
    store: OffsetStore, deleted: Iterable[tuple[bytes, str]], breathe: Breathe = go_on
) -> list[CoordinatorRecord]:
    """Return tombstones for the offsets of deleted topics (id, name), including pending ones.

    Offsets that were committed with another topic id do not count.
    """
    ids = {name: topic_id for topic_id, name in deleted}
    doomed: dict[tuple[str, str, int], None] = {}
    for group_id, topics in paced(store.committed.items(), breathe):
        for name in ids.keys() & topics.keys():
            for index, entry in paced(topics[name].items(), breathe):
                if entry.topic_id in (ZERO_UUID, ids[name]):
                    doomed[(group_id, name, index)] = None
    for entries in store.pending.values():
        for (group_id, name, index), entry in paced(entries.items(), breathe):
            if name in ids and entry.topic_id in (ZERO_UUID, ids[name]):
                doomed[(group_id, name, index)] = None
    return [
        offset_tombstone(group_id, name, index) for group_id, name, index in paced(doomed, breathe)
    ]


# ---- expiry


def expire(
    store: OffsetStore,
    group: ClassicGroup,
    now_ms: int,
    retention_ms: int,
    breathe: Breathe = go_on,
) -> tuple[list[CoordinatorRecord], bool]:
    """Return the tombstones of expired offsets, and whether the group then has no offsets left."""
    group_id = group.group_id
    topics = store.committed.get(group_id)
    if topics is None:
        return [], group_id not in store.open_by_group
    since_empty = False
    if group.protocol_type is not None:
        if group.state is GroupState.EMPTY:
            since_empty = True
        elif not (
            group.uses_consumer_protocol
            and group.subscribed_topics is not None
            and group.state is GroupState.STABLE
        ):
            return [], False
    records: list[CoordinatorRecord] = []
    none_left = True
    for topic, entries in paced(topics.items(), breathe):
        if group.is_subscribed(topic):
            none_left = False
            continue
        for index, entry in paced(entries.items(), breathe):
            base_ms = entry.commit_timestamp_ms
            if since_empty and group.state_timestamp_ms != -1:
                base_ms = group.state_timestamp_ms
            if entry.expire_timestamp_ms != -1:
                expired = now_ms >= entry.expire_timestamp_ms
            else:
                expired = now_ms - base_ms >= retention_ms
            if expired and not store.is_open(group_id, topic, index):
                records.append(offset_tombstone(group_id, topic, index))
            else:
                none_left = False
    return records, none_left and group_id not in store.open_by_group

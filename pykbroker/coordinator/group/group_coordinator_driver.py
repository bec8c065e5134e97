"""The group coordinator of one node: the interface for handlers, and its error responses.

In:  one method per API; `apply` (metadata publisher).
Out: replies, or Deferreds of them. Each API has its own form of error (`_refuse_...`).
State: the runtime, the settings, and how many partitions the topic has.
Source: Kafka's `GroupCoordinatorService.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.coordinator.coordinator_log import CoordinatorLog, ReplicaLog, coordinator_error
from pykbroker.coordinator.group import offsets
from pykbroker.coordinator.group.classic.replies import join_error, sync_error
from pykbroker.coordinator.group.offset_record import GroupRecordCodec
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.shard import EXPIRE_OFFSETS, GroupShard
from pykbroker.coordinator.group.step import CallerContext
from pykbroker.coordinator.long_turns_driver import LOADED
from pykbroker.coordinator.partitioning import partition_for
from pykbroker.coordinator.runtime_driver import CoordinatorRuntime
from pykbroker.deferred import Deferred, gather
from pykbroker.environment import Environment
from pykbroker.environment.clock import Clock
from pykbroker.environment.randomness import RandomSource
from pykbroker.environment.scheduler import Scheduler
from pykbroker.environment.slices import InOneGo, Slices
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.network.java_address import java_address
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.messages.join_group_request import JoinGroupRequest
from pykbroker.protocol.messages.join_group_response import JoinGroupResponse
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest
from pykbroker.protocol.messages.leave_group_response import LeaveGroupResponse
from pykbroker.protocol.messages.offset_commit_request import OffsetCommitRequest
from pykbroker.protocol.messages.offset_commit_response import OffsetCommitResponse
from pykbroker.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from pykbroker.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest
from pykbroker.protocol.messages.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.log.producers.verification import VerificationGuard
    from pykbroker.protocol.messages.delete_groups_response import DeletableGroupResult
    from pykbroker.protocol.messages.describe_groups_response import DescribedGroup
    from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
    from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse
    from pykbroker.protocol.messages.offset_delete_request import OffsetDeleteRequest
    from pykbroker.protocol.messages.offset_delete_response import OffsetDeleteResponse
    from pykbroker.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest
    from pykbroker.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
    from pykbroker.replication.replica_manager import ReplicaManager

NO_CONTEXT = CallerContext(version=0)


class GroupCoordinator:
    """The group coordinator of one node.

    A Deferred that a method returns is resolved with the other type of its result.
    """

    def __init__(
        self,
        *,
        node_id: int,
        settings: GroupSettings,
        log: CoordinatorLog,
        scheduler: Scheduler,
        clock: Clock,
        new_uuid: Callable[[], str],
        slices: Slices | None = None,
    ) -> None:
        slices = slices or InOneGo()
        self.node_id = node_id
        self._new_uuid = new_uuid
        self.settings = settings
        self.num_partitions = settings.num_partitions
        self.runtime = CoordinatorRuntime(
            log=log,
            codec=GroupRecordCodec(),
            make_shard=lambda: GroupShard(self.settings, slices.breathe),
            scheduler=scheduler,
            clock=clock,
            commit_timeout_ms=settings.commit_timeout_ms,
            load_chunk_bytes=settings.load_buffer_bytes,
            compression_codec=settings.compression_codec,
            slices=slices,
            long_timers=(EXPIRE_OFFSETS, LOADED),
        )

    @classmethod
    def create(
        cls,
        *,
        node_id: int,
        config: BrokerConfig,
        replica_manager: ReplicaManager,
        environment: Environment,
        wake: Callable[[], None],
    ) -> GroupCoordinator:
        """The coordinator of a broker."""
        return cls(
            node_id=node_id,
            settings=GroupSettings.from_config(config),
            log=ReplicaLog(GROUP_METADATA_TOPIC, replica_manager, wake),
            scheduler=environment.scheduler,
            clock=environment.clock,
            new_uuid=partial(new_member_uuid, environment.random),
            slices=environment.slices,
        )

    # ---- metadata

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Publisher step, after the replica manager's: elections, resignations, deleted topics."""
        for topic in delta.deleted_topics.values():
            if topic.name == GROUP_METADATA_TOPIC:
                self.num_partitions = self.settings.num_partitions
                for index in topic.partitions:
                    self.runtime.on_resigned(index)
        deleted = [
            (topic_id, topic.name)
            for topic_id, topic in delta.deleted_topics.items()
            if topic.name != GROUP_METADATA_TOPIC
        ]
        for topic in delta.changed_topics.values():
            if topic.name == GROUP_METADATA_TOPIC:
                # The topic's own count, whatever offsets.topic.num.partitions says by now.
                self.num_partitions = len(topic.partitions)
                for index, partition in topic.partitions.items():
                    if partition.leader == self.node_id:
                        self.runtime.on_elected(index, partition.leader_epoch)
                    else:
                        self.runtime.on_resigned(index)
        if deleted:
            self.runtime.write_all(GroupShard.topics_deleted, deleted)

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that coordinates a group."""
        return partition_for(group_id, self.num_partitions)

    def stop(self) -> None:
        """Answer every waiting caller with an error."""
        self.runtime.stop()

    # ---- membership

    def join(
        self, request: JoinGroupRequest, version: int, client_id: str, client_host: str
    ) -> JoinGroupResponse | Deferred:
        """Join a member; its reply usually follows when the next generation starts. A request that
        is rejected (also with MEMBER_ID_REQUIRED) does not wait for that.
        """
        if not request.group_id:
            return join_error(ErrorCode.INVALID_GROUP_ID, request.member_id, version)
        settings = self.settings
        timeout = request.session_timeout_ms
        if not settings.min_session_timeout_ms <= timeout <= settings.max_session_timeout_ms:
            return join_error(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id, version)
        fresh = "" if request.member_id else self._new_uuid()
        context = CallerContext(version, client_id, f"/{java_address(client_host)}", fresh)
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.write(partition, GroupShard.join, request, context, _refuse_join)

    def sync(self, request: SyncGroupRequest) -> SyncGroupResponse | Deferred:
        """Sync a member; until the group is Stable, the reply waits for the leader's assignment."""
        if not request.group_id:
            return sync_error(ErrorCode.INVALID_GROUP_ID)
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.write(partition, GroupShard.sync, request, NO_CONTEXT, _refuse_sync)

    def heartbeat(self, request: HeartbeatRequest) -> HeartbeatResponse | Deferred:
        """Record a heartbeat of a member."""
        if not request.group_id:
            return HeartbeatResponse(error_code=int(ErrorCode.INVALID_GROUP_ID))
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.write(
            partition, GroupShard.heartbeat, request, NO_CONTEXT, _refuse_heartbeat
        )

    def leave(self, request: LeaveGroupRequest) -> LeaveGroupResponse | Deferred:
        """Let members leave. The request and the reply have the form of version 3: members in a
        batch.
        """
        if not request.group_id:
            return LeaveGroupResponse(error_code=int(ErrorCode.INVALID_GROUP_ID))
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.write(partition, GroupShard.leave, request, NO_CONTEXT, _refuse_leave)

    # ---- offsets

    def commit_offsets(
        self, request: OffsetCommitRequest, version: int
    ) -> OffsetCommitResponse | Deferred:
        """Commit offsets of topics and partitions that exist (the handler has checked)."""
        partition = partition_for(request.group_id, self.num_partitions)
        context = CallerContext(version)
        return self.runtime.write(
            partition, GroupShard.commit_offsets, request, context, _refuse_commit
        )

    def commit_transactional_offsets(
        self, request: TxnOffsetCommitRequest, version: int, guard: VerificationGuard | None
    ) -> TxnOffsetCommitResponse | Deferred:
        """Commit offsets of existing topics in a transaction; `guard` is its verification."""
        partition = partition_for(request.group_id, self.num_partitions)
        context = CallerContext(version, guard=guard)
        return self.runtime.write(
            partition, GroupShard.commit_transactional_offsets, request, context, _refuse_txn_commit
        )

    def fetch_offsets(
        self, request: OffsetFetchRequestGroup, require_stable: bool
    ) -> OffsetFetchResponseGroup | Deferred:
        """Fetch the offsets of one group."""
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.read(
            partition, GroupShard.fetch_offsets, request, require_stable, _refuse_fetch
        )

    def delete_offsets(self, request: OffsetDeleteRequest) -> OffsetDeleteResponse | Deferred:
        """Delete offsets of topics and partitions that exist (the handler has checked)."""
        if not request.group_id:
            from pykbroker.protocol.messages.offset_delete_response import OffsetDeleteResponse

            return OffsetDeleteResponse(error_code=int(ErrorCode.INVALID_GROUP_ID))
        partition = partition_for(request.group_id, self.num_partitions)
        return self.runtime.write(
            partition, GroupShard.delete_offsets, request, NO_CONTEXT, _refuse_offset_delete
        )

    def end_transaction(self, partition: int, marker: WritableTxnMarker) -> int | Deferred:
        """Apply or drop the offsets of a transaction; return 0 once committed, or an error code."""
        return self.runtime.end_transaction(partition, marker)

    # ---- groups

    def describe(self, group_ids: Sequence[str], version: int) -> list[DescribedGroup] | Deferred:
        """Describe groups, in the order asked for, each once."""
        parts = [
            self.runtime.read(partition, GroupShard.describe, ids, version, _refuse_describe)
            for partition, ids in self._by_partition(group_ids).items()
        ]

        def combine(lists: list[list[DescribedGroup]]) -> list[DescribedGroup]:
            found = {group.group_id: group for part in lists for group in part}
            return [found[group_id] for group_id in dict.fromkeys(group_ids)]

        return gather(parts, combine)

    def list_groups(
        self, request: ListGroupsRequest, version: int
    ) -> ListGroupsResponse | Deferred:
        """List every group that this node coordinates. The reply is only an error while one of its
        partitions is loading, or if one cannot answer in time.
        """
        parts = self.runtime.read_all(GroupShard.list_groups, request, version, _refuse_list)

        def combine(parts: list[ListGroupsResponse]) -> ListGroupsResponse:
            from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse

            for part in parts:
                if part.error_code not in (0, ErrorCode.NOT_COORDINATOR):
                    return part
            return ListGroupsResponse(groups=[group for part in parts for group in part.groups])

        return gather(parts, combine)

    def delete_groups(self, group_ids: Sequence[str]) -> list[DeletableGroupResult] | Deferred:
        """Delete groups; the results are in the order asked for, each group once."""
        parts = [
            self.runtime.write(partition, GroupShard.delete_groups, ids, NO_CONTEXT, _refuse_delete)
            for partition, ids in self._by_partition(group_ids).items()
        ]

        def combine(lists: list[list[DeletableGroupResult]]) -> list[DeletableGroupResult]:
            found = {result.group_id: result for part in lists for result in part}
            return [found[group_id] for group_id in dict.fromkeys(group_ids)]

        return gather(parts, combine)

    def _by_partition(self, group_ids: Sequence[str]) -> dict[int, list[str]]:
        grouped: dict[int, list[str]] = {}
        for group_id in dict.fromkeys(group_ids):
            grouped.setdefault(self.partition_for(group_id), []).append(group_id)
        return grouped


def new_member_uuid(random: RandomSource) -> str:
    """Return the random part of a member id, in the text form of java.util.UUID."""
    digits = random.new_uuid().hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# What a caller is told when this node cannot decide: (request, context, code) -> reply.


def _refuse_join(request: JoinGroupRequest, context: CallerContext, code: int) -> JoinGroupResponse:
    return join_error(coordinator_error(code), "", context.version)


def _refuse_sync(request: SyncGroupRequest, context: CallerContext, code: int) -> SyncGroupResponse:
    return sync_error(coordinator_error(code))


def _refuse_heartbeat(
    request: HeartbeatRequest, context: CallerContext, code: int
) -> HeartbeatResponse:
    # While the group is loaded members are told that all is well: they are about to be.
    loading = code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=0 if loading else coordinator_error(code))


def _refuse_leave(
    request: LeaveGroupRequest, context: CallerContext, code: int
) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=coordinator_error(code))


def _refuse_commit(
    request: OffsetCommitRequest, context: CallerContext, code: int
) -> OffsetCommitResponse:
    return offsets.commit_error(request, coordinator_error(code))


def _refuse_txn_commit(
    request: TxnOffsetCommitRequest, context: CallerContext, code: int
) -> TxnOffsetCommitResponse:
    from pykbroker.coordinator.group import txn_offsets

    return txn_offsets.commit_error(request, coordinator_error(code))


_FETCH_RETRIES = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
    )
)


def _refuse_fetch(
    request: OffsetFetchRequestGroup, require_stable: bool, code: int
) -> OffsetFetchResponseGroup:
    # Consumers before 3.9 do not retry OffsetFetch after COORDINATOR_NOT_AVAILABLE.
    if code in _FETCH_RETRIES:
        code = ErrorCode.NOT_COORDINATOR
    return offsets.fetch_error(request.group_id, coordinator_error(code))


def _refuse_offset_delete(
    request: OffsetDeleteRequest, context: CallerContext, code: int
) -> OffsetDeleteResponse:
    from pykbroker.protocol.messages.offset_delete_response import OffsetDeleteResponse

    return OffsetDeleteResponse(error_code=coordinator_error(code))


def _refuse_describe(group_ids: Sequence[str], version: int, code: int) -> list[DescribedGroup]:
    from pykbroker.coordinator.group import queries

    return [queries.describe_error(group_id, coordinator_error(code)) for group_id in group_ids]


def _refuse_list(request: ListGroupsRequest, version: int, code: int) -> ListGroupsResponse:
    from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse

    return ListGroupsResponse(error_code=coordinator_error(code))


def _refuse_delete(
    group_ids: Sequence[str], context: CallerContext, code: int
) -> list[DeletableGroupResult]:
    from pykbroker.protocol.messages.delete_groups_response import DeletableGroupResult

    error = coordinator_error(code)
    return [DeletableGroupResult(group_id=group_id, error_code=error) for group_id in group_ids]

"""Builds raft's requests for its only partition, __cluster_metadata-0, and reads its entry in
received messages.

Plain functions; nothing here decides.
Source: Kafka's `RaftUtil.java`, `RaftRequest.java`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pykbroker.kraft.metadata_snapshot import SnapshotId
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.protocol.primitives import METADATA_TOPIC_ID
from pykbroker.values import NamedTuple

if TYPE_CHECKING:  # imported on first use: a quorum of one sends none
    from pykbroker.protocol.messages import (
        begin_quorum_epoch_request,
        end_quorum_epoch_request,
        fetch_request,
        fetch_snapshot_request,
        update_raft_voter_request,
        vote_request,
    )

PARTITION = 0


def make_vote(
    cluster_id: str, voter: ReplicaKey, me: ReplicaKey, epoch: int, end: LogEnd, pre_vote: bool
) -> vote_request.VoteRequest:
    """Ask `voter` for its vote."""
    from pykbroker.protocol.messages import vote_request

    partition = vote_request.PartitionData(
        partition_index=PARTITION,
        replica_epoch=epoch,
        replica_id=me.id,
        replica_directory_id=me.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=end.epoch,
        last_offset=end.offset,
        pre_vote=pre_vote,
    )
    topic = vote_request.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
    return vote_request.VoteRequest(cluster_id=cluster_id, voter_id=voter.id, topics=[topic])


def make_begin_epoch(
    cluster_id: str, voter: ReplicaKey, leader: VoterNode, epoch: int
) -> begin_quorum_epoch_request.BeginQuorumEpochRequest:
    """Tell `voter` that `leader` leads in `epoch`."""
    from pykbroker.protocol.messages import begin_quorum_epoch_request

    messages = begin_quorum_epoch_request
    partition = messages.PartitionData(
        partition_index=PARTITION,
        voter_directory_id=voter.directory_id,
        leader_id=leader.key.id,
        leader_epoch=epoch,
    )
    return messages.BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.id,
        topics=[messages.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[
            messages.LeaderEndpoint(name=at.name, host=at.host, port=at.port)
            for at in leader.endpoints
        ],
    )


def make_end_epoch(
    cluster_id: str, leader: VoterNode, epoch: int, successors: Sequence[ReplicaKey]
) -> end_quorum_epoch_request.EndQuorumEpochRequest:
    """Tell a voter that `leader` resigns, and who should follow, best first."""
    from pykbroker.protocol.messages import end_quorum_epoch_request

    messages = end_quorum_epoch_request
    partition = messages.PartitionData(
        partition_index=PARTITION,
        leader_id=leader.key.id,
        leader_epoch=epoch,
        preferred_successors=[key.id for key in successors],
        preferred_candidates=[
            messages.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in successors
        ],
    )
    return messages.EndQuorumEpochRequest(
        cluster_id=cluster_id,
        topics=[messages.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[
            messages.LeaderEndpoint(name=at.name, host=at.host, port=at.port)
            for at in leader.endpoints
        ],
    )


def make_fetch(
    cluster_id: str,
    me: ReplicaKey,
    epoch: int,
    end: LogEnd,
    high_watermark: int,
    *,
    max_wait_ms: int,
    max_bytes: int,
) -> fetch_request.FetchRequest:
    """Fetch the metadata log from its end on."""
    from pykbroker.protocol.messages import fetch_request

    partition = fetch_request.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        log_start_offset=-1,
        partition_max_bytes=max_bytes,
        replica_directory_id=me.directory_id,
        high_watermark=high_watermark,
    )
    topic = fetch_request.FetchTopic(
        topic=CLUSTER_METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition]
    )
    return fetch_request.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=me.id),
        max_wait_ms=max_wait_ms,
        max_bytes=max_bytes,
        topics=[topic],
    )


def make_fetch_snapshot(
    cluster_id: str, me: ReplicaKey, epoch: int, snapshot: SnapshotId, position: int, max_bytes: int
) -> fetch_snapshot_request.FetchSnapshotRequest:
    """Fetch a part of a snapshot of the leader."""
    from pykbroker.protocol.messages import fetch_snapshot_request

    messages = fetch_snapshot_request
    partition = messages.PartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=epoch,
        snapshot_id=messages.SnapshotId(end_offset=snapshot.offset, epoch=snapshot.epoch),
        position=position,
        replica_directory_id=me.directory_id,
    )
    return messages.FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=me.id,
        max_bytes=max_bytes,
        topics=[messages.TopicSnapshot(name=CLUSTER_METADATA_TOPIC, partitions=[partition])],
    )


def make_update_voter(
    cluster_id: str, me: VoterNode, epoch: int
) -> update_raft_voter_request.UpdateRaftVoterRequest:
    """Tell the leader where this voter listens and which kraft.version it supports (KIP-853)."""
    from pykbroker.protocol.messages import update_raft_voter_request

    messages = update_raft_voter_request
    return messages.UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter_id=me.key.id,
        voter_directory_id=me.key.directory_id,
        listeners=[
            messages.Listener(name=at.name, host=at.host, port=at.port) for at in me.endpoints
        ],
        kraft_version_feature=messages.KRaftVersionFeature(
            min_supported_version=me.kraft_versions.min,
            max_supported_version=me.kraft_versions.max,
        ),
    )


class Known(NamedTuple):
    """The quorum as described by a response: the epoch, the leader, and its address."""

    epoch: int
    leader_id: int
    endpoint: VoterEndpoint | None


def only_partition(message: Any) -> Any | None:
    """Return the entry of __cluster_metadata-0 in a request or response; None
    if it is not the only one.
    """
    topics = message.responses if hasattr(message, "responses") else message.topics
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return None
    topic, partition = topics[0], topics[0].partitions[0]
    name = getattr(topic, "topic_name", None) or getattr(topic, "name", None)
    name = name or getattr(topic, "topic", None)
    topic_id = getattr(topic, "topic_id", METADATA_TOPIC_ID)
    index = next(
        getattr(partition, field)
        for field in ("partition_index", "partition", "index")
        if hasattr(partition, field)
    )
    if index != PARTITION or (name or CLUSTER_METADATA_TOPIC) != CLUSTER_METADATA_TOPIC:
        return None
    if not name and topic_id != METADATA_TOPIC_ID:
        return None
    return partition


def known_by(response: Any, partition: Any) -> Known:
    """Return the quorum as described by the sender of a response."""
    leader = partition.current_leader if hasattr(partition, "current_leader") else partition
    if leader is None:
        return Known(-1, -1, None)
    leader_id: int = leader.leader_id
    endpoint = next(
        (
            VoterEndpoint("", node.host, node.port)
            for node in getattr(response, "node_endpoints", None) or ()
            if node.node_id == leader_id
        ),
        None,
    )
    return Known(leader.leader_epoch, leader_id, endpoint)

"""Answers requests of other replicas of the quorum: votes, epochs, the log, snapshots.

    Vote, BeginQuorumEpoch, EndQuorumEpoch   an event of the machine; its Reply becomes the response
    Fetch of __cluster_metadata              the leader's log, zero-copy; parked in the purgatory
                                             if there is nothing new and the replica waits
    FetchSnapshot                            a slice of a snapshot file
    UpdateRaftVoter                          a voter's endpoints: see `raft_voter_updates.py`

In:    request messages. Out: response messages, or a Deferred of one. Votes, epochs and updates of
       voters raise KafkaError if the disk failed, the first two also if the node is stopping.
Invariants: a vote is on disk before it is answered; only the leader answers fetches with records.
Source: Kafka's `KafkaRaftClient.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.environment.files import FileSlice
from pykbroker.errors import ErrorCode
from pykbroker.kraft.metadata_log import MetadataLog
from pykbroker.kraft.metadata_snapshot import BOOTSTRAP, SnapshotId
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft import raft_rpc
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.kraft.raft.raft_peers import RaftPeers
from pykbroker.kraft.raft.raft_voter_updates import VoterUpdates
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.protocol.messages import (
    begin_quorum_epoch_response,
    end_quorum_epoch_response,
    fetch_response,
    fetch_snapshot_response,
    vote_response,
)
from pykbroker.protocol.messages.update_raft_voter_response import UpdateRaftVoterResponse
from pykbroker.protocol.primitives import METADATA_TOPIC_ID, uuid_to_str
from pykbroker.purgatory import DelayedOperation, Purgatory

KEY = "__cluster_metadata"
VOTER_UPDATE_TIMEOUT_MS = 5_000
TWIN_LOG_INTERVAL_MS = 60_000

INVALID_REQUEST = int(ErrorCode.INVALID_REQUEST)

_log = logging.getLogger(__name__)


class RaftService:
    """Answers requests of other replicas of the quorum."""

    def __init__(
        self,
        *,
        driver: RaftDriver,
        peers: RaftPeers,
        cluster_id: str,
        purgatory: Purgatory,
        now_ms: Callable[[], int],
    ) -> None:
        self.driver = driver
        self.raft = driver.raft
        self._peers = peers
        self._cluster_id = cluster_id
        self._purgatory = purgatory
        self._now_ms = now_ms
        self._next_reply = 0
        self._next_twin_log_ms = 0
        self._updates = VoterUpdates(driver, purgatory, KEY)
        driver.follow_progress(self.on_progress)

    def on_progress(self) -> None:
        """Check parked fetches, because the log grew, more is committed, or the leader changed."""
        if self._purgatory.is_watched(KEY):
            self._purgatory.check(KEY)

    # ---------------------------------------------------------------- elections

    def vote(self, message: Any) -> vote_response.VoteResponse:
        """VoteRequest."""
        code = self._refusal(message)
        if code:
            return vote_response.VoteResponse(error_code=code)
        asked = message.topics[0].partitions[0]
        if asked.replica_id < 0:
            return self._vote_response(INVALID_REQUEST, granted=False)
        voter = None
        if message.voter_id >= 0:
            voter = ReplicaKey(message.voter_id, asked.voter_directory_id)
        reply = self.driver.answer(
            ev.VoteRequested(
                ReplicaKey(asked.replica_id, asked.replica_directory_id),
                asked.replica_epoch,
                ev.LogEnd(asked.last_offset_epoch, asked.last_offset),
                asked.pre_vote,
                voter,
                self._reply_id(),
            )
        )
        return self._vote_response(reply.error_code, granted=reply.granted)

    def _vote_response(self, code: int, *, granted: bool) -> vote_response.VoteResponse:
        raft = self.raft
        partition = vote_response.PartitionData(
            partition_index=0,
            error_code=code,
            leader_id=raft.leader_id,
            leader_epoch=raft.epoch,
            vote_granted=granted,
        )
        topic = vote_response.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
        return vote_response.VoteResponse(
            topics=[topic], node_endpoints=self._leader_nodes(vote_response.NodeEndpoint)
        )

    def begin_quorum_epoch(
        self, message: Any
    ) -> begin_quorum_epoch_response.BeginQuorumEpochResponse:
        """BeginQuorumEpochRequest."""
        messages = begin_quorum_epoch_response
        code = self._refusal(message)
        if code:
            return messages.BeginQuorumEpochResponse(error_code=code)
        asked = message.topics[0].partitions[0]
        code = INVALID_REQUEST
        if asked.leader_id >= 0:
            self._learn_leader(asked.leader_id, message.leader_endpoints)
            reply = self.driver.answer(
                ev.BeginEpochRequested(
                    self._peers.reachable(asked.leader_id), asked.leader_epoch, self._reply_id()
                )
            )
            code = reply.error_code
            voter = ReplicaKey(message.voter_id, asked.voter_directory_id)
            if not code and message.voter_id >= 0 and not voter.matches(self.raft.local.key):
                code = int(ErrorCode.INVALID_VOTER_KEY)
        partition = messages.PartitionData(
            partition_index=0,
            error_code=code,
            leader_id=self.raft.leader_id,
            leader_epoch=self.raft.epoch,
        )
        topic = messages.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
        return messages.BeginQuorumEpochResponse(
            topics=[topic], node_endpoints=self._leader_nodes(messages.NodeEndpoint)
        )

    def end_quorum_epoch(self, message: Any) -> end_quorum_epoch_response.EndQuorumEpochResponse:
        """EndQuorumEpochRequest."""
        messages = end_quorum_epoch_response
        code = self._refusal(message)
        if code:
            return messages.EndQuorumEpochResponse(error_code=code)
        asked = message.topics[0].partitions[0]
        code = INVALID_REQUEST
        if asked.leader_id >= 0:
            self._learn_leader(asked.leader_id, message.leader_endpoints)
            successors = tuple(
                ReplicaKey(at.candidate_id, at.candidate_directory_id)
                for at in asked.preferred_candidates
            ) or tuple(ReplicaKey(node_id) for node_id in asked.preferred_successors)
            code = self.driver.answer(
                ev.EndEpochRequested(
                    self._peers.reachable(asked.leader_id),
                    asked.leader_epoch,
                    successors,
                    self._reply_id(),
                )
            ).error_code
        partition = messages.PartitionData(
            partition_index=0,
            error_code=code,
            leader_id=self.raft.leader_id,
            leader_epoch=self.raft.epoch,
        )
        topic = messages.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
        return messages.EndQuorumEpochResponse(
            topics=[topic], node_endpoints=self._leader_nodes(messages.NodeEndpoint)
        )

    # ---------------------------------------------------------------- the log

    def fetch(self, message: Any) -> fetch_response.FetchResponse | Deferred:
        """FetchRequest for __cluster_metadata; returns a Deferred if there is nothing new and the
        replica waits.
        """
        code = self._refusal(message)
        if code:
            return fetch_response.FetchResponse(error_code=code)
        asked = message.topics[0].partitions[0]
        if (
            message.max_wait_ms < 0
            or asked.fetch_offset < 0
            or asked.last_fetched_epoch < 0
            or asked.last_fetched_epoch > asked.current_leader_epoch
        ):
            return self._fetch_response(self._entry(INVALID_REQUEST))
        waiting = _WaitingFetch(self, message)
        entry = self.read(message)
        if message.max_wait_ms == 0 or waiting.is_worth_an_answer(entry):
            return self._fetch_response(entry)
        deadline_ms = self._now_ms() + message.max_wait_ms
        self._purgatory.watch(waiting, (KEY,), deadline_ms)
        return waiting.deferred

    def answer_fetch(self, message: Any) -> fetch_response.FetchResponse:
        """Answer a fetch that has waited, with what is available now."""
        return self._fetch_response(self.read(message))

    def read(self, message: Any) -> fetch_response.PartitionData:
        """Return the entry of the response, with what the log has for the replica now."""
        asked = message.topics[0].partitions[0]
        log = self.driver.log
        code = self._leader_only(asked.current_leader_epoch)
        if code:
            return self._entry(code)
        latest = log.latest_snapshot_id()
        if asked.fetch_offset == 0 and latest is not None and latest != BOOTSTRAP:
            # An empty replica: a snapshot is smaller than the log that led to it.
            return self._entry(0, snapshot=latest)
        snapshot, diverging = self._parting(log, asked)
        if snapshot is not None:
            return self._entry(0, snapshot=snapshot)
        if diverging is not None:
            return self._entry(0, diverging=diverging)
        replica = ReplicaKey(_replica_id(message), asked.replica_directory_id)
        if replica.id == self.raft.local.key.id:
            self._log_twin(replica)
            return self._entry(int(ErrorCode.UNKNOWN_SERVER_ERROR))
        self.driver.step(ev.FollowerFetched(replica, asked.fetch_offset))
        if asked.fetch_offset >= log.end.offset:
            return self._entry(0)
        found = log.log.read(asked.fetch_offset, message.max_bytes, log.end.offset).slice
        return self._entry(0, records=found or b"")

    def _log_twin(self, twin: ReplicaKey) -> None:
        """Log that a second node has this node's id; it fetches again at once, so not each time."""
        now_ms = self._now_ms()
        if now_ms < self._next_twin_log_ms:
            return
        self._next_twin_log_ms = now_ms + TWIN_LOG_INTERVAL_MS
        _log.error(
            "A second node with this node's id, %d, fetches the metadata (directory.id %s) and is "
            "refused; give it another node.id",
            twin.id,
            uuid_to_str(twin.directory_id),
        )

    def _parting(self, log: MetadataLog, asked: Any) -> tuple[SnapshotId | None, ev.LogEnd | None]:
        """Return where the replica's log diverges from this one: (snapshot to
        fetch, end to truncate to).

        Source: Kafka's `RaftLog.validateOffsetAndEpoch`.
        """
        offset, epoch = asked.fetch_offset, asked.last_fetched_epoch
        start = log.start_offset
        if start == 0 and offset == 0:
            return None, None
        earliest = log.snapshots[0] if log.snapshots else None
        if earliest is not None and earliest != BOOTSTRAP:
            before = offset < start or epoch < earliest.epoch
            if before or (offset == start and epoch != earliest.epoch):
                return log.latest_snapshot_id(), None
        end = log.end_of_epoch(epoch)
        if end.epoch != epoch or end.offset < offset:
            return None, end
        return None, None

    def _entry(
        self,
        code: int,
        *,
        records: FileSlice | bytes = b"",
        snapshot: SnapshotId | None = None,
        diverging: ev.LogEnd | None = None,
    ) -> fetch_response.PartitionData:
        raft = self.raft
        entry = fetch_response.PartitionData(
            partition_index=0,
            error_code=code,
            high_watermark=-1 if code else raft.reported_high_watermark,
            log_start_offset=self.driver.log.start_offset,
            current_leader=fetch_response.LeaderIdAndEpoch(
                leader_id=raft.leader_id, leader_epoch=raft.epoch
            ),
            aborted_transactions=[],
            records=records,
        )
        if snapshot is not None:
            entry.snapshot_id = fetch_response.SnapshotId(
                end_offset=snapshot.offset, epoch=snapshot.epoch
            )
        if diverging is not None:
            entry.diverging_epoch = fetch_response.EpochEndOffset(
                epoch=diverging.epoch, end_offset=diverging.offset
            )
        return entry

    def _fetch_response(self, entry: fetch_response.PartitionData) -> fetch_response.FetchResponse:
        topic = fetch_response.FetchableTopicResponse(
            topic=CLUSTER_METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[entry]
        )
        return fetch_response.FetchResponse(
            responses=[topic], node_endpoints=self._leader_nodes(fetch_response.NodeEndpoint)
        )

    # ---------------------------------------------------------------- snapshots

    def fetch_snapshot(self, message: Any) -> fetch_snapshot_response.FetchSnapshotResponse:
        """FetchSnapshotRequest: a slice of a snapshot file."""
        messages = fetch_snapshot_response
        if not self._is_our_cluster(message.cluster_id):
            return messages.FetchSnapshotResponse(error_code=int(ErrorCode.INCONSISTENT_CLUSTER_ID))
        if len(message.topics) != 1 or len(message.topics[0].partitions) != 1:
            return messages.FetchSnapshotResponse(error_code=INVALID_REQUEST)
        asked = message.topics[0].partitions[0]
        if message.topics[0].name != CLUSTER_METADATA_TOPIC or asked.partition != 0:
            entry = messages.PartitionSnapshot(
                index=asked.partition,
                error_code=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                unaligned_records=b"",
            )
        else:
            entry = self._snapshot_entry(message, asked)
        topic = messages.TopicSnapshot(name=message.topics[0].name, partitions=[entry])
        return messages.FetchSnapshotResponse(
            topics=[topic], node_endpoints=self._leader_nodes(messages.NodeEndpoint)
        )

    def _snapshot_entry(
        self, message: Any, asked: Any
    ) -> fetch_snapshot_response.PartitionSnapshot:
        messages, raft, log = fetch_snapshot_response, self.raft, self.driver.log
        wanted = SnapshotId(asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
        entry = messages.PartitionSnapshot(
            index=0,
            snapshot_id=messages.SnapshotId(end_offset=-1, epoch=-1),
            current_leader=messages.LeaderIdAndEpoch(
                leader_id=raft.leader_id, leader_epoch=raft.epoch
            ),
            unaligned_records=b"",
        )
        entry.error_code = self._leader_only(asked.current_leader_epoch)
        if entry.error_code:
            return entry
        if wanted not in log.snapshots or wanted == BOOTSTRAP:
            entry.error_code = int(ErrorCode.SNAPSHOT_NOT_FOUND)
            return entry
        size = log.snapshot_size(wanted)
        if not 0 <= asked.position < size:
            entry.error_code = int(ErrorCode.POSITION_OUT_OF_RANGE)
            return entry
        replica = ReplicaKey(message.replica_id, asked.replica_directory_id)
        self.driver.step(ev.FollowerFetchedSnapshot(replica))
        length = min(size - asked.position, max(message.max_bytes, 1))
        entry.snapshot_id = messages.SnapshotId(end_offset=wanted.offset, epoch=wanted.epoch)
        entry.size = size
        entry.position = asked.position
        entry.unaligned_records = log.read_snapshot_slice(wanted, asked.position, length)
        return entry

    # ---------------------------------------------------------------- voters

    def update_raft_voter(self, message: Any) -> UpdateRaftVoterResponse | Deferred:
        """UpdateRaftVoterRequest."""
        if not self._is_our_cluster(message.cluster_id):
            return self._updates.answer(ErrorCode.INCONSISTENT_CLUSTER_ID)
        deadline_ms = self._now_ms() + VOTER_UPDATE_TIMEOUT_MS
        leader_only = self._leader_only(message.current_leader_epoch)
        return self._updates.update(message, leader_only, deadline_ms)

    # ---------------------------------------------------------------- what they share

    def _refusal(self, message: Any) -> int:
        """Return the error code if the request is not for this cluster and its one partition, else
        0.
        """
        if not self._is_our_cluster(message.cluster_id):
            return int(ErrorCode.INCONSISTENT_CLUSTER_ID)
        return 0 if raft_rpc.only_partition(message) is not None else INVALID_REQUEST

    def _is_our_cluster(self, cluster_id: str | None) -> bool:
        return cluster_id is None or cluster_id == self._cluster_id

    def _leader_only(self, epoch: int) -> int:
        """Return 0 if this replica leads `epoch` and is not stopping, else the error code."""
        raft = self.raft
        if self.driver.is_stopped:
            return int(ErrorCode.BROKER_NOT_AVAILABLE)
        if epoch < raft.epoch:
            return int(ErrorCode.FENCED_LEADER_EPOCH)
        if epoch > raft.epoch:
            return int(ErrorCode.UNKNOWN_LEADER_EPOCH)
        return 0 if raft.is_leader else int(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _learn_leader(self, leader_id: int, endpoints: Any) -> None:
        found = [VoterEndpoint(at.name, at.host, at.port) for at in endpoints]
        self._peers.learn_one_of(leader_id, found)

    def _leader_nodes(self, make: Callable[..., Any]) -> list[Any]:
        """Return the address of the leader, for replicas that do not know it yet; empty if it is
        unknown.
        """
        raft = self.raft
        leader_id = raft.leader_id
        if leader_id == raft.local.key.id:
            endpoint = self._peers.endpoint_of(raft.local)
            return [make(node_id=leader_id, host=endpoint.host, port=endpoint.port)]
        peer = self._peers.find(leader_id)
        return [] if peer is None else [make(node_id=leader_id, host=peer.host, port=peer.port)]

    def _reply_id(self) -> int:
        self._next_reply += 1
        return self._next_reply


class _WaitingFetch(DelayedOperation):
    """The Fetch of a replica that is up to date."""

    __slots__ = ("_message", "_service", "deferred")

    KIND = "MetadataFetch"

    def __init__(self, service: RaftService, message: Any) -> None:
        super().__init__()
        self._service = service
        self._message = message
        self.deferred = Deferred()

    def is_worth_an_answer(self, entry: fetch_response.PartitionData) -> bool:
        """Return whether the response has anything new for the replica."""
        asked = self._message.topics[0].partitions[0]
        return bool(
            entry.error_code
            or len(entry.records or b"")  # type: ignore[arg-type]
            or entry.snapshot_id is not None
            or entry.diverging_epoch is not None
            or entry.high_watermark > asked.high_watermark
        )

    def try_complete(self) -> bool:
        service = self._service
        asked = self._message.topics[0].partitions[0]
        if (
            service.driver.raft.is_leader
            and service.driver.raft.epoch == asked.current_leader_epoch
            and service.driver.log.end.offset <= asked.fetch_offset
            and service.driver.raft.reported_high_watermark <= asked.high_watermark
        ):
            return False
        self.deferred.resolve(service.answer_fetch(self._message))
        return True

    def expire(self) -> None:
        self.deferred.resolve(self._service.answer_fetch(self._message))


def _replica_id(message: Any) -> int:
    """Return the replica id: before version 15 a top-level field, then in the replica's state."""
    state = message.replica_state
    if state is not None and state.replica_id >= 0:
        return int(state.replica_id)
    return int(message.replica_id)

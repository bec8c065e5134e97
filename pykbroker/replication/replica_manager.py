"""All partitions of this node: found by name or id, made and dropped as the metadata says, appended
to, and written at the end of each round of the worker.

    append ... append ... append        validate, assign offsets, queue (partition, log)
    end_turn (at the end of a round)    writes what is queued, partition by partition
                                        -> log ends, high watermarks
                                        -> produces of the round, acks=all, coordinators, fetches

State: the partitions, which of them are dirty, which appends of this round wait for the write.
Out: outcomes of appends; deferred replies resolved; listeners notified; purgatory keys checked;
     ISR changes and followed partitions handed to the drivers that `connect` named.
Invariants: nothing is acknowledged before it is written; a failed write takes its directory
offline, and fails the round's appends there that are not written.
Source: Kafka's `ReplicaManager.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, assert_never

from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import AppendOrigin, AppendOutcome, PartitionLog
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from pykbroker.replication.follower_session import FollowerSession
from pykbroker.replication.high_watermark import within
from pykbroker.replication.hosting import Hosting
from pykbroker.replication.partition import Partition
from pykbroker.replication.partition_events import (
    BecameFollower,
    BecameLeader,
    Effect,
    Event,
    HighWatermarkAdvanced,
    IsrCheckDue,
    LowWatermarkAdvanced,
    ProposalRefused,
    ProposeIsr,
)
from pykbroker.replication.watchers import PartitionListener, Watchers
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.log.partition.log_appender import PlainCheck
    from pykbroker.log.producers.verification import VerificationGuard
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.purgatory import Purgatory
    from pykbroker.replication.delayed_produce import DelayedAcknowledgement

_log = logging.getLogger(__name__)

STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)
NO_PARTITIONS: Mapping[int, Partition] = {}
NOT_ATTEMPTED = int(ErrorCode.OPERATION_NOT_ATTEMPTED)


class IsrProposals(Protocol):
    """Sends changes of in-sync replicas to the controller."""

    def submit(self, partition: Partition, proposal: ProposeIsr) -> None:
        """Send `proposal`; the answer arrives as a step of the partition."""


class Following(Protocol):
    """The fetchers of this node's followers."""

    def follow(self, partition: Partition) -> None:
        """Fetch from the partition's current leader."""

    def leave(self, partition: Partition) -> None:
        """Stop fetching; does nothing if the partition is not fetched."""


class AwaitsTurn(Protocol):
    """An operation that has queued something and waits until it is written."""

    def on_turn_written(self, failed: Container[Partition]) -> DelayedAcknowledgement | None:
        """The round's writes are done, those of `failed` in vain; return what has to wait longer,
        None if nothing has.
        """


class ReplicaManager:
    """All partitions of this node: hosting, appends and the end of each round."""

    def __init__(
        self,
        node_id: int,
        log_manager: LogManager,
        purgatory: Purgatory,
        config: BrokerConfig,
        on_placed: Callable[[Mapping[tuple[bytes, int], bytes]], None] | None = None,
        breathe: Callable[[], None] = lambda: None,
    ) -> None:
        """on_placed: takes (topic id, partition) -> directory id of replicas that the metadata has
        elsewhere. breathe: called between partitions of a change (`environment/slices.py`)."""
        self.node_id = node_id
        self.purgatory = purgatory
        self.watchers = Watchers(purgatory)
        self.hosting = Hosting(node_id, log_manager, config)
        self._breathe = breathe
        self._log_manager = log_manager
        log_manager.follow_moves(self._on_log_moved)
        log_manager.follow_log_starts(self._on_log_start)
        self._on_placed = on_placed
        self._dirty: dict[Partition, None] = {}
        self._turn_waiting: list[AwaitsTurn] = []
        self._failed: set[Partition] = set()  # lost what this round queued before its end
        self._with_followers: dict[Partition, None] = {}  # those that have a deadline
        self._proposals: IsrProposals | None = None
        self._following: Following | None = None

    def connect(self, proposals: IsrProposals, following: Following) -> None:
        """Set the drivers of this node's replication, before the first image.

        Without them this node does not change the in-sync replicas, and its followers do not fetch.
        """
        self._proposals = proposals
        self._following = following

    # ---- metadata

    @property
    def image(self) -> MetadataImage:
        """The image that the partitions follow."""
        return self.hosting.image

    def apply(self, delta: MetadataDelta, image: MetadataImage, now_ms: int) -> None:
        """Publisher step: create, change and drop partitions according to `delta`."""
        self.end_turn(now_ms)  # a gathered pipeline is answered before what it relied on changes
        for partition, effects in self.hosting.apply(delta, image, now_ms):
            if effects is None:
                self._lose(partition)
            else:
                self._carry_out(partition, effects, now_ms)
                if partition.next_deadline_ms() is not None:
                    self._with_followers[partition] = None
            self.watchers.on_changed(partition)
            self._breathe()
        self._tell_placed()
        if self.hosting.lost:
            lost, self.hosting.lost = self.hosting.lost, []
            self._retire(lost, ())
            self._check_directories()

    def on_broker_config(self, config: BrokerConfig) -> None:
        """Apply a changed (dynamic) broker configuration, from which topics inherit."""
        self.hosting.on_broker_config(config)

    def _tell_placed(self) -> None:
        """Report log directories to the controller, which must know the replicas in each."""
        if self.hosting.placed:
            placed, self.hosting.placed = self.hosting.placed, {}
            if self._on_placed is not None:
                self._on_placed(placed)

    # ---- finding partitions

    def find(self, topic: str, index: int) -> Partition | None:
        """The partition if this node hosts it (its directory may be offline: see `hosted`)."""
        partitions = self.hosting.by_name.get(topic)
        return None if partitions is None else partitions.get(index)

    def partitions_of(self, topic: str) -> Mapping[int, Partition]:
        """Return the partitions of a topic that this node hosts, by index; see `find`."""
        return self.hosting.by_name.get(topic, NO_PARTITIONS)

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id in the image."""
        topic = self.hosting.image.topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def lookup(self, topic: str, index: int) -> Partition | int:
        """Return the partition, or the error code for a request for it."""
        partition = self.find(topic, index)
        if partition is not None and partition.hosted:
            return partition
        if partition is not None:
            return partition.offline_code
        if (topic, index) in self.hosting.offline:
            return STORAGE_ERROR
        if self.hosting.image.partition(topic, index) is not None:
            # It exists, elsewhere: the client's metadata is old.
            return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def partition(self, topic_partition: TopicPartition) -> Partition:
        """The partition; KafkaError when this node does not host it or its directory is offline."""
        found = self.lookup(topic_partition.topic, topic_partition.partition)
        if isinstance(found, int):
            raise KafkaError(found)
        return found

    def resolve(self, asked: FetchPartition) -> Partition | int:
        """What a fetch entry means now; remembers it there. The error code when there is none."""
        if asked.topic is None:
            asked.topic = self.topic_name(asked.topic_id)
            if asked.topic is None:
                return int(ErrorCode.UNKNOWN_TOPIC_ID)
        found = self.lookup(asked.topic, asked.index)
        if isinstance(found, int):
            return found
        if asked.topic_id != ZERO_UUID and asked.topic_id != found.topic_id:
            return int(ErrorCode.INCONSISTENT_TOPIC_ID)
        asked.partition = found
        return found

    def partitions(self) -> Iterator[Partition]:
        """Return every partition that this node hosts, including those whose directory has failed
        since.
        """
        for by_index in self.hosting.by_name.values():
            yield from by_index.values()

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """Return the high watermarks for the replication-offset-checkpoint files."""
        return {p.topic_partition: p.high_watermark for p in self.partitions() if p.hosted}

    # ---- appends

    def append(
        self,
        partition: Partition,
        records: memoryview,
        acks: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        checked: ValidationOutcome | None = None,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> AppendOutcome:
        """Queue `records` as leader; written at the end of the round. KafkaError: see Partition,
        and KAFKA_STORAGE_ERROR if the log directory failed.

        `guard` and `transaction_version`: of a transaction's batch and of its marker.
        """
        try:
            outcome = partition.append_as_leader(
                records, acks, now_ms, origin, checked, guard, transaction_version
            )
        except LogDirFailure as failure:
            # The segment had to roll: what this round had queued before could not be written.
            self.on_directory_failure(failure)
            raise KafkaError(STORAGE_ERROR) from failure
        if outcome.queued:
            self._dirty[partition] = None
        return outcome

    def queue_plain(
        self, partition: Partition, records: memoryview, plain: PlainCheck, now_ms: int
    ) -> tuple[int, int]:
        """Queue what `partition.check_plain` has checked; return (base offset, next offset)."""
        self._dirty[partition] = None
        return partition.queue_plain(records, plain, now_ms)

    def await_turn(self, waiting: AwaitsTurn) -> None:
        """Notify `waiting` when this round's writes are done."""
        self._turn_waiting.append(waiting)

    def queue_own(
        self, partition: Partition, batch: bytearray, leader_epoch: int, now_ms: int
    ) -> tuple[int, int] | None:
        """Queue a batch that this node has just built: see `Partition.queue_own`."""
        queued = partition.queue_own(batch, leader_epoch, now_ms)
        if queued is not None:
            self._dirty[partition] = None
        return queued

    def await_acknowledgement(self, waiting: DelayedAcknowledgement) -> None:
        """Check `waiting` when one of its partitions acknowledges more, until its deadline."""
        self.watchers.await_acknowledgement(waiting)

    def watch(self, topic_partition: TopicPartition, listener: PartitionListener) -> None:
        """Notify `listener` of the partition's high watermark, and when it is lost."""
        self.watchers.watch(topic_partition, listener)

    def unwatch(self, topic_partition: TopicPartition, listener: PartitionListener) -> None:
        """Stop notifying `listener`; does nothing if it did not watch."""
        self.watchers.unwatch(topic_partition, listener)

    # ---- the end of a round

    def end_turn(self, now_ms: int) -> bool:
        """Write what was queued and answer what waited; True if that queued more to write."""
        dirty = self._dirty
        waiting = self._turn_waiting
        if not dirty and not waiting:
            return False
        failed = self._failed
        self._dirty = {}
        self._turn_waiting = []
        moved: list[Partition] = []
        grown: list[Partition] = []  # but not what consumers see of them
        for partition in dirty:
            if not partition.hosted:
                continue  # its directory failed in this round
            try:
                partition.log.write_pending()
            except LogDirFailure as failure:
                failed.add(partition)
                self.on_directory_failure(failure, dirty)
                continue
            if partition.on_written(now_ms):
                moved.append(partition)
            else:
                grown.append(partition)
        self._failed = set()
        self._answer_waiting(waiting, failed)
        watchers = self.watchers
        watchers.on_committed(moved)
        if grown:
            watchers.on_grown(grown)
        if watchers.woken:
            watchers.check_sessions()
        return bool(self._dirty or self._turn_waiting)

    def _answer_waiting(self, waiting: list[AwaitsTurn], failed: set[Partition]) -> None:
        for each in waiting:
            still_waiting = each.on_turn_written(failed)
            if still_waiting is not None:
                self.watchers.await_acknowledgement(still_waiting)

    # ---- replication

    def follower_session(self) -> FollowerSession:
        """A new session of a follower, whose fetches wait in this node's purgatory."""
        return FollowerSession(self.watchers.woken)

    def is_stale(self, params: FetchParams) -> bool:
        """Does a follower's fetch come from an earlier life of its broker?"""
        return self.hosting.brokers.is_stale(params.replica_id, params.replica_epoch)

    def note_follower_fetch(
        self,
        params: FetchParams,
        result: FetchResult,
        now_ms: int,
        session: FollowerSession | None = None,
    ) -> None:
        """Record how far a follower is, from what was read for it without an error or a divergence:
        of a session's fetch what was dirty."""
        for asked, entry in result.answers:
            if not entry.error_code and entry.diverging_epoch is None:
                self._note_good_read(params, asked, now_ms, session)
        if session is not None:
            for asked in result.at_end:
                self._note_good_read(params, asked, now_ms, session)
            session.fetched(now_ms)

    def _note_good_read(
        self,
        params: FetchParams,
        asked: FetchPartition,
        now_ms: int,
        session: FollowerSession | None,
    ) -> None:
        partition = asked.partition
        if partition is None or not partition.is_leader:
            return
        replica_id = params.replica_id
        follower = partition.followers.get(replica_id)
        if follower is None:
            return  # it was reassigned between the slices of a long read
        effects = partition.on_follower_fetch(
            replica_id, params.replica_epoch, asked.fetch_offset, asked.log_start_offset, now_ms
        )
        if session is not None:
            session.noted(asked, follower)
        if effects:
            self._carry_out(partition, effects, now_ms)

    def step(self, partition: Partition, event: Event, now_ms: int) -> None:
        """Pass `event` to a partition, if it is still hosted, and carry out its effects."""
        if partition.hosted:
            self._carry_out(partition, partition.step(event, now_ms), now_ms)

    def next_deadline_ms(self) -> int | None:
        """Return when to call `advance` next; None while no partition led here has followers."""
        deadlines = (partition.next_deadline_ms() for partition in self._with_followers)
        return min((at for at in deadlines if at is not None), default=None)

    def advance(self, now_ms: int) -> None:
        """Check the in-sync replicas of the partitions that are due."""
        for partition in list(self._with_followers):
            deadline_ms = partition.next_deadline_ms()
            if deadline_ms is None:
                del self._with_followers[partition]
            elif deadline_ms <= now_ms:
                self.step(partition, IsrCheckDue(), now_ms)

    def _carry_out(self, partition: Partition, effects: list[Effect], now_ms: int) -> None:
        for effect in effects:
            match effect:
                case HighWatermarkAdvanced():
                    self.on_high_watermark_moved(partition)
                case LowWatermarkAdvanced():
                    self.watchers.on_low_watermark(partition)
                case BecameLeader():
                    if self._following is not None:
                        self._following.leave(partition)
                case BecameFollower():
                    if self._following is not None:
                        self._following.follow(partition)
                case ProposeIsr():
                    if self._proposals is not None:
                        self._proposals.submit(partition, effect)
                    else:
                        self.step(partition, ProposalRefused(effect, NOT_ATTEMPTED), now_ms)
                case _:
                    assert_never(effect)

    def on_high_watermark_moved(self, partition: Partition) -> None:
        """Complete the operations that wait for the high watermark of `partition`."""
        self.watchers.on_committed((partition,))

    def _on_log_start(self, log: PartitionLog) -> None:
        """Have the sessions of followers report the new log start offset."""
        partition = self.find(*log.topic_partition)
        if partition is not None and partition.log is log:
            partition.followers.touch()

    def _on_log_moved(self, topic_partition: TopicPartition, log: PartitionLog) -> None:
        """Replace the log of a partition, which was moved to another directory."""
        partition = self.find(*topic_partition)
        if partition is not None:
            partition.log = log
            partition.high_watermark = within(log, partition.high_watermark)  # it may begin later
            if partition.is_leader:  # the copy does not know of an epoch without records
                start_offset = partition.leader_epoch_start_offset
                log.assign_epoch_start(partition.leader_epoch, start_offset)
            partition.followers.touch()
            directory = self._log_manager.directory_id_of(log)
            if directory is not None:
                self.hosting.placed[partition.topic_id, partition.index] = directory
                self._tell_placed()

    # ---- failures

    def on_directory_failure(
        self, failure: LogDirFailure, dirty: Container[Partition] = ()
    ) -> None:
        """Take the partitions of a failed log directory offline; their queued appends are lost."""
        self._retire(self._log_manager.on_dir_failure(failure.directory, failure), dirty)
        self._check_directories()

    def _retire(self, lost: list[TopicPartition], dirty: Container[Partition]) -> None:
        for topic_partition in lost:
            partition = self.find(*topic_partition)
            if partition is None or not partition.hosted:
                continue
            partition.retire(STORAGE_ERROR)
            if partition in dirty and partition.log.has_pending:
                self._failed.add(partition)
            self._lose(partition)
            self.watchers.on_changed(partition)

    def _check_directories(self) -> None:
        if not any(directory.is_online for directory in self._log_manager.directories):
            _log.critical("all log directories have failed: this node has no partitions left")

    def _lose(self, partition: Partition) -> None:
        if partition in self._dirty:
            del self._dirty[partition]
            self._failed.add(partition)
        self._with_followers.pop(partition, None)
        if self._following is not None:
            self._following.leave(partition)
        self.watchers.on_failed(partition)

"""One partition of this node: its role, in-sync replicas, high watermark and log.

State: the last registration from the metadata image (replicas, leader, epochs), the ISR with a
change not yet confirmed, the followers' progress (as leader), the high watermark, and the log.
In:  `step(event, now_ms)` for what the cluster does; `append_as_leader`, `on_written`, `bound`, ...
     for what clients do (plain calls: the hot path).
Invariants: the high watermark never goes back while this node leads; it is at most the log end;
a partition epoch never goes back; one ISR change at a time is in flight. A partition that is no
longer `hosted` (deleted, moved away, or its log directory failed) takes no append, and its
users look it up again.

    bound of a read        who                                    isolation
    high watermark         consumer                               READ_UNCOMMITTED (0)
    last stable offset     consumer                               READ_COMMITTED (1)
    log end                follower, future replica of a move     LOG_END (2)

Source: Kafka's `Partition.scala`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, assert_never

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.partition_image import RECOVERED
from pykbroker.purgatory import WatchKey
from pykbroker.replication.brokers import ClusterBrokers
from pykbroker.replication.follower_progress import FollowerProgress
from pykbroker.replication.followers import Followers
from pykbroker.replication.high_watermark import leader_high_watermark, within
from pykbroker.replication.isr import (
    NOT_APPLIED,
    OUTDATED,
    IsrState,
    effective_min_isr,
    out_of_sync,
)
from pykbroker.replication.partition_events import (
    BecameFollower,
    BecameLeader,
    Effect,
    Event,
    HighWatermarkAdvanced,
    IsrCheckDue,
    LowWatermarkAdvanced,
    PartitionAssigned,
    ProposalAccepted,
    ProposalRefused,
    ProposeIsr,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.log.partition.log_appender import PlainCheck
    from pykbroker.log.partition.partition_log import AppendOrigin, AppendOutcome, PartitionLog
    from pykbroker.log.producers.verification import VerificationGuard
    from pykbroker.log.validation.batch_validation import ValidationOutcome

_log = logging.getLogger(__name__)

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
LOG_END = 2

ACKS_ALL = -1


class Partition:
    """A partition with a replica on this node.

    In the purgatory produces (and DeleteRecords) watch its `produce_key`, read_committed consumers
    its `stable_key`, other consumers itself, followers without a session itself and its `end_key`,
    which is checked where its high watermark stays.
    """

    __slots__ = (
        "_brokers",
        "_in_sync",
        "_isr_check_ms",
        "_lag_max_ms",
        "_local_id",
        "_min_isr",
        "_only_replica",
        "_proposal",
        "_recovery_state",
        "end_key",
        "followers",
        "high_watermark",
        "hosted",
        "index",
        "is_leader",
        "isr",
        "leader",
        "leader_epoch",
        "leader_epoch_start_offset",
        "log",
        "offline_code",
        "partition_epoch",
        "produce_key",
        "replicas",
        "stable_key",
        "stable_offset",
        "topic",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        log: PartitionLog,
        local_id: int,
        high_watermark: int = 0,
        lag_max_ms: int = 30_000,
        brokers: ClusterBrokers | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic = topic_partition.topic
        self.index = topic_partition.partition
        self.topic_id = topic_id
        self.log = log
        self.hosted = True
        self.offline_code = 0
        self.produce_key, self.end_key, self.stable_key = WatchKey(), WatchKey(), WatchKey()
        self.stable_offset = -1
        self.replicas: tuple[int, ...] = ()
        self.isr = IsrState(frozenset())
        self.followers = Followers()
        self.leader = -1
        self.leader_epoch = -1
        self.leader_epoch_start_offset = 0
        self.partition_epoch = -1
        self.is_leader = False
        self.high_watermark = within(log, high_watermark)
        self._local_id = local_id
        self._lag_max_ms = lag_max_ms
        self._brokers = brokers or ClusterBrokers()
        self._isr_check_ms: int | None = None
        self._proposal: ProposeIsr | None = None
        self._recovery_state = RECOVERED
        self._only_replica = False
        self._min_isr = 1
        self._in_sync = 0

    def __repr__(self) -> str:
        role = "leader" if self.is_leader else f"follower of {self.leader}"
        return f"Partition({self.topic_partition}, {role}, epoch {self.leader_epoch})"

    # ---- the cluster's events

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Accept one event; return the effects in the order to carry them out. LogDirFailure."""
        match event:
            case PartitionAssigned():
                return self._assigned(event, now_ms)
            case IsrCheckDue():
                return self._check_isr(now_ms)
            case ProposalAccepted():
                return self._proposal_accepted(event, now_ms)
            case ProposalRefused():
                return self._proposal_refused(event)
            case _:
                assert_never(event)

    def next_deadline_ms(self) -> int | None:
        """Return when to step with `IsrCheckDue`; None while this node leads no followers."""
        return self._isr_check_ms

    def _assigned(self, event: PartitionAssigned, now_ms: int) -> list[Effect]:
        if event.partition_epoch < self.partition_epoch:
            return []  # already known from an AlterPartition answer
        effects: list[Effect] = []
        was_leader, old_epoch = self.is_leader, self.leader_epoch
        self.partition_epoch = event.partition_epoch
        self.replicas = event.replicas
        self.leader = event.leader
        self.leader_epoch = max(old_epoch, event.leader_epoch)
        self.is_leader = event.leader == self._local_id
        if self.leader_epoch != old_epoch or self.is_leader != was_leader:
            self.followers.wake()
        # A leader of a RECOVERING partition has recovered; its next AlterPartition says so.
        self._recovery_state = RECOVERED
        self._change_isr(IsrState(frozenset(event.isr) if self.is_leader else frozenset()))
        self._track_followers(now_ms)
        if self.is_leader:
            if event.leader_epoch > old_epoch:
                effects.append(self._start_epoch(event.leader_epoch, not was_leader, now_ms))
            if self._move_high_watermark(now_ms):
                effects.append(HighWatermarkAdvanced(self.high_watermark))
        elif was_leader or event.leader_epoch > old_epoch:
            effects.append(BecameFollower(event.leader, event.leader_epoch))
        return effects

    def _track_followers(self, now_ms: int) -> None:
        wanted = [r for r in self.replicas if r != self._local_id] if self.is_leader else []
        self.followers.track(wanted)
        self._only_replica = self.is_leader and not wanted
        if not wanted:
            self._isr_check_ms = None
        elif self._isr_check_ms is None:
            self._isr_check_ms = now_ms + max(1, self._lag_max_ms // 2)

    def _start_epoch(self, leader_epoch: int, is_new_leader: bool, now_ms: int) -> BecameLeader:
        # The epoch is noted before its first record, so that a follower with records of a later,
        # lost epoch learns where to cut (makeLeader in Partition.scala). What is queued in this
        # round belongs to the epoch before.
        start_offset = self.log.next_offset
        self.log.assign_epoch_start(leader_epoch, start_offset)
        self.log.local.unsynced_from = None
        self.leader_epoch_start_offset = start_offset
        self.followers.start_epoch(
            now_ms, start_offset, self.isr.members, is_new_leader=is_new_leader
        )
        return BecameLeader(leader_epoch, start_offset)

    def on_follower_fetch(
        self, replica_id: int, broker_epoch: int, fetch_offset: int, log_start: int, now_ms: int
    ) -> list[Effect]:
        """Note a fetch of a follower that met no error; return the effects, as `step` does."""
        follower = self.followers.get(replica_id)
        if follower is None or self._brokers.is_stale(replica_id, broker_epoch):
            return []
        old_end_offset = follower.log_end_offset
        old_low = None
        if log_start != follower.log_start_offset:
            old_low = self.low_watermark
        end_offset = self.log.local.log_end_offset
        follower.on_fetch(fetch_offset, log_start, end_offset, broker_epoch, now_ms)
        is_in_isr = replica_id in self.isr.members
        if is_in_isr and old_low is None and old_end_offset == fetch_offset:
            return []
        effects: list[Effect] = []
        if old_low is not None:
            new_low = self.low_watermark
            if new_low > old_low:
                effects.append(LowWatermarkAdvanced(new_low))
        if not is_in_isr and self._may_join(follower):
            proposal = self.isr.propose_adding(replica_id)
            effects.append(self._propose(proposal))
        if old_end_offset != fetch_offset and self._move_high_watermark(now_ms):
            effects.append(HighWatermarkAdvanced(self.high_watermark))
        return effects

    # ---- changes of the in-sync replicas

    def _may_join(self, follower: FollowerProgress) -> bool:
        """Is no change in flight, has it all that is committed, may its broker join? (KIP-903)"""
        return (
            not self.isr.change_in_flight
            and follower.log_end_offset >= self.high_watermark
            and follower.log_end_offset >= self.leader_epoch_start_offset
            and self._brokers.is_isr_eligible(follower.replica_id, follower.broker_epoch)
        )

    def _check_isr(self, now_ms: int) -> list[Effect]:
        if self._isr_check_ms is None:
            return []
        self._isr_check_ms = now_ms + max(1, self._lag_max_ms // 2)
        if self.isr.change_in_flight:
            return []
        lagging = out_of_sync(
            self.isr,
            self.followers.values(),
            self.log.log_end_offset,
            now_ms,
            self._lag_max_ms,
        )
        if not lagging:
            return []
        _log.info(
            "%s: removing %s from the in-sync replicas %s: not at the log end %d for %d ms",
            self.topic_partition,
            sorted(lagging),
            sorted(self.isr.members),
            self.log.log_end_offset,
            self._lag_max_ms,
        )
        return [self._propose(self.isr.propose_removing(lagging))]

    def _propose(self, isr: IsrState) -> ProposeIsr:
        self._change_isr(isr)
        self._proposal = ProposeIsr(
            self.followers.with_epochs(isr.proposed),
            self.leader_epoch,
            self.partition_epoch,
            self._recovery_state,
        )
        return self._proposal

    def _proposal_accepted(self, event: ProposalAccepted, now_ms: int) -> list[Effect]:
        if event.proposal is not self._proposal:
            return []  # the metadata or another election came before the answer
        if event.leader_epoch != self.leader_epoch or event.partition_epoch < self.partition_epoch:
            return []  # stays in flight: the metadata that explains it is on its way
        self.partition_epoch = event.partition_epoch
        self._recovery_state = event.leader_recovery_state
        self._change_isr(IsrState(frozenset(event.isr)))
        _log.info(
            "%s: in-sync replicas are %s in partition epoch %d",
            self.topic_partition,
            sorted(event.isr),
            event.partition_epoch,
        )
        if self._move_high_watermark(now_ms):
            return [HighWatermarkAdvanced(self.high_watermark)]
        return []

    def _proposal_refused(self, event: ProposalRefused) -> list[Effect]:
        if event.proposal is not self._proposal:
            return []
        if event.code in NOT_APPLIED:
            self._change_isr(self.isr.withdrawn())
            return []
        if event.code in OUTDATED:
            return []
        return [event.proposal]

    def _change_isr(self, isr: IsrState) -> None:
        self.isr = isr
        self._proposal = None
        self.followers.touch()
        self.refresh_config()

    def refresh_config(self) -> None:
        """Cache the values for appends, after a change of the configuration, the replicas or the
        in-sync replicas.
        """
        self._min_isr = effective_min_isr(
            self.log.config.min_insync_replicas, max(1, len(self.replicas))
        )
        self._in_sync = len(self.isr.members)

    def retire(self, code: int) -> None:
        """This node hosts it no more; `code`: for what still waits for it or finds it."""
        self.followers.wake()
        self.followers.track(())
        self.hosted = False
        self.is_leader = False
        self.offline_code = code
        self._isr_check_ms = None
        self._proposal = None

    # ---- appends

    def append_as_leader(
        self,
        records: memoryview,
        acks: int,
        now_ms: int,
        origin: AppendOrigin,
        checked: ValidationOutcome | None = None,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> AppendOutcome:
        """Validate (unless it is `checked`), assign offsets, queue; `on_written` does the rest.

        KafkaError: NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS (acks -1); also see `PartitionLog`.
        """
        if not self.may_append(acks):
            raise self._refused_append()
        return self.log.append_as_leader(
            records, self.leader_epoch, now_ms, origin, checked, guard, transaction_version
        )

    def may_append(self, acks: int) -> bool:
        """Return whether the state of this partition allows an append as leader."""
        return self.is_leader and (acks != ACKS_ALL or self._in_sync >= self._min_isr)

    def _refused_append(self) -> KafkaError:
        if not self.is_leader:
            return KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"The {self._in_sync} in-sync replicas of {self.topic_partition} are fewer than"
            f" the {self._min_isr} that min.insync.replicas asks for.",
        )

    def check_plain(self, records: memoryview, acks: int, now_ms: int) -> PlainCheck | None:
        """Check whether `queue_plain` can take a client's batch; None: it is for
        `append_as_leader`.
        """
        if not self.may_append(acks):
            return None
        return self.log.appender.check_plain(records, self.leader_epoch, now_ms)

    def queue_plain(self, records: memoryview, plain: PlainCheck, now_ms: int) -> tuple[int, int]:
        """Queue what `check_plain` has just checked; return (base offset, next offset)."""
        return self.log.appender.queue_plain(records, plain, self.leader_epoch, now_ms)

    def queue_own(self, batch: bytearray, leader_epoch: int, now_ms: int) -> tuple[int, int] | None:
        """Queue a plain batch that a coordinator of this epoch has just built (`LogAppender`);
        return (base offset, next offset). None: it is for `append_as_leader`.
        """
        if self.leader_epoch != leader_epoch or not self.may_append(ACKS_ALL):
            return None
        return self.log.appender.queue_own(batch, leader_epoch, now_ms)

    @property
    def is_lone(self) -> bool:
        """Whether written records are committed, because there is no other replica."""
        return self._only_replica and self._in_sync >= self._min_isr

    def on_written(self, now_ms: int) -> bool:
        """Handle that queued appends are written; return True if the high watermark moved."""
        if self.is_lone:
            moved = self.log.local.log_end_offset > self.high_watermark
            if moved:
                self.high_watermark = self.log.local.log_end_offset
            return moved
        self.followers.wake()
        return self._move_high_watermark(now_ms)

    def _move_high_watermark(self, now_ms: int) -> bool:
        if not self.is_leader:
            return False
        before = self.high_watermark
        self.high_watermark = leader_high_watermark(
            before,
            self.log.local.log_end_offset,
            self.isr,
            self.followers.values(),
            self._min_isr,
            now_ms,
            self._lag_max_ms,
            self._brokers,
        )
        if self.high_watermark == before:
            return False
        self.followers.touch()
        return True

    def acknowledged(self, required_offset: int) -> int | None:
        """Return 0 if everything before `required_offset` has enough replicas, None: not yet, or an
        error code."""
        if not self.hosted:
            return self.offline_code or int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not self.is_leader:
            return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.high_watermark < required_offset:
            return None
        if self._min_isr > len(self.isr.maximal):
            return int(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return 0

    # ---- reads

    def check_epoch(self, current_leader_epoch: int, leader_only: bool) -> int:
        """The code a request with this leader epoch (below 0: none) gets; 0 when it may go on."""
        if current_leader_epoch >= 0 and current_leader_epoch != self.leader_epoch:
            if current_leader_epoch < self.leader_epoch:
                return int(ErrorCode.FENCED_LEADER_EPOCH)
            return int(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if leader_only and not self.is_leader:
            return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return 0

    def check_exact_epoch(self, current_leader_epoch: int, leader_only: bool) -> int:
        """`check_epoch` of the requests in which only -1 is no epoch: the others below are old."""
        if current_leader_epoch < -1:
            return int(ErrorCode.FENCED_LEADER_EPOCH)
        return self.check_epoch(current_leader_epoch, leader_only)

    def bound(self, isolation: int) -> int:
        """Return the exclusive end of what a reader with this isolation may see."""
        if isolation == READ_UNCOMMITTED:
            return self.high_watermark
        if isolation == READ_COMMITTED:
            return self.log.last_stable_offset(self.high_watermark)
        return self.log.log_end_offset

    def check_follower(self, replica_id: int, broker_epoch: int, current_leader_epoch: int) -> int:
        """Return the error code of a fetch by `replica_id` as a follower; 0 when it may fetch.

        Only an assigned replica may, and not with the broker epoch of an earlier incarnation.
        """
        if replica_id in self.followers:
            if self._brokers.is_stale(replica_id, broker_epoch):
                return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return 0
        if current_leader_epoch >= 0:
            return int(ErrorCode.UNKNOWN_LEADER_EPOCH)  # it retries until this node knows of it
        return int(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def end_offset_for_epoch(
        self, current_leader_epoch: int, leader_epoch: int
    ) -> tuple[int, int, int]:
        """Return (error code, epoch, end offset) for OffsetForLeaderEpoch; -1, -1 if unknown."""
        code = self.check_exact_epoch(current_leader_epoch, leader_only=True)
        if code:
            return code, -1, -1
        epoch, end_offset = self.log.end_offset_for_epoch(leader_epoch)
        return 0, epoch, end_offset

    @property
    def low_watermark(self) -> int:
        """See `Followers.lowest_log_start`: what DeleteRecords waits for."""
        return self.followers.lowest_log_start(self.log.log_start_offset, self._brokers)

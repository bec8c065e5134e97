"""Drives the quorum: the log, its fsyncs, the quorum-state file, and the notification of commits.

Out:   `on_commit(batches)`, `on_snapshot` and `on_leader(leader_id, epoch)` of the listener;
       messages of the messenger; `on_progress` when other replicas may have more to fetch;
       `on_role` when the role, the epoch or the leader has changed; `on_fatal` if the disk fails or
       the listener cannot apply what is committed: a node without its metadata must stop (during
       `open` the exception goes to its caller).
Invariants: records are delivered in log order, each once, and only after they are committed;
       `on_leader` with this node's id follows the last batch of the earlier epochs.

One fsync of the log runs at a time, after `open` in the one thread of `threads`; batches appended
meanwhile are synced by the next one, so a burst of changes costs two fsyncs, not one each.
Source: Kafka's `KafkaRaftClient.java` (the parts with side effects), `BatchAccumulator.java`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.environment.background import Threads
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_batches import PreparedAppend, cut_into_batches
from pykbroker.kraft.metadata_log import ControlRecord, DecodedBatch, LogBatch, MetadataLog
from pykbroker.kraft.metadata_snapshot import Snapshot
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.commit_delivery import CommitDelivery
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.raft.raft_outside import Messenger, RaftListener
from pykbroker.kraft.raft.raft_roles import Follower, Leader
from pykbroker.kraft.raft.voters import VoterSet
from pykbroker.log.partition.flush import FlushJob
from pykbroker.protocol.control_records import build_control_batch
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.voters_record import VotersRecord
from pykbroker.protocol.record_batch import CorruptBatch, build_batch

_log = logging.getLogger(__name__)


class RaftDriver:
    """Carries out the effects of one replica's raft machine."""

    def __init__(
        self,
        *,
        log: MetadataLog,
        raft: Raft,
        scheduler: Scheduler,
        threads: Threads,
        now_ms: Callable[[], int],
        listener: RaftListener,
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self.log = log
        self.raft = raft
        self._scheduler = scheduler
        self._threads = threads
        self._now_ms = now_ms
        self._listener = listener
        self._on_fatal = on_fatal
        self._delivery = CommitDelivery()
        self._news: ev.LeaderChanged | None = None
        self._news_offset = 0
        self._flushing = False
        self._flush_again = False
        self._timer: Timer | None = None
        self._timer_ms = -1
        self._stopped = False
        self._opening = True
        self._reply: ev.Reply | None = None
        self._last_role: tuple[int, int, type] = (-1, -1, type(None))
        self._flush_waiters: list[Deferred] = []
        self._linked: Messenger | None = None  # in a quorum of several
        self._on_progress: Callable[[], None] = lambda: None
        self._on_role: Callable[[], None] = lambda: None

    def link(self, messenger: Messenger, on_role: Callable[[], None]) -> None:
        """Reach the other voters by `messenger`; call `on_role` when the role has changed."""
        self._linked, self._on_role = messenger, on_role

    def follow_progress(self, on_progress: Callable[[], None]) -> None:
        """Call `on_progress` when other replicas may have more to fetch."""
        self._on_progress = on_progress

    @property
    def is_opening(self) -> bool:
        """Whether `open` has not returned: what it delivers must be handled in one go."""
        return self._opening

    @property
    def is_stopped(self) -> bool:
        """Whether the node is stopping."""
        return self._stopped

    @property
    def is_caught_up(self) -> bool:
        """Whether the listener has received all that the leader's answers said was committed; on
        the leader, whether it has received a record of its epoch.
        """
        role = self.raft.role
        if isinstance(role, Leader):
            return self._delivery.offset > role.epoch_start_offset
        if not isinstance(role, Follower) or role.leader_high_watermark < 0:
            return False
        return self._delivery.offset >= role.leader_high_watermark

    @property
    def high_watermark(self) -> int:
        """Everything below is committed; -1 before the first commit."""
        return self.raft.high_watermark

    def open(self, snapshot: Snapshot | None) -> None:
        """Read the log after the snapshot, take the role, and commit what a quorum of one can.

        It blocks for the fsyncs. Raises for example CorruptMetadataLog; what the listener raises.
        """
        history = self.raft.history
        start = 0
        if snapshot is not None:
            start = snapshot.id.offset
            # -1 for the bootstrap checkpoint, which marks its voters as not from the log.
            history.add_kraft_version(start - 1, snapshot.kraft_version)
            if snapshot.voters is not None:
                history.add_voters(start - 1, snapshot.voters)
        self._delivery.restart(start)
        end = self.log.end
        for batch in self.log.batches(start, end.offset):
            self._delivery.add(batch)
            self._note_control(batch.control)
        job = self.log.prepare_flush()
        if job is not None:
            # A node that was killed may have written more than it synced.
            job.run()
            self.log.log.mark_flushed(job.offset)
        self._step(ev.Started(self.log.read_election(), self.log.end))
        self._opening = False

    def prepare(
        self, records: Sequence[MetadataRecord], *, atomic: bool, breathe: Breathe = go_on
    ) -> PreparedAppend:
        """Encode records for `append`, breathing between them. Raises KafkaError if this node does
        not lead, or if atomic records are too large for one batch.
        """
        chunks = cut_into_batches(records, atomic=atomic, breathe=breathe)
        if not self.raft.is_leader or self._stopped:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        return PreparedAppend(self.log.log.next_offset, chunks)

    def append(self, prepared: PreparedAppend) -> None:
        """Append what `prepare` returned, as the leader, at the end that the log has now. The
        records are committed when `on_commit` reports them. Raises KafkaError(KAFKA_STORAGE_ERROR)
        if they cannot be written: the node stops (during `open`, LogDirFailure).
        """
        now_ms = self._now_ms()
        for chunk in prepared.chunks:
            base_offset = self.log.log.next_offset
            values = [(None, value, now_ms, ()) for _, value in chunk]
            batch = build_batch(values, base_offset=base_offset, leader_epoch=self.raft.epoch)
            self._write(batch, [record for record, _ in chunk], [], now_ms)
        self._start_flush()

    def append_voters(self, voters: VoterSet) -> int:
        """Append a new voter set as the leader; return its offset. It takes effect immediately."""
        offset = self.log.log.next_offset
        self._append_control(ev.AppendControl(self.raft.epoch, (voters.to_record(),)))
        return offset

    def answer(self, event: ev.Event) -> ev.Reply:
        """Process a request of another replica; return the answer, which may be sent immediately.

        Raises KafkaError if this node is stopping or its disk failed: it must not answer from
        memory alone.
        """
        if self._stopped:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE)
        self._step(event)
        reply, self._reply = self._reply, None
        assert reply is not None, f"{event} has no reply"
        return reply

    def step(self, event: ev.Event) -> None:
        """Process any other event."""
        if not self._stopped:
            with contextlib.suppress(KafkaError):  # the disk failed: `on_fatal` was called
                self._step(event)

    # Following the leader.

    def append_from_leader(self, fetched: Sequence[DecodedBatch]) -> None:
        """Append what was decoded. Raises CorruptBatch if it does not fit, LogDirFailure."""
        now_ms = self._now_ms()
        for decoded, batch in fetched:
            if decoded.base_offset != self.log.log.next_offset:
                raise CorruptBatch(
                    f"a batch at offset {decoded.base_offset} does not follow the end of the log"
                )
            self.log.append(batch, now_ms)
            self._note_control(decoded.control)
            self._delivery.add(decoded)
        if fetched:
            self._start_flush()

    def truncate(self, epoch: int, end_offset: int) -> None:
        """Truncate what cannot agree with the leader's log, which has `epoch` only up to
        `end_offset`. Raises DivergedBelowCommit if that would cut what is committed.
        """
        offset = self.log.truncation_offset(epoch, end_offset)
        # A snapshot may have been delivered before a leader has told the high watermark.
        committed = max(self.raft.high_watermark, self._delivery.offset)
        if offset < committed:
            raise DivergedBelowCommit(
                f"the leader asks for a truncation to offset {offset}, but everything below "
                f"{committed} is committed: a record would be lost"
            )
        _log.info("Truncating the metadata log to offset %d", offset)
        self.log.truncate_to(offset)
        self.raft.history.truncate_to(offset)
        self._delivery.truncate_to(offset)
        self._step(ev.Truncated(self.log.end))

    def load_snapshot(self, snapshot: Snapshot) -> None:
        """Replace the log by a snapshot of the leader, which is already on disk."""
        history = self.raft.history
        self.log.snapshot_written(snapshot.id)
        self.log.begin_at(snapshot.id)
        history.truncate_to(-1)
        history.add_kraft_version(snapshot.id.offset - 1, snapshot.kraft_version)
        if snapshot.voters is not None:
            history.add_voters(snapshot.id.offset - 1, snapshot.voters)
        self._delivery.restart(snapshot.id.offset)
        self._tell(lambda: self._listener.on_snapshot(snapshot))
        self._step(ev.SnapshotLoaded(self.log.end))

    def flushed(self) -> Deferred:
        """Return a Deferred: resolved with None once all is on disk; never if the node stops."""
        waiter = Deferred()
        if self._flushing or self._flush_again:
            self._flush_waiters.append(waiter)
        else:
            waiter.resolve(None)
        return waiter

    def resign(self) -> None:
        """Resign leadership before the node stops."""
        self.step(ev.Resign())

    def stop(self) -> None:
        """Stop timers and fsyncs; the log stays open."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # The machine.

    def _step(self, event: ev.Event) -> None:
        """Carry out the effects of an event. If the disk fails, raises KafkaError (in `open`, the
        failure) and skips the rest, because a vote that is not on disk must not be given.
        """
        effects = self.raft.step(event, self._now_ms())
        try:
            for effect in effects:
                self._carry_out(effect)
        except (OSError, LogDirFailure) as failure:
            if self._opening:
                raise  # to the caller of `open`
            self.fail(failure)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR) from failure
        self._arm()
        role = (self.raft.epoch, self.raft.leader_id, type(self.raft.role))
        if role != self._last_role:
            self._last_role = role
            self._on_role()

    def _carry_out(self, effect: ev.Effect) -> None:
        match effect:
            case ev.HighWatermarkMoved():
                self._deliver()
                self._on_progress()
            case ev.SaveElection():
                history = self.raft.history
                self.log.write_election(effect.election, history.kraft_version, history.voters.ids)
            case ev.AppendControl():
                self._append_control(effect)
            case ev.LeaderChanged():
                self._news = effect
                self._news_offset = self.log.log.next_offset
                self._tell_leader()
                self._on_progress()
            case ev.Reply():
                self._reply = effect
            case ev.SendVote():
                # An election must not be won with records that a crash could then lose.
                self.flushed().on_resolved(lambda _: self._messenger.send_vote(effect))
            case ev.SendBeginEpoch():
                self._messenger.send_begin_epoch(effect)
            case ev.SendEndEpoch():
                self._messenger.send_end_epoch(effect)
            case _:
                assert_never(effect)

    @property
    def _messenger(self) -> Messenger:
        assert self._linked is not None, "a quorum of one has no other voters"
        return self._linked

    def _append_control(self, effect: ev.AppendControl) -> None:
        now_ms = self._now_ms()
        base_offset = self.log.log.next_offset
        self.log.log.assign_epoch_start(effect.epoch, base_offset)
        batch = build_control_batch(
            effect.messages, timestamp_ms=now_ms, base_offset=base_offset, leader_epoch=effect.epoch
        )
        control = [
            ControlRecord(base_offset + index, message)
            for index, message in enumerate(effect.messages)
        ]
        self._note_control(control)
        self._write(batch, [], control, now_ms)
        self._start_flush()

    def _note_control(self, control: Sequence[ControlRecord]) -> None:
        for offset, message in control:
            if isinstance(message, KRaftVersionRecord):
                self.raft.history.add_kraft_version(offset, message.kraft_version)
            elif isinstance(message, VotersRecord):
                self.raft.history.add_voters(offset, VoterSet.from_record(message))

    def _write(
        self,
        batch: bytearray,
        records: list[MetadataRecord],
        control: list[ControlRecord],
        now_ms: int,
    ) -> None:
        base_offset = self.log.log.next_offset
        epoch, size = self.raft.epoch, len(batch)
        try:
            self.log.append(batch, now_ms)
        except LogDirFailure as failure:
            if self._opening:
                raise  # to the caller of `open`
            self.fail(failure)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR) from failure
        end_offset = self.log.log.next_offset
        self._delivery.add(
            LogBatch(base_offset, end_offset - 1, epoch, now_ms, size, records, control)
        )

    # Durability and commits.

    def _start_flush(self) -> None:
        """Sync what is written, then notify the machine."""
        end = self.log.end
        self._step_appended(end)
        self._on_progress()
        if self._opening:
            job = self.log.prepare_flush()
            if job is not None:
                job.run()
                self._flushed(job)
            return
        if self._flushing:
            self._flush_again = True
            return
        try:
            job = self.log.prepare_flush()
        except LogDirFailure as failure:
            self.fail(failure)
            return
        if job is None:
            return
        self._flushing = True
        self._threads.run(job.run).on_resolved(partial(self._flush_done, job))

    def _step_appended(self, end: LogEnd) -> None:
        for effect in self.raft.step(ev.Appended(end), self._now_ms()):
            self._carry_out(effect)

    def _flush_done(self, job: FlushJob, outcome: object) -> None:
        self._flushing = False
        if isinstance(outcome, BaseException):
            self.fail(outcome)
            return
        if self._stopped:
            return
        again, self._flush_again = self._flush_again, False
        again = not self._flushed(job) or again
        if again and not self._flushing:
            self._start_flush()
        if not (self._flushing or self._flush_again):
            waiters, self._flush_waiters = self._flush_waiters, []
            for waiter in waiters:
                waiter.resolve(None)

    def _flushed(self, job: FlushJob) -> bool:
        """Return False if the log was truncated meanwhile: what came since is not synced."""
        if job.truncations != self.log.log.truncations:
            return False
        self.log.log.mark_flushed(job.offset, self._now_ms())
        self.step(ev.Flushed(job.offset))
        return True

    def _deliver(self) -> None:
        """Deliver what is committed: a portion a turn of the loop, during `open` all at once."""
        delivery = self._delivery
        while not delivery.is_due:
            portion = delivery.take(self.raft.high_watermark)
            if portion and not self._tell(partial(self._deliver_portion, portion)):
                return
            if not delivery.has_more(self.raft.high_watermark):
                self._tell_leader()
                return
            if not (self._opening or delivery.is_due):
                delivery.is_due = True
                self._scheduler.call_soon(self._deliver_more)

    def _deliver_portion(self, portion: Sequence[LogBatch]) -> None:
        handled = self._listener.on_commit(portion)
        if handled is None:
            self._delivery.end()
        else:
            self._delivery.is_due = True
            handled.on_resolved(self._handled)

    def _handled(self, outcome: object) -> None:
        """Deliver what follows a portion that took long."""
        if isinstance(outcome, Exception):
            self.fail(outcome)
        else:
            self._delivery.end()
            self._deliver_more()

    def _deliver_more(self) -> None:
        self._delivery.is_due = False
        if not self._stopped:
            self._deliver()

    def _tell(self, call: Callable[[], None]) -> bool:
        """Call the listener. If it cannot apply a committed record, the node no longer knows the
        state of the cluster and stops. During `open` the exception goes to the caller.
        """
        if self._opening:
            call()
            return True
        try:
            call()
        except Exception as bug:
            self.fail(bug)
            return False
        return True

    def _tell_leader(self) -> None:
        """Announce a new leader; this node only once all before its epoch has been delivered."""
        news = self._news
        if news is None:
            return
        is_me = news.leader_id == self.raft.local.key.id
        if is_me and self._delivery.offset < self._news_offset:
            return
        self._news = None
        self._tell(lambda: self._listener.on_leader(news.leader_id, news.epoch))

    # Time and faults.

    def _arm(self) -> None:
        deadline = None if self._stopped else self.raft.next_deadline_ms()
        if deadline is None or (self._timer is not None and deadline == self._timer_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline
        self._timer = self._scheduler.call_later(deadline - self._now_ms(), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.step(ev.Tick())

    def fail(self, failure: BaseException) -> None:
        """Stop the node, because the metadata cannot be followed."""
        if not self._stopped:
            self.stop()
            bug = None if isinstance(failure, LogDirFailure) else failure
            _log.critical("The metadata cannot be followed any more: %s", failure, exc_info=bug)
            self._on_fatal(failure)


class DivergedBelowCommit(Exception):
    """The leader's log lacks a record that this replica knows to be committed."""

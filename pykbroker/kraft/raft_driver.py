"""Carries the quorum out: the log, its fsyncs, the quorum-state file, and who is told of commits.

State: the raft machine, the metadata log, the batches that are written but not yet committed.
In:    `open`, `append` (the active controller's records), timers, the ends of fsyncs.
Out:   `on_commit(batches)` and `on_leader(leader_id, epoch)` of the listener; `on_fatal` when the
       disk fails: a node without its metadata log must stop.
Invariants: batches are told in the order of the log, each once, and only once they are committed;
       `on_leader` with this node's id comes after the last batch of the epochs before.

One fsync runs at a time, in the one thread of `threads`; what is appended meanwhile is synced by
the next one: a burst of changes costs two fsyncs, not one each.
Source: Kafka's `KafkaRaftClient.java` (the parts with side effects), `BatchAccumulator.java`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol

from pykbroker.decision import MetadataRecord
from pykbroker.environment.background import Threads
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft import raft_events as ev
from pykbroker.kraft.metadata_log import ControlRecord, LogBatch, MetadataLog
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.kraft.metadata_snapshot import Snapshot, SnapshotId, encode_snapshot
from pykbroker.kraft.raft import Raft
from pykbroker.kraft.raft_events import LogEnd
from pykbroker.kraft.voters import VoterSet
from pykbroker.log.flush import FlushJob
from pykbroker.protocol.control_records import build_control_batch
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.voters_record import VotersRecord
from pykbroker.protocol.record_batch import build_batch

# QuorumController.java: a decision that is not atomic is cut into batches of so many records.
MAX_RECORDS_PER_BATCH: Final = 10_000
MAX_BATCH_BYTES: Final = 8 << 20

_log = logging.getLogger(__name__)


class PreparedAppend(NamedTuple):
    """Records and their bytes, in batches, the first of them for `base_offset`."""

    base_offset: int
    chunks: list[list[tuple[MetadataRecord, bytes]]]


class RaftListener(Protocol):
    """Who is told what the quorum has decided."""

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """These batches are committed, in the order of the log."""

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Who leads now; -1: nobody that this replica knows of."""


class RaftDriver:
    """See the module's text."""

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
        self._uncommitted: deque[LogBatch] = deque()
        self._delivered_offset = 0
        self._news: ev.LeaderChanged | None = None
        self._news_offset = 0
        self._flushing = False
        self._flush_again = False
        self._timer: Timer | None = None
        self._timer_ms = -1
        self._stopped = False
        self._opening = True

    @property
    def high_watermark(self) -> int:
        """Everything below is committed; -1 before the first commit."""
        return self.raft.high_watermark

    def open(self, snapshot: Snapshot | None) -> None:
        """Read the log behind the snapshot, take the role up, and commit what a quorum of one can.

        Blocks for the fsyncs: nothing else can be done before.
        """
        history = self.raft.history
        start = 0
        if snapshot is not None:
            start = snapshot.id.offset
            # -1 for the bootstrap checkpoint, which marks its voters as not from the log.
            history.add_kraft_version(start - 1, snapshot.kraft_version)
            if snapshot.voters is not None:
                history.add_voters(start - 1, snapshot.voters)
        self._delivered_offset = start
        end = self.log.end
        for batch in self.log.batches(start, end.offset):
            self._uncommitted.append(batch)
            self._note_control(batch.control)
        job = self.log.prepare_flush()
        if job is not None:
            # A node that was killed may have written more than it synced.
            job.run()
            self.log.log.mark_flushed(job.offset)
        self._step(ev.Started(self.log.read_election(), self.log.end))
        self._opening = False

    def prepare(self, records: Sequence[MetadataRecord], *, atomic: bool) -> PreparedAppend:
        """Encode records for `append`. KafkaError when they cannot be appended: this node does not
        lead, or they are too many for one batch."""
        if not self.raft.is_leader or self._stopped:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        return PreparedAppend(self.log.log.next_offset, _chunks(records, atomic))

    def append(self, prepared: PreparedAppend) -> None:
        """Append as the leader, right after `prepare`. The records are committed when `on_commit`
        has told them. KafkaError(KAFKA_STORAGE_ERROR) when the disk failed: the node stops."""
        now_ms = self._now_ms()
        for chunk in prepared.chunks:
            base_offset = self.log.log.next_offset
            values = [(None, value, now_ms, ()) for _, value in chunk]
            batch = build_batch(values, base_offset=base_offset, leader_epoch=self.raft.epoch)
            self._write(batch, [record for record, _ in chunk], [], now_ms)
        self._start_flush()

    def resign(self) -> None:
        """Give leadership up, before the node stops."""
        self._step(ev.Resign())

    def stop(self) -> None:
        """No more timers and fsyncs; the log stays open."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Snapshots.

    def write_snapshot(
        self,
        snapshot_id: SnapshotId,
        records: Callable[[], list[MetadataRecord]],
        timestamp_ms: int,
        done: Callable[[], None],
    ) -> None:
        """Write a snapshot of what was committed, in the thread; then clean the log."""
        kraft_version, voters = self.raft.history.at(snapshot_id.offset)
        now_ms = self._now_ms()

        def job() -> None:
            self.log.write_snapshot(
                snapshot_id,
                encode_snapshot(
                    snapshot_id,
                    records(),
                    kraft_version=kraft_version,
                    voters=voters if kraft_version > 0 else None,
                    last_contained_log_timestamp_ms=timestamp_ms,
                    now_ms=now_ms,
                ),
            )

        def written(outcome: object) -> None:
            if isinstance(outcome, BaseException):
                self._fatal(outcome)
                return
            self.log.snapshot_written(snapshot_id)
            self.clean()
            done()

        self._threads.run(job).on_resolved(written)

    def clean(self) -> None:
        """Drop old snapshots and the log before them."""
        if not self._stopped:
            now_ms = self._now_ms()
            self.log.clean(now_ms, self.high_watermark)
            for deletion in self.log.chores.due_deletions(now_ms):
                for path in deletion.paths:
                    self.log.files.unlink(path)

    # The machine.

    def _step(self, event: ev.Event) -> None:
        effects = self.raft.step(event, self._now_ms())
        for effect in effects:
            self._carry_out(effect)
        self._arm()

    def _carry_out(self, effect: ev.Effect) -> None:
        if isinstance(effect, ev.HighWatermarkMoved):
            self._deliver()
        elif isinstance(effect, ev.SaveElection):
            history = self.raft.history
            self.log.write_election(effect.election, history.kraft_version, history.voters.ids)
        elif isinstance(effect, ev.AppendControl):
            self._append_control(effect)
        elif isinstance(effect, ev.LeaderChanged):
            self._news = effect
            self._news_offset = self.log.log.next_offset
            self._tell_leader()
        else:
            # Votes and epochs of other voters: a quorum of one has nobody to send them to.
            _log.warning("The quorum has one voter: %r goes nowhere", effect)

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
                raise  # to who opens it
            self._fatal(failure)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR) from failure
        end_offset = self.log.log.next_offset
        self._uncommitted.append(
            LogBatch(base_offset, end_offset - 1, epoch, now_ms, size, records, control)
        )

    # Durability and commits.

    def _start_flush(self) -> None:
        """Have what is written synced, then tell the machine."""
        end = self.log.end
        self._step_appended(end)
        if self._opening:
            job = self.log.prepare_flush()
            if job is not None:
                job.run()
                self._flushed(job)
            return
        if self._flushing:
            self._flush_again = True
            return
        job = self.log.prepare_flush()
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
            self._fatal(outcome)
            return
        if self._stopped:
            return
        again, self._flush_again = self._flush_again, False
        self._flushed(job)
        if again and not self._flushing:
            self._start_flush()

    def _flushed(self, job: FlushJob) -> None:
        self.log.log.mark_flushed(job.offset, self._now_ms())
        self._step(ev.Flushed(job.offset))

    def _deliver(self) -> None:
        """Tell the listener every batch below the high watermark."""
        committed: list[LogBatch] = []
        waiting = self._uncommitted
        while waiting and waiting[0].last_offset < self.raft.high_watermark:
            committed.append(waiting.popleft())
        if committed:
            self._delivered_offset = committed[-1].last_offset + 1
            if not self._tell(lambda: self._listener.on_commit(committed)):
                return
        self._tell_leader()

    def _tell(self, call: Callable[[], None]) -> bool:
        """Whoever fails to take in what is committed does not know the cluster any more: the node
        stops. While it opens the failure goes to who opens it."""
        if self._opening:
            call()
            return True
        try:
            call()
        except Exception as bug:
            self._fatal(bug)
            return False
        return True

    def _tell_leader(self) -> None:
        """The news of a leader, once everything before its epoch has been told."""
        news = self._news
        if news is None:
            return
        is_me = news.leader_id == self.raft.local.key.id
        if is_me and self._delivered_offset < self._news_offset:
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
        if not self._stopped:
            self._step(ev.Tick())

    def _fatal(self, failure: BaseException) -> None:
        if not self._stopped:
            self.stop()
            _log.critical("The metadata cannot be followed any more", exc_info=failure)
            self._on_fatal(failure)


def _chunks(
    records: Sequence[MetadataRecord], atomic: bool
) -> list[list[tuple[MetadataRecord, bytes]]]:
    """The records with their bytes, in batches; one batch when they must take effect together."""
    encoded = [(record, encode_metadata_record(record)) for record in records]
    if atomic:
        if sum(len(value) for _, value in encoded) > MAX_BATCH_BYTES:
            raise KafkaError(ErrorCode.POLICY_VIOLATION, "The request changes too much at once.")
        return [encoded]
    chunks: list[list[tuple[MetadataRecord, bytes]]] = [[]]
    size = 0
    for entry in encoded:
        if chunks[-1] and (
            len(chunks[-1]) >= MAX_RECORDS_PER_BATCH or size + len(entry[1]) > MAX_BATCH_BYTES // 2
        ):
            chunks.append([])
            size = 0
        chunks[-1].append(entry)
        size += len(entry[1])
    return chunks

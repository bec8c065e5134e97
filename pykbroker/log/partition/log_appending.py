"""Appending to a partition's log: validate, assign offsets, queue; write once at the turn's end.

State: see LogState; what is queued is `_parts`, `_batches`, `_pending_bytes`, `_completed`.
    append_as_leader ->   check_plain, queue_plain: where there is nothing special
                     else validate, what is known of the producer, queued

In:    batches (views of received frames stay views). Out: AppendOutcome; LogDirFailure.
Invariants: batches queued in a turn see each other (sequence checks, offsets); a failed write takes
       back exactly what was queued.
"""

from __future__ import annotations

import contextlib
import logging
from abc import abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import TypeAlias

from pykbroker.environment.files import Buffer, LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.log_state import LogState
from pykbroker.log.producers.producer_state import ProducerUpdate
from pykbroker.log.producers.verification import VerificationGuard
from pykbroker.log.segments.entry_index import MAX_RELATIVE_OFFSET
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import CorruptSegment, Placed, Segment, placed
from pykbroker.log.validation.batch_validation import (
    ValidationOutcome,
    check_replicated,
    stamp,
    validate,
)
from pykbroker.log.validation.plain_batch import plain_header
from pykbroker.log.validation.validation_rules import (
    CLIENT,
    COORDINATOR,
    RAFT_LEADER,
    REPLICATION,
    HeavyBatch,
)
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import (
    LOG_OVERHEAD,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
    assign_offset,
)

_log = logging.getLogger(__name__)


PlainBatch: TypeAlias = tuple[int, int, ProducerUpdate | None]
"""A batch that `queue_plain` takes: last offset delta, max timestamp, its producer's update."""


class AppendOrigin(IntEnum):
    """Who appends, and so what is checked."""

    CLIENT = CLIENT
    COORDINATOR = COORDINATOR
    REPLICATION = REPLICATION
    RAFT_LEADER = RAFT_LEADER


class AppendOutcome:
    """What became of one append; `error` is a Kafka error code, 0 when queued or a duplicate."""

    __slots__ = (
        "base_offset",
        "duplicate",
        "error",
        "error_message",
        "last_offset",
        "log_append_time_ms",
        "queued",
        "record_errors",
    )

    def __init__(
        self,
        base_offset: int = -1,
        last_offset: int = -1,
        log_append_time_ms: int = -1,
        error: int = 0,
        error_message: str | None = None,
        record_errors: Sequence[tuple[int, str | None]] | None = None,
        duplicate: bool = False,
        queued: bool = False,
    ) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.log_append_time_ms = log_append_time_ms
        self.error = error
        self.error_message = error_message
        self.record_errors = record_errors if record_errors is not None else ()
        self.duplicate = duplicate
        self.queued = queued


class LogAppending(LogState):
    """The appending half of a PartitionLog."""

    __slots__ = ()

    def append_as_leader(
        self,
        records: Buffer,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
        checked: ValidationOutcome | None = None,
        guard: VerificationGuard | None = None,
    ) -> AppendOutcome:
        """Validate, assign offsets, check the producer, queue. Faults of the client are outcomes.

        `records` is patched in place where it is writable. `checked` is what `validate` said of
        them, when it was asked before. `transaction_version` and `guard`: see
        `ProducerStateManager.prepare`. May write what is queued already, when a segment must roll
        first: LogDirFailure then.
        """
        if origin == RAFT_LEADER:
            return self._append_raft(records, leader_epoch, now_ms)
        if checked is None:
            if guard is None:
                view = memoryview(records)
                plain = self.check_plain(view, leader_epoch, now_ms)
                if plain is not None:
                    base_offset = self.queue_plain(view, plain)
                    return AppendOutcome(base_offset, self.next_offset - 1, queued=True)
            checked = validate(records, self._rules, now_ms, origin)
        elif checked.log_append_time >= 0:
            stamp(checked, now_ms)
        if checked.error:
            return AppendOutcome(
                error=checked.error,
                error_message=checked.error_message,
                record_errors=checked.record_errors,
            )
        header = checked.header
        batch = checked.batch
        base_offset = self.next_offset
        last_offset = base_offset + header.last_offset_delta
        update = None
        if header.producer_id >= 0:
            try:
                if origin == CLIENT:
                    duplicate = self.producers.find_duplicate(header)
                    if duplicate is not None:
                        self._flush_if_due()  # a kill may have come between its write and its sync
                        return AppendOutcome(
                            duplicate.first_offset,
                            duplicate.last_offset,
                            duplicate.timestamp,
                            duplicate=True,
                        )
                update = self.producers.prepare(
                    header, batch, base_offset, origin, transaction_version, guard
                )
            except KafkaError as refused:
                return AppendOutcome(error=refused.code, error_message=refused.message)
        self._now_ms = now_ms
        size = header.batch_length + LOG_OVERHEAD
        self._roll_if_due(size, base_offset, last_offset, header.max_timestamp)
        if leader_epoch > self._latest_epoch:
            self._assign_epoch(leader_epoch, base_offset)
        assign_offset(batch, base_offset, leader_epoch)
        if update is not None:
            header.base_offset = base_offset
            header.partition_leader_epoch = leader_epoch
            self._apply(update, header)
        self._queue(batch, (base_offset, last_offset, header.max_timestamp, size))
        return AppendOutcome(base_offset, last_offset, checked.log_append_time, queued=True)

    def check_plain(self, records: memoryview, leader_epoch: int, now_ms: int) -> PlainBatch | None:
        """Look whether `queue_plain` may have a client's batch; None: it wants a closer look.

        That is so of a batch that is not plain (plain_batch.py) or not its producer's next one, and
        where an append has more to do than to queue it: roll, open a segment, begin an epoch.
        """
        segment = self.active
        if leader_epoch != self._latest_epoch or not segment.is_writable:
            return None
        header = plain_header(records, self._rules, now_ms)
        if header is None:
            return None
        delta, max_timestamp, producer_id, producer_epoch, sequence = header
        last_offset = self.next_offset + delta
        self._now_ms = now_ms
        if self._must_roll(segment, len(records), last_offset, max_timestamp):
            return None
        if producer_id < 0:
            return delta, max_timestamp, None
        update = self.producers.prepare_next(
            producer_id, producer_epoch, sequence, delta, last_offset, max_timestamp
        )
        return None if update is None else (delta, max_timestamp, update)

    def queue_plain(self, records: memoryview, plain: PlainBatch) -> int:
        """Queue the batch that `check_plain` has just looked at; its base offset."""
        delta, max_timestamp, update = plain
        batch = bytearray(records) if records.readonly else records
        base_offset = self.next_offset
        last_offset = base_offset + delta
        assign_offset(batch, base_offset, self._latest_epoch)
        if update is not None:
            self.producers.apply(update)
            self._updates.append(update)
        self._queue(batch, (base_offset, last_offset, max_timestamp, len(batch)))
        return base_offset

    def _queue(self, batch: bytearray | memoryview, place: Placed) -> None:
        """For the next `write_pending`."""
        self._parts.append(batch)
        self._batches.append(place)
        self._pending_bytes += place[3]
        self.next_offset = place[1] + 1

    def is_heavy(self, attributes: int, size_bytes: int) -> bool:
        """Whether a client's batch should be given to `validate` in a thread first."""
        return self._rules.is_heavy(attributes, size_bytes)

    def validate(self, records: Buffer, now_ms: int) -> ValidationOutcome:
        """Check a client's batch and make it fit, for `append_as_leader`.

        It touches nothing of the log: any thread may call it.
        """
        return validate(records, self._rules, now_ms, CLIENT)

    def validate_light(
        self, records: Buffer, attributes: int, now_ms: int
    ) -> ValidationOutcome | None:
        """As `validate`, for the event loop; None when the batch holds too much for that."""
        limit = self._rules.light_bytes(attributes)
        try:
            return validate(records, self._rules, now_ms, CLIENT, limit)
        except HeavyBatch:
            return None

    def append_as_follower(
        self, records: Buffer, now_ms: int, leader_epoch: int | None = None
    ) -> AppendOutcome:
        """Queue batches whose offsets the leader assigned.

        Batches of a higher leader epoch than the replica's own are left out (KAFKA-18723).
        """
        view = memoryview(records)
        try:
            batches = check_replicated(view, self._rules.partition)
        except CorruptBatch as fault:
            return AppendOutcome(error=ErrorCode.CORRUPT_MESSAGE, error_message=str(fault))
        expected = self.next_offset
        for count, (_, header) in enumerate(batches):
            if leader_epoch is not None and header.partition_leader_epoch > leader_epoch:
                del batches[count:]
                break
            if header.base_offset < expected:
                return AppendOutcome(
                    error=ErrorCode.OFFSET_OUT_OF_RANGE,
                    error_message=(
                        f"Unexpected offset in append to {self.topic_partition}: "
                        f"{header.base_offset} is less than the next offset {expected}."
                    ),
                )
            expected = header.next_offset
        if not batches:
            return AppendOutcome(self.next_offset, self.next_offset - 1)
        base_offset = batches[0][1].base_offset
        self._queue_batches(view, batches, now_ms)
        return AppendOutcome(base_offset, expected - 1, queued=True)

    def _append_raft(self, records: Buffer, leader_epoch: int, now_ms: int) -> AppendOutcome:
        """The metadata log's own batches: trusted, any number at once, offsets assigned here."""
        view = memoryview(bytearray(records) if memoryview(records).readonly else records)
        try:
            batches = check_replicated(view, self._rules.partition)
        except CorruptBatch as fault:
            return AppendOutcome(error=ErrorCode.CORRUPT_MESSAGE, error_message=str(fault))
        base_offset = self.next_offset
        following = base_offset
        for position, header in batches:
            assign_offset(view[position:], following, leader_epoch)
            header.base_offset = following
            header.partition_leader_epoch = leader_epoch
            following = header.next_offset
        self._queue_batches(view, batches, now_ms)
        return AppendOutcome(base_offset, following - 1, queued=True)

    def _queue_batches(
        self, view: memoryview, batches: list[tuple[int, BatchHeader]], now_ms: int
    ) -> None:
        self._now_ms = now_ms
        run_start = run_end = -1  # batches that lie side by side are one part of the writev
        for position, header in batches:
            size = header.batch_length + LOG_OVERHEAD
            batch = view[position : position + size]
            # Where an old compressed message begins is not known, only that it goes on from here.
            base_offset = header.base_offset if header.magic == MAGIC_V2 else self.next_offset
            self._roll_if_due(size, base_offset, header.last_offset, header.max_timestamp)
            if header.partition_leader_epoch > self._latest_epoch:
                self._assign_epoch(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                update = self.producers.prepare(header, batch, header.base_offset, REPLICATION)
                if update is not None:
                    self._apply(update, header)
            if position == run_end and self._parts:  # empty after a roll
                self._parts[-1] = view[run_start : position + size]
            else:
                run_start = position
                self._parts.append(batch)
            run_end = position + size
            self._batches.append(placed(header))
            self._pending_bytes += size
            self.next_offset = header.next_offset

    def _apply(self, update: ProducerUpdate, header: BatchHeader) -> None:
        """At once, so that the next batch of the turn is checked against it; undone on failure."""
        if header.attributes & TRANSACTIONAL_BIT:
            self.producers.verifications.note_append(header)
        completed = self.producers.apply(update)
        self._updates.append(update)
        if completed is not None and completed.is_aborted:
            self._completed.append(completed)

    def _roll_if_due(
        self, size: int, base_offset: int, last_offset: int, max_timestamp: int
    ) -> None:
        if self._must_roll(self.active, size, last_offset, max_timestamp):
            self.write_pending()
            self.roll(self._now_ms, base_offset)

    def _must_roll(self, segment: Segment, size: int, last_offset: int, max_timestamp: int) -> bool:
        """LogSegment.shouldRoll, counting what is queued as written."""
        filled = segment.size + self._pending_bytes
        return (
            filled + size > self._segment_bytes
            or segment.index_full
            or last_offset - segment.base_offset > MAX_RELATIVE_OFFSET
            or (filled > 0 and self._is_roll_due(segment, max_timestamp))
        )

    def _is_roll_due(self, segment: Segment, max_timestamp: int) -> bool:
        first = segment.first_timestamp
        if first is None:
            if segment.size:
                self.guarded("opening a segment", segment.make_writable)
                first = segment.first_timestamp
            else:  # all that it holds is still queued
                first = self._batches[0][2]
        if first is not None and first >= 0:
            waited = max_timestamp - first
        else:
            waited = self._now_ms - segment.created_ms
        return waited > self._roll_ms - segment.roll_jitter_ms

    def _assign_epoch(self, leader_epoch: int, start_offset: int) -> None:
        with self.guard("writing the leader epoch checkpoint"):
            self.leader_epochs.assign(leader_epoch, start_offset)
        self._latest_epoch = leader_epoch

    def assign_epoch_start(self, leader_epoch: int, start_offset: int) -> None:
        """This replica became the leader in `leader_epoch`, with its log ending at start_offset."""
        if leader_epoch > self._latest_epoch:
            self._assign_epoch(leader_epoch, start_offset)

    def write_pending(self) -> None:
        """Write what is queued with one writev, then move the log end offset.

        LogDirFailure: what was queued is cut back, and nothing of it will ever be read.
        """
        batches = self._batches
        if not batches:
            return
        segment = self.active
        size_before = segment.size
        if not segment.is_writable:
            self.guarded("opening a segment", segment.make_writable)
        try:
            segment.append(self._parts, batches)
            for completed in self._completed:
                segment.txn_index.append_aborted(completed)
        except OSError as error:
            segment.size = size_before
            raise self.failure("writing", error) from error
        self.log_end_offset = self.producers.map_end_offset = self.next_offset
        self._forget_pending()
        self._flush_if_due()

    def _flush_if_due(self) -> None:
        if self.log_end_offset - self.recovery_point >= self._flush_messages:
            self.flush()

    @abstractmethod
    def flush(self, now_ms: int | None = None) -> None:
        """fsync up to the log end (PartitionLog)."""

    def _forget_pending(self) -> None:
        self._parts = []
        self._batches = []
        self._pending_bytes = 0
        if self._updates:
            self._updates = []
            self._completed = []

    def failure(self, action: str, error: OSError) -> LogDirFailure:
        """What is queued when the disk fails is never written, whatever it was that failed."""
        if self._batches:
            self._take_back()
        return super().failure(action, error)

    def _take_back(self) -> None:
        """A write failed: the log ends where it ended before, in the file and in memory."""
        for update in reversed(self._updates):
            self.producers.undo(update)
        self._forget_pending()
        end = self.next_offset = self.log_end_offset
        with contextlib.suppress(OSError, CorruptSegment, CorruptIndex):
            self.active.cut_back()
            self.active.truncate_to(end, self._now_ms)
            self.leader_epochs.truncate_from_end(end)
        self.epochs_changed()

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Close the active segment and begin a new one at base_offset (default: the log end)."""
        self.write_pending()
        base = max(base_offset or 0, self.log_end_offset)
        old = self.active
        if old.base_offset == base and not old.size:
            return old
        with self.guard("rolling"):
            old.become_inactive()
            self.closed_unsynced.append(old)
            segment = self.new_segment(base, now_ms)
            # The snapshot stands at the new base offset, which may be ahead of the log end.
            self.producers.map_end_offset = base
            self.snapshots.take()
        self.chores.rolled(self)
        _log.debug("%s: rolled new log segment at offset %d", self.topic_partition, base)
        return segment

    def new_segment(self, base_offset: int, now_ms: int) -> Segment:
        jitter_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        drawn_ms = self.jitter(jitter_ms) if self.jitter is not None and jitter_ms > 0 else 0
        segment = Segment.create(
            self.files,
            self.directory,
            base_offset,
            self.config,
            now_ms,
            roll_jitter_ms=drawn_ms,
        )
        self.segments.add(segment)
        self.active = self.segments.last
        return segment

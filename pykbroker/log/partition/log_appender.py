"""Appending to a partition's log: check a batch, assign its offsets, queue it.

    append_as_leader ->   check_plain, queue_plain: where there is nothing special
                     else transactional_outcome or validate, unless the batch was checked before;
                          then what is known of the producer, queued
    queue_own             a batch that this node has just built
    append_as_follower    the batches of a leader's answer

State: the validation rules. Queued batches are in the AppendQueue.
In:    batches.
Out:   AppendOutcome; LogDirFailure if the disk fails; KafkaError if the active segment is found to
       be corrupt; KafkaError or CorruptBatch for a replicated batch that cannot be applied.
Invariants: batches queued in a round see each other (sequence checks, offsets).
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.environment.files import Buffer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.append_outcome import AppendOrigin, AppendOutcome
from pykbroker.log.partition.append_queue import AppendQueue
from pykbroker.log.partition.earlier_batches import with_earlier_batches
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.producers.producer_entry import BatchMetadata
from pykbroker.log.producers.producer_state import ProducerUpdate
from pykbroker.log.producers.verification import VerificationGuard
from pykbroker.log.segments.segment import placed
from pykbroker.log.validation.batch_validation import (
    ValidationOutcome,
    check_replicated,
    stamp,
    validate,
)
from pykbroker.log.validation.plain_batch import plain_header, transactional_outcome
from pykbroker.log.validation.validation_rules import (
    CLIENT,
    REPLICATION,
    HeavyBatch,
    ValidationRules,
)
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    LOG_OVERHEAD,
    MAGIC_V2,
    TRANSACTIONAL_BIT,
    BatchHeader,
    assign_offset,
)

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig

_attributes_and_delta = Struct(">hi").unpack_from

PlainCheck: TypeAlias = tuple[int, int, ProducerUpdate | None]
"""What `check_plain` has found and `queue_plain` needs: last offset delta, max timestamp, the
producer's update. A plain tuple: a named one would cost every batch 0.2 us more.
"""


class LogAppender:
    """The appending part of a log."""

    __slots__ = ("_epochs", "_local", "_producers", "_queue", "_rules")

    def __init__(self, local: LocalLog, queue: AppendQueue) -> None:
        self._local = local
        self._queue = queue
        self._epochs = local.leader_epochs
        self._producers = local.snapshots.manager
        self.update_config(local.config)

    def update_config(self, config: TopicConfig) -> None:
        self._rules = ValidationRules.of(config, str(self._local.topic_partition))

    # -- as leader ------------------------------------------------------------------------------

    def append_as_leader(
        self,
        records: Buffer,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin,
        checked: ValidationOutcome | None,
        guard: VerificationGuard | None,
        transaction_version: int,
    ) -> AppendOutcome:
        """See PartitionLog."""
        if checked is None:
            view = memoryview(records)
            if guard is None and origin == CLIENT:
                plain = self.check_plain(view, leader_epoch, now_ms)
                if plain is not None:
                    base_offset, next_offset = self.queue_plain(view, plain, leader_epoch, now_ms)
                    return AppendOutcome(base_offset, next_offset - 1, queued=True)
            checked = transactional_outcome(view, self._rules, now_ms, origin)
            if checked is None:
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
        base_offset = self._queue.next_offset
        last_offset = base_offset + header.last_offset_delta
        update = None
        if header.producer_id >= 0:
            try:
                if origin == CLIENT:
                    duplicate = self._find_duplicate(header)
                    if duplicate is not None:
                        return AppendOutcome(
                            duplicate.first_offset,
                            duplicate.last_offset,
                            duplicate.timestamp,
                            duplicate=True,
                        )
                update = self._producers.prepare(
                    header, batch, base_offset, origin, transaction_version, guard
                )
            except KafkaError as refused:
                return AppendOutcome(error=refused.code, error_message=refused.message)
        self._local.now_ms = now_ms
        size = header.batch_length + LOG_OVERHEAD
        self._roll_if_due(size, base_offset, last_offset, header.max_timestamp)
        if leader_epoch != self._epochs.latest_epoch:
            self.assign_epoch_start(leader_epoch, base_offset)
        assign_offset(batch, base_offset, leader_epoch)
        if update is not None:
            header.base_offset = base_offset
            header.partition_leader_epoch = leader_epoch
            self._note_in_verifications(header)
        self._queue.add(batch, (base_offset, last_offset, header.max_timestamp, size), update)
        return AppendOutcome(base_offset, last_offset, checked.log_append_time, queued=True)

    def check_plain(self, records: memoryview, leader_epoch: int, now_ms: int) -> PlainCheck | None:
        """Check whether `queue_plain` can take a batch of a client; None if it needs the rest of
        `append_as_leader`.

        Among others, that is a batch that is not plain (plain_batch.py) or not its producer's next
        one, and any batch if the append has to do more than queue it.
        """
        header = plain_header(records, self._rules, now_ms)
        if header is None:
            return None
        delta, max_timestamp, producer_id, producer_epoch, sequence = header
        last_offset = self._queue.next_offset + delta
        if not self._only_queues(leader_epoch, len(records), last_offset, max_timestamp, now_ms):
            return None
        if producer_id < 0:
            return delta, max_timestamp, None
        update = self._producers.prepare_next(
            producer_id, producer_epoch, sequence, delta, last_offset, max_timestamp
        )
        return None if update is None else (delta, max_timestamp, update)

    def queue_plain(
        self, records: memoryview, plain: PlainCheck, leader_epoch: int, now_ms: int
    ) -> tuple[int, int]:
        """Queue what `check_plain` has just checked; return (base offset, next offset)."""
        delta, max_timestamp, update = plain
        self._local.now_ms = now_ms
        batch = bytearray(records) if records.readonly else records
        base_offset = self._queue.next_offset
        assign_offset(batch, base_offset, leader_epoch)
        last_offset = base_offset + delta
        self._queue.add(batch, (base_offset, last_offset, max_timestamp, len(batch)), update)
        return base_offset, last_offset + 1

    def queue_own(self, batch: bytearray, leader_epoch: int, now_ms: int) -> tuple[int, int] | None:
        """Queue a batch that this node has just built, without a producer, from records of `now_ms`
        that have keys; return (base offset, next offset).

        None if it needs `append_as_leader`: if it has attributes or is too large, if the topic
        asks for more than plain batches, and if the append has to do more than queue it.
        """
        queue = self._queue
        size = len(batch)
        attributes, delta = _attributes_and_delta(batch, ATTRIBUTES_AT)
        if attributes or size > self._rules.plain_bytes:
            return None
        base_offset = queue.next_offset
        last_offset = base_offset + delta
        if not self._only_queues(leader_epoch, size, last_offset, now_ms, now_ms):
            return None
        self._local.now_ms = now_ms
        assign_offset(batch, base_offset, leader_epoch)
        queue.add(batch, (base_offset, last_offset, now_ms, size), None)
        return base_offset, last_offset + 1

    def _only_queues(
        self, leader_epoch: int, size: int, last_offset: int, max_timestamp: int, now_ms: int
    ) -> bool:
        """Return whether the append of a batch only queues it: no epoch begins, no segment has to
        be opened, none has to roll.
        """
        return (
            leader_epoch == self._epochs.latest_epoch
            and self._local.active.is_writable
            and not self._queue.must_roll(size, last_offset, max_timestamp, now_ms)
        )

    def _find_duplicate(self, header: BatchHeader) -> BatchMetadata | None:
        producers = self._producers
        duplicate = producers.find_duplicate(header)
        if duplicate is None and producers.restored:
            entry = producers.take_restored(header)
            if entry is not None:
                entry = with_earlier_batches(self._local, entry)
                producers.put_back(entry)
                duplicate = producers.find_duplicate(header)
        return duplicate

    # -- checks beforehand ----------------------------------------------------------------------

    def is_heavy(self, attributes: int, size_bytes: int) -> bool:
        """Return whether a client's batch should first be passed to `validate` in a thread."""
        return self._rules.is_heavy(attributes, size_bytes)

    def validate(self, records: Buffer, now_ms: int) -> ValidationOutcome:
        """Check a client's batch and adapt it, for `append_as_leader`.

        It does not access the log, so any thread may call it.
        """
        return validate(records, self._rules, now_ms, CLIENT)

    def validate_light(
        self, records: Buffer, attributes: int, now_ms: int
    ) -> ValidationOutcome | None:
        """Like `validate`, for the event loop; None if the decompressed batch is too large."""
        limit = self._rules.light_bytes(attributes)
        try:
            return validate(records, self._rules, now_ms, CLIENT, limit)
        except HeavyBatch:
            return None

    # -- as follower ----------------------------------------------------------------------------

    def append_as_follower(
        self, records: Buffer, now_ms: int, leader_epoch: int | None = None
    ) -> AppendOutcome:
        """See PartitionLog."""
        view = memoryview(records)
        try:
            batches = check_replicated(view, self._rules.partition)
        except CorruptBatch as fault:
            return AppendOutcome(error=ErrorCode.CORRUPT_MESSAGE, error_message=str(fault))
        next_offset = expected = self._queue.next_offset
        for count, (_, header) in enumerate(batches):
            if leader_epoch is not None and header.partition_leader_epoch > leader_epoch:
                del batches[count:]
                break
            if header.base_offset < expected:
                return AppendOutcome(
                    error=ErrorCode.OFFSET_OUT_OF_RANGE,
                    error_message=(
                        f"Unexpected offset in append to {self._local.topic_partition}: "
                        f"{header.base_offset} is less than the next offset {expected}."
                    ),
                )
            expected = header.next_offset
        if not batches:
            return AppendOutcome(next_offset, next_offset - 1)
        self._local.now_ms = now_ms
        self._queue_replicated(view, batches)
        return AppendOutcome(batches[0][1].base_offset, expected - 1, queued=True)

    def _queue_replicated(self, view: memoryview, batches: list[tuple[int, BatchHeader]]) -> None:
        queue = self._queue
        run_start = run_end = -1  # adjacent batches are one part of the writev
        for position, header in batches:
            size = header.batch_length + LOG_OVERHEAD
            end = position + size
            batch = view[position:end]
            # The start of an old compressed message is unknown; it only continues from here.
            base_offset = header.base_offset if header.magic == MAGIC_V2 else queue.next_offset
            self._roll_if_due(size, base_offset, header.last_offset, header.max_timestamp)
            if header.partition_leader_epoch != self._epochs.latest_epoch:
                self.assign_epoch_start(header.partition_leader_epoch, header.base_offset)
            update = None
            if header.producer_id >= 0:
                update = self._producers.prepare(header, batch, header.base_offset, REPLICATION)
                if update is not None:
                    self._note_in_verifications(header)
            joins_last = position == run_end and not queue.is_empty  # it is after a roll
            if not joins_last:
                run_start = position
            queue.add(view[run_start:end], placed(header), update, joins_last=joins_last)
            run_end = end

    # -- both -----------------------------------------------------------------------------------

    def _note_in_verifications(self, header: BatchHeader) -> None:
        """Let the verifications know of a transactional batch that is about to be queued."""
        if header.attributes & TRANSACTIONAL_BIT:
            self._producers.verifications.note_append(header)

    def _roll_if_due(
        self, size: int, base_offset: int, last_offset: int, max_timestamp: int
    ) -> None:
        now_ms = self._local.now_ms
        if self._queue.must_roll(size, last_offset, max_timestamp, now_ms):
            self._queue.roll(now_ms, base_offset)

    def assign_epoch_start(self, leader_epoch: int, start_offset: int) -> None:
        """Record that `leader_epoch`, if it is above the latest known one, begins at
        `start_offset`. Raises LogDirFailure.
        """
        latest = self._epochs.latest_epoch
        if leader_epoch > (-1 if latest is None else latest):
            with self._local.guard("writing the leader epoch checkpoint"):
                self._epochs.assign(leader_epoch, start_offset)

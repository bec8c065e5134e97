"""Broken rules of logs."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import (
    Mutant,
    Patch,
    changing,
    doing_nothing,
    instead,
    returning,
)


def _replaced_by_nothing(original: Any, keys: Any, names: list[bytes], offsets: list[int]) -> None:
    """The latest record of a key counts as replaced, too."""
    original(keys, names, [offset + 1 for offset in offsets])


def _all_expired(original: Any, log: Any, now_ms: int) -> Any:
    return lambda segment, following: True


def _one_too_many(original: Any, partition: Any, offset: int) -> int:
    answer: int = original(partition, offset)
    log = partition.log
    if log.log_start_offset < partition.high_watermark:
        log.advance_log_start_offset(log.log_start_offset + 1)
    return answer


def _without_last_batch(original: Any, segment: Any, *arguments: Any, **named: Any) -> Any:
    batches = list(original(segment, *arguments, **named))
    return iter(batches[:-1])


def _loses_small_batches(original: Any, batch: Any, header: Any, retention: Any) -> Any:
    return None if header.record_count == 1 else original(batch, header, retention)


def _sync_files_only_of_names(original: Any, job: Any) -> None:
    job._syncs = []
    original(job)


def _no_names(original: Any, job: Any) -> None:
    job._directories = []
    original(job)


def _as_if_written(original: Any, produce: Any, failed: Any) -> Any:
    """An append is acknowledged although its write failed."""
    if not any(append.partition in failed for append in produce.pending):
        return original(produce, failed)
    produce.pending.clear()
    produce.deferred.resolve(produce.finished())
    return None


def _forget_epoch(original: Any, manager: Any, entries: Any, offset: int) -> None:
    original(manager, [], offset)


LOG_MUTANTS = (
    Mutant(
        "duplicates-refused",
        "a duplicate batch is answered with its original offset",
        (
            Patch(
                "log.producers.producer_state:ProducerStateManager.find_duplicate", returning(None)
            ),
        ),
        seed=8,
    ),
    Mutant(
        "duplicates-appended",
        "a batch of an idempotent producer is appended once",
        (
            Patch(
                "log.producers.producer_state:ProducerStateManager.find_duplicate", returning(None)
            ),
            Patch(
                "log.producers.producer_state:ProducerStateManager._check_sequence", doing_nothing
            ),
        ),
        seed=8,
    ),
    Mutant(
        "producers-not-replayed",
        "recovery rebuilds producer state from the batches after the snapshot",
        (Patch("log.recovery.segment_recovery:apply_producer", doing_nothing),),
        seed=1,
    ),
    Mutant(
        "snapshots-not-loaded",
        "a start loads producer state from the newest snapshot",
        (Patch("log.producers.producer_state:ProducerStateManager.load", instead(_forget_epoch)),),
        seed=1,
    ),
    Mutant(
        "flush-without-sync",
        "flushed records survive a power failure",
        (Patch("log.partition.flush:FlushJob.run", instead(_sync_files_only_of_names)),),
        seed=1,
    ),
    Mutant(
        "flush-without-names",
        "the name of a flushed segment survives a power failure",
        (Patch("log.partition.flush:FlushJob.run", instead(_no_names)),),
        seed=32,
    ),
    Mutant(
        "recovery-drops-the-end",
        "recovery keeps every whole batch",
        (Patch("log.recovery.segment_recovery:valid_batches", instead(_without_last_batch)),),
    ),
    Mutant(
        "retention-takes-all",
        "retention deletes no segment before its time",
        (Patch("log.partition.retention:time_rule", instead(_all_expired)),),
    ),
    Mutant(
        "delete-one-too-many",
        "DeleteRecords deletes nothing at or above its offset",
        (Patch("broker.handlers.delete_records:delete_records", instead(_one_too_many)),),
    ),
    Mutant(
        "compaction-keeps-nothing",
        "compaction keeps the latest record of each key",
        (Patch("log.compaction.key_map:KeyMap.put_all", instead(_replaced_by_nothing)),),
        seed=5,
    ),
    Mutant(
        "compaction-loses-batches",
        "compaction removes only what a later record replaces",
        (Patch("log.compaction.round:filter_batch", instead(_loses_small_batches)),),
        seed=12,
    ),
    Mutant(
        "read-skips-a-batch",
        "a read starts at the batch that contains its offset",
        (
            Patch(
                "log.partition.partition_log:PartitionLog.read",
                instead(
                    lambda original, log, offset, *more: original(
                        log, min(offset + 1, log.log_end_offset - 1), *more
                    )
                ),
            ),
        ),
    ),
    Mutant(
        "failed-write-counts",
        "a failed write leaves nothing in the log",
        (
            Patch(
                "replication.delayed_produce:DelayedProduce.on_turn_written",
                instead(_as_if_written),
            ),
        ),
    ),
    Mutant(
        "torn-tail-kept",
        "recovery truncates a torn batch",
        (Patch("log.recovery.log_loader:LogLoader.recover_unflushed", doing_nothing),),
        seed=17,
    ),
    Mutant(
        "base-offset-off-by-one",
        "Produce is answered with the offset of its first record",
        (
            Patch(
                "log.partition.partition_log:PartitionLog.append_as_leader",
                changing(lambda outcome: _shifted(outcome)),
            ),
        ),
    ),
)


def _shifted(outcome: Any) -> Any:
    if outcome.queued:
        outcome.base_offset += 1
    return outcome

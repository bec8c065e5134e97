"""Compacted logs for tests: written, cleaned and read back."""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.config import TopicConfig
from pykbroker.environment.files import Files
from pykbroker.log.compaction.cleaner_state import CleanerState, LogToClean, make_job
from pykbroker.log.compaction.round import CompactionJob, CompactionResult, Group, compact
from pykbroker.log.partition.append_outcome import AppendOrigin
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.log.segments.segment_swap import replace_segments
from pykbroker.protocol.control_records import EndTxnMarker, build_marker_batch
from pykbroker.protocol.record import Record
from pykbroker.protocol.record_batch import BatchHeader, build_batch, iter_batches, iter_records
from pykbroker.types import TopicPartition

PARTITION = TopicPartition("accounts", 0)
NOW = 1_700_000_000_000
DAY = 86_400_000


def open_accounts(files: Files, root: str = "/d", segment_bytes: int = 1 << 20) -> PartitionLog:
    """A compacted log; its segments may be smaller than clients are allowed to make them."""
    config = TopicConfig.default(
        cleanup_policy="compact",
        min_cleanable_dirty_ratio="0.01",
        index_interval_bytes="100",
        segment_index_bytes="4096",
    )
    config.segment_bytes = segment_bytes
    return open_log(files, f"{root}/accounts-0", PARTITION, config, now_ms=NOW)


class Writer:
    """Appends to a log as clients and transaction coordinators do."""

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.sequences: dict[int, int] = {}

    def put(
        self,
        entries: Sequence[tuple[bytes, bytes | None]],
        *,
        codec: int = 0,
        producer: int = -1,
        transactional: bool = False,
        timestamp: int = NOW,
        apart_ms: int = 0,
    ) -> int:
        sequence = self.sequences.get(producer, 0)
        self.sequences[producer] = sequence + len(entries)
        batch = build_batch(
            [(key, value, timestamp + n * apart_ms, ()) for n, (key, value) in enumerate(entries)],
            codec=codec,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=sequence if producer >= 0 else -1,
            is_transactional=transactional,
        )
        outcome = self.log.append_as_leader(batch, 0, NOW)
        assert outcome.error == 0, outcome.error_message
        self.log.write_pending()
        return int(outcome.base_offset)

    def end(self, producer: int, control_type: int) -> None:
        batch = build_marker_batch(
            EndTxnMarker(control_type, 0),
            producer_id=producer,
            producer_epoch=0,
            timestamp_ms=NOW,
        )
        outcome = self.log.append_as_leader(batch, 0, NOW, AppendOrigin.COORDINATOR)
        assert outcome.error == 0, outcome.error_message
        self.log.write_pending()


def clean(
    log: PartitionLog,
    state: CleanerState,
    now_ms: int = NOW,
    *,
    map_bytes: int = 1 << 20,
    io_buffer_bytes: int = 4096,
) -> CompactionResult | None:
    """One round, as the driver does it; None when the log is not due."""
    chosen = state.consider(log, log.log_end_offset, now_ms)
    if chosen is None:
        return None
    state.begin(chosen)
    job, segments = make_job(
        chosen, log.log_end_offset, now_ms, map_bytes=map_bytes, io_buffer_bytes=io_buffer_bytes
    )
    by_base = {segment.base_offset: segment for segment in segments}
    result = CompactionResult()
    for step in compact(log.files, job, result):
        if isinstance(step, Group):
            assert replace_segments(log.local, [by_base[base] for base in step.old], step.new)
    state.finished(log.topic_partition, result.end_offset)
    return result


def job_of(log: PartitionLog, first_dirty_offset: int) -> CompactionJob:
    """The job that would clean all closed segments from an offset on."""
    chosen = LogToClean(
        log, first_dirty_offset, log.active.base_offset, 0, 0, False, log.truncations
    )
    end = log.log_end_offset
    return make_job(chosen, end, NOW, map_bytes=1 << 20, io_buffer_bytes=4096)[0]


def stored(log: PartitionLog) -> list[tuple[BatchHeader, list[Record]]]:
    """Every batch of the log with its records, from the files."""
    found = []
    for segment in log.segments:
        content = segment.file.pread(segment.size, 0) if segment.size else b""
        for header, batch in iter_batches(content):
            found.append((header, list(iter_records(batch))))
    return found


def records(log: PartitionLog) -> list[Record]:
    """The records of data, in order."""
    return [record for header, batch in stored(log) if not header.is_control for record in batch]

"""Opens a partition's log, recovering it if necessary: here, or first in a worker process.

Opening the same directory twice gives the same log (log_loader.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from pykbroker.config import TopicConfig
from pykbroker.environment.files import Files
from pykbroker.log.directories.chores import Chores
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.log_loader import LogLoader, is_segment_name, offset_of
from pykbroker.log.segments.segment import LOG_SUFFIX
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

_log = logging.getLogger(__name__)

DEFAULT_PRODUCER_EXPIRATION_MS = 86_400_000


def open_log(
    files: Files,
    directory: str,
    topic_partition: TopicPartition,
    config: TopicConfig,
    *,
    now_ms: int,
    is_clean: bool = True,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    is_contiguous: bool = False,
    topic_id: bytes | None = None,
    chores: Chores | None = None,
    jitter: Callable[[int], int] | None = None,
    producer_id_expiration_ms: int = DEFAULT_PRODUCER_EXPIRATION_MS,
) -> PartitionLog:
    """Open or create the log in `directory`. Raises OSError or LogDirFailure, or
    OffsetsOutOfPlace, before which no batch is cut off.

    is_contiguous: the topic was never compacted, so missing and empty log files and, after an
    unclean stop, gaps between recovered segments are reported as losses, and empty last segments
    behind a gap are deleted.
    """
    if not files.is_dir(directory):
        files.mkdir(directory)
    loader = LogLoader(
        files,
        directory,
        topic_partition,
        config,
        now_ms=now_ms,
        is_clean=is_clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        is_contiguous=is_contiguous,
        producer_id_expiration_ms=producer_id_expiration_ms,
    )
    end_offset = loader.load()
    if recovery_point > end_offset:
        lost = f"{end_offset} but was synced up to {recovery_point}: the records between are lost"
        _log.error("%s: %s ends at offset %s", topic_partition, directory, lost)
    log = PartitionLog(
        files=files,
        directory=directory,
        topic_partition=topic_partition,
        config=config,
        segments=loader.segments,
        log_start_offset=loader.log_start_offset,
        recovery_point=end_offset if is_clean else min(recovery_point, end_offset),
        log_end_offset=end_offset,
        leader_epochs=loader.epochs,
        snapshots=loader.snapshots,
        now_ms=now_ms,
        topic_id=topic_id,
        is_directory_durable=is_clean and recovery_point > 0,
        chores=chores,
        jitter=jitter,
    )
    if not is_clean:
        log.local.unsynced_from = min(recovery_point, end_offset)
    log.local.has_new_names = loader.has_new_names
    log.flusher.note_recovered(loader.recovered)
    if log.log_end_offset >= log.flusher.due_offset:
        # Killed between a write and its sync: a client or coordinator that reads it may rely on
        # flush.messages.
        log.flush(now_ms)
    return log


class RecoveryTask(NamedTuple):
    """The recovery of one log, as sent to a worker process."""

    directory: str
    topic: str
    partition: int
    recovery_point: int
    log_start_offset: int
    is_contiguous: bool
    now_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    producer_id_expiration_ms: int
    size_bytes: int


def recover_and_close(files: Files, task: RecoveryTask) -> int:
    """Recover a log and close it cleanly; return its end offset."""
    config = TopicConfig.default(
        segment_bytes=str(task.segment_bytes),
        segment_index_bytes=str(task.segment_index_bytes),
        index_interval_bytes=str(task.index_interval_bytes),
    )
    log = open_log(
        files,
        task.directory,
        TopicPartition(task.topic, task.partition),
        config,
        now_ms=task.now_ms,
        is_clean=False,
        recovery_point=task.recovery_point,
        log_start_offset=task.log_start_offset,
        is_contiguous=task.is_contiguous,
        producer_id_expiration_ms=task.producer_id_expiration_ms,
    )
    log.close()
    return log.log_end_offset


def unflushed_bytes(files: Files, directory: str, recovery_point: int) -> int:
    """Return the size in bytes of the segments that the recovery of a log checks after a crash."""
    sizes = {
        offset_of(name): size
        for name, size in files.list_sizes(directory).items()
        if name.endswith(LOG_SUFFIX) and is_segment_name(name)
    }
    first = max((base for base in sizes if base <= recovery_point), default=0)
    return sum(size for base, size in sizes.items() if base >= first)

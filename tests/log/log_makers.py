"""Batches and logs for the tests of the log floor."""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.config import TopicConfig
from pykbroker.environment.files import Files
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.record_batch import build_batch, iter_batches, iter_records
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition

PARTITION = TopicPartition("orders", 3)
DIRECTORY = "/d/orders-3"
NOW_MS = 1_700_000_000_000


class NothingUnsynced:
    """Dice of a power failure that takes all that was not synced."""

    def randint(self, low: int, high: int) -> int:
        return low


def memory_disk() -> MemoryFiles:
    files = MemoryFiles()
    files.mkdir("/d")
    files.sync_dir("/")
    return files


def open_orders(
    files: Files,
    directory: str = DIRECTORY,
    *,
    is_clean: bool = True,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    is_contiguous: bool = True,
    now_ms: int = NOW_MS,
    **overrides: str,
) -> PartitionLog:
    return open_log(
        files,
        directory,
        PARTITION,
        TopicConfig.default(**overrides),
        now_ms=now_ms,
        is_clean=is_clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        is_contiguous=is_contiguous,
    )


def batch_of(
    *values: bytes,
    timestamp: int = NOW_MS,
    timestamps: Sequence[int] | None = None,
    codec: int = 0,
    producer: tuple[int, int, int] | None = None,
    is_transactional: bool = False,
) -> bytearray:
    """One batch of a client; `producer` is (id, epoch, base sequence)."""
    times = timestamps if timestamps is not None else [timestamp] * len(values)
    producer_id, epoch, sequence = producer if producer is not None else (-1, -1, -1)
    return build_batch(
        [(b"k", value, when, ()) for value, when in zip(values, times, strict=True)],
        codec=codec,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def append(log: PartitionLog, *values: bytes, epoch: int = 0, timestamp: int = NOW_MS) -> int:
    """Append one batch and write it; its base offset."""
    outcome = log.append_as_leader(batch_of(*values, timestamp=timestamp), epoch, NOW_MS)
    assert outcome.error == 0, outcome.error_message
    log.write_pending()
    return outcome.base_offset


def values_of(log: PartitionLog, offset: int = 0, max_bytes: int = 1 << 20) -> list[bytes | None]:
    """All values from an offset on, read as a consumer would."""
    found: list[bytes | None] = []
    while offset < log.log_end_offset:
        outcome = log.read(offset, max_bytes, log.log_end_offset)
        assert outcome.slice is not None
        for header, batch in iter_batches(outcome.slice.read(), partial_tail=True):
            for record in iter_records(batch):
                if record.offset >= offset:
                    found.append(record.value)
            offset = header.next_offset
    return found

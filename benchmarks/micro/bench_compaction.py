"""Compaction beside Apache's cleaner, on the same files: bytes of input a second, a thread each.

    python -m benchmarks.micro.bench_compaction [--mebibytes N] [--without-apache]

The log has 100-byte or 1000-byte values and 200,000 keys, in batches of 16 KiB and segments of at
most 16 MiB. Goal: at least half the rate of Apache's cleaner. The Java side (its jars come from
Maven) runs once, cold, as it does in a broker that has just begun to clean.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command_line import parser_for
from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.compaction.cleaner_state import CleanerState, make_job
from pykbroker.log.compaction.round import CompactionResult, compact
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.types import TopicPartition

NOW_MS = int(time.time() * 1000)
PARTITION = TopicPartition("compacted", 0)
KEYS = 200_000
BATCH_BYTES = 16_384
MOST_SEGMENT_BYTES = 16 << 20
ORACLE = Path(__file__).parents[2] / "tests" / "interop" / "java" / "CleanerOracle.java"


def open_compacted(root: Path, segment_bytes: int) -> PartitionLog:
    config = TopicConfig.default(cleanup_policy="compact", segment_bytes=str(segment_bytes))
    return open_log(RealFiles(), str(root / str(PARTITION)), PARTITION, config, now_ms=NOW_MS)


def fill(root: Path, total_bytes: int, segment_bytes: int, value_bytes: int, codec: int) -> int:
    """Write a dirty log; return the bytes of its closed segments."""
    dice = random.Random(value_bytes)
    log = open_compacted(root, segment_bytes)
    records_per_batch = BATCH_BYTES // (value_bytes + 20)
    for _ in range(total_bytes // BATCH_BYTES):
        records = [
            (b"key-%08d" % dice.randrange(KEYS), _value(dice, value_bytes), NOW_MS, ())
            for _ in range(records_per_batch)
        ]
        log.append_as_leader(build_batch(records, codec=codec), 0, NOW_MS)
        log.write_pending()
    size = log.size_bytes - log.active.size
    log.close()
    return size


def _value(dice: random.Random, size: int) -> bytes:
    return dice.randbytes(size // 2) + b"x" * (size - size // 2)


def ours(root: Path, segment_bytes: int) -> tuple[int, float]:
    log = open_compacted(root, segment_bytes)
    chosen = CleanerState().examine(log, log.log_end_offset, NOW_MS)
    job, _ = make_job(
        chosen, log.log_end_offset, NOW_MS, map_bytes=1 << 30, io_buffer_bytes=512 * 1024
    )
    started = time.perf_counter()
    result = CompactionResult()
    for _ in compact(log.files, job, result):
        pass
    return result.end_offset, time.perf_counter() - started


def apaches(root: Path, segment_bytes: int) -> tuple[int, float]:
    from tests.harness.tools import java, kafka_classpath

    arguments = [str(root / str(PARTITION)), str(NOW_MS), "86400000", str(segment_bytes), "0"]
    command = [java(), "-Xmx1g", "-cp", kafka_classpath(), str(ORACLE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    end_offset, seconds, _ = done.stdout.split()
    return int(end_offset), float(seconds)


def enough(text: str) -> int:
    """Parse the size of a log in MiB, at least 5: it has four closed segments, none of which can be
    smaller than 1 MiB.
    """
    mebibytes = int(text)
    if mebibytes < 5:
        raise argparse.ArgumentTypeError("5 at least")
    return mebibytes


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each size and codec."""
    parser = parser_for("benchmarks.micro.bench_compaction", __doc__)
    parser.add_argument(
        "--mebibytes",
        type=enough,
        default=64,
        help="size of each log, at least 5 (default %(default)s)",
    )
    parser.add_argument(
        "--without-apache", action="store_true", help="measure pykbroker alone, without Java"
    )
    arguments = parser.parse_args(words)
    total = arguments.mebibytes << 20
    segment = min(total // 5, MOST_SEGMENT_BYTES)
    for name, value_bytes, codec in (
        ("100 B", 100, 0),
        ("1000 B", 1000, 0),
        ("100 B zstd", 100, 4),
    ):
        root = Path(tempfile.mkdtemp())
        try:
            size = fill(root / "ours", total, segment, value_bytes, codec)
            shutil.copytree(root / "ours", root / "apache")
            end_offset, seconds = ours(root / "ours", segment)
            line = f"compact {name:12} ours {size / seconds / 1e6:7.1f} MB/s"
            if not arguments.without_apache:
                end_offset_there, seconds = apaches(root / "apache", segment)
                assert end_offset == end_offset_there, "not the same work"
                line += f"   Apache {size / seconds / 1e6:7.1f} MB/s"
            print(line)
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()

"""Compaction beside Apache's cleaner, on the same files: bytes of input a second, one core each.

    python -m benchmarks.micro.bench_compaction [--mebibytes N] [--without-apache]

A log of 100-byte or 1000-byte values under 200,000 keys in batches of 16 KiB. Goal
(docs/architecture.md): at least half of what Apache's cleaner does. The Java side runs once, cold,
as it does in a broker that has just begun to clean.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from pykbroker.config import TopicConfig
from pykbroker.log.cleaner_state import CleanerState, make_job
from pykbroker.log.compaction import CompactionResult, compact
from pykbroker.log.partition_log import PartitionLog
from pykbroker.log.real_files import RealFiles
from pykbroker.log.recovery import open_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.types import TopicPartition

NOW_MS = int(time.time() * 1000)
PARTITION = TopicPartition("compacted", 0)
KEYS = 200_000
BATCH_BYTES = 16_384
SEGMENT_BYTES = 16 << 20
ORACLE = Path(__file__).parents[2] / "tests" / "interop" / "java" / "CleanerOracle.java"


def open_compacted(root: Path) -> PartitionLog:
    config = TopicConfig.default(cleanup_policy="compact", segment_bytes=str(SEGMENT_BYTES))
    return open_log(RealFiles(), str(root / str(PARTITION)), PARTITION, config, now_ms=NOW_MS)


def fill(root: Path, total_bytes: int, value_bytes: int, codec: int) -> int:
    """Write a dirty log; the bytes of its closed segments."""
    dice = random.Random(value_bytes)
    log = open_compacted(root)
    count = BATCH_BYTES // (value_bytes + 20)
    for _ in range(total_bytes // BATCH_BYTES):
        records = [
            (b"key-%08d" % dice.randrange(KEYS), _value(dice, value_bytes), NOW_MS, ())
            for _ in range(count)
        ]
        log.append_as_leader(build_batch(records, codec=codec), 0, NOW_MS)
        log.write_pending()
    size = log.size_bytes - log.active.size
    log.close()
    return size


def _value(dice: random.Random, size: int) -> bytes:
    return dice.randbytes(size // 2) + b"x" * (size - size // 2)


def ours(root: Path) -> float:
    log = open_compacted(root)
    chosen = CleanerState().examine(log, log.log_end_offset, NOW_MS)
    job, _ = make_job(
        chosen, log.log_end_offset, NOW_MS, map_bytes=1 << 30, io_buffer_bytes=512 * 1024
    )
    started = time.perf_counter()
    for _ in compact(log.files, job, CompactionResult()):
        pass
    return time.perf_counter() - started


def apaches(root: Path) -> float:
    from tests.harness.tools import java, kafka_classpath

    arguments = [str(root / str(PARTITION)), str(NOW_MS), "86400000", str(SEGMENT_BYTES), "0"]
    command = [java(), "-Xmx1g", "-cp", kafka_classpath(), str(ORACLE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=64)
    parser.add_argument("--without-apache", action="store_true")
    arguments = parser.parse_args()
    for name, value_bytes, codec in (
        ("100 B", 100, 0),
        ("1000 B", 1000, 0),
        ("100 B zstd", 100, 4),
    ):
        root = Path(tempfile.mkdtemp())
        try:
            size = fill(root / "ours", arguments.mebibytes << 20, value_bytes, codec)
            shutil.copytree(root / "ours", root / "apache")
            line = f"compact {name:12} ours {size / ours(root / 'ours') / 1e6:7.1f} MB/s"
            if not arguments.without_apache:
                line += f"   Apache {size / apaches(root / 'apache') / 1e6:7.1f} MB/s"
            print(line)
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()

"""The cost of the log: appends of one record, 64 KiB and 1 MiB; reads by offset; opening many logs.

    python -m benchmarks.micro.bench_log [--directory DIR] [--partitions N] [--rounds N]
                                         [--scale X]

Budgets: one record <= 8 us, 64 KiB <= 60 us, 1 MiB at >= 1 GB/s, the look-up of a fetch <= 40 us.
Figures are the median of several rounds (opening: of one); run it on an idle machine.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.command_line import add_effort, count, parser_for, times
from pykbroker.broker.process_settings import keep_freed_memory
from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.types import TopicPartition

NOW_MS = int(time.time() * 1000)
ROUNDS = 5


def client_batch(size_bytes: int, record_bytes: int) -> bytearray:
    count = max(size_bytes // (record_bytes + 10), 1)
    value = b"v" * record_bytes
    return build_batch([(None, value, NOW_MS, ()) for _ in range(count)])


def microseconds_each(run: Callable[[], None], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - started) / count * 1e6


def new_log(directory: str, name: str) -> PartitionLog:
    return open_log(
        RealFiles(),
        f"{directory}/{name}-0",
        TopicPartition(name, 0),
        TopicConfig.default(segment_bytes=str(1 << 30)),
        now_ms=NOW_MS,
    )


def bench_append(
    directory: str,
    name: str,
    batch: bytearray,
    turns: int,
    *,
    rounds: int,
    scale: float,
    per_turn: int = 1,
) -> None:
    log = new_log(directory, name)

    def turn() -> None:
        for _ in range(per_turn):
            batch[0:8] = bytes(8)  # written only now: what the batch was patched with last
            log.append_as_leader(memoryview(batch), 1, NOW_MS)
        log.write_pending()

    turn()
    turns = times(turns, scale)
    each = statistics.median(microseconds_each(turn, turns) for _ in range(rounds)) / per_turn
    rate = len(batch) / each
    print(f"append {name:22} {len(batch):8} B  {each:8.2f} us  {rate:8.1f} MB/s")
    log.close()


def bench_read(directory: str, rounds: int, scale: float) -> None:
    log = new_log(directory, "read")
    batch = client_batch(1, 100)
    for _ in range(times(20_000, scale)):
        log.append_as_leader(batch.copy(), 1, NOW_MS)
    log.write_pending()
    end = log.log_end_offset
    offset = 0

    def scattered() -> None:
        nonlocal offset
        offset = (offset + 7919) % end
        assert log.read(offset, 1 << 20, end).slice

    def tail() -> None:
        batch[0:8] = bytes(8)
        log.append_as_leader(memoryview(batch), 1, NOW_MS)
        before = log.log_end_offset
        log.write_pending()
        assert log.read(before, 1 << 20, log.log_end_offset).slice

    for name, run in (("scattered", scattered), ("append, then the tail", tail)):
        each = statistics.median(microseconds_each(run, times(5_000, scale)) for _ in range(rounds))
        print(f"read {name:24}             {each:8.2f} us")
    log.close()


def bench_open(directory: str, partitions: int) -> None:
    for number in range(partitions):
        log = new_log(directory, f"many{number}")
        log.append_as_leader(client_batch(1, 100), 1, NOW_MS)
        log.close()
    started = time.perf_counter()
    logs = [new_log(directory, f"many{number}") for number in range(partitions)]
    took = time.perf_counter() - started
    assert {log.log_end_offset for log in logs} == {1}
    print(f"open {partitions} clean partitions {took * 1000:24.1f} ms")
    for log in logs:
        log.release()


def main(words: Sequence[str] | None = None) -> None:
    """Print rows of appends, of reads, and of opening."""
    parser = parser_for("benchmarks.micro.bench_log", __doc__)
    parser.add_argument("--directory", help="directory of the logs (default: a temporary one)")
    parser.add_argument(
        "--partitions",
        type=count,
        default=2000,
        help="number of logs to open (default %(default)s)",
    )
    add_effort(parser, ROUNDS)
    arguments = parser.parse_args(words)
    rounds, scale = arguments.rounds, arguments.scale
    keep_freed_memory()  # as a node does: else every big batch costs page faults
    directory = tempfile.mkdtemp(dir=arguments.directory)
    try:
        append = partial(bench_append, directory, rounds=rounds, scale=scale)
        one = client_batch(1, 100)
        append("one-record", one, 5_000)
        append("one-record-gathered-50", one, 200, per_turn=50)
        append("64KiB-of-1KiB", client_batch(1 << 16, 1024), 500)
        append("64KiB-of-100B", client_batch(1 << 16, 100), 500)
        append("1MiB-of-1KiB", client_batch(1_040_000, 1024), 50)
        bench_read(directory, rounds, scale)
        bench_open(directory, arguments.partitions)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()

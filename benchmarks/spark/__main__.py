"""Spark jobs on segment files beside the same jobs by Spark's own Kafka connector.

    python -m benchmarks.spark [--quick] [--rounds N] [--scale X] [--cold] [--sizes BYTES ...]
                               [--tuned] [--jobs TEXT] [--batches N] [--json FILE]

Starts Apache Kafka 4.4 (its jars and Spark's connector come from Maven) and writes topics with
values of 100 B and 1 KiB. Each job then runs in one Spark session, local[2]: with Spark's own
connector, which reads from the broker, and with `pykbroker`, which reads the files that this broker
wrote. Prints seconds, rates, their ratio with its goal, and the fraction of the machine's
read + CRC + copy limit (on two cores) that is reached.

The best round of a job counts for both sides, after one warm-up round (none with --cold). `CPU` is
the ratio of core seconds, including the broker's; it holds on a busy machine as well. Absolute
figures vary; ratios are the result.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from benchmarks.command_line import amount, count, parser_for, times
from benchmarks.figures import write_figures
from benchmarks.spark.cpu import cpu_seconds
from benchmarks.spark.jobs import JOBS, Found, Job, Place
from benchmarks.spark.latency import BATCHES, micro_batch_ms, point_query_ms
from benchmarks.spark.limits import Limits, measure
from benchmarks.spark.topics import PARTITIONS, Topic, fill, segments, size
from pykbroker.spark import register, tuned_builder
from tests.harness.apache import SHIPPED_JVM, ApacheBroker
from tests.harness.tools import spark_kafka_jars

CORES = 2
RECORDS = {100: 8_000_000, 1024: 1_000_000}  # by size of their values
LEAST_RECORDS = 2000 * PARTITIONS  # so that each has the offsets that are looked for
MICRO_BATCH_GOAL_MS = 250
POINT_QUERY_GOAL_MS = 300


LATENCIES = (
    ("one record by offset", point_query_ms, POINT_QUERY_GOAL_MS),
    ("micro-batch of a stream", micro_batch_ms, MICRO_BATCH_GOAL_MS),
)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_for("benchmarks.spark", __doc__)
    parser.add_argument("--quick", action="store_true", help="use a fifth of the records")
    parser.add_argument(
        "--rounds", type=count, default=2, help="number of rounds of each job (default %(default)s)"
    )
    parser.add_argument(
        "--scale", type=amount, help="fraction of the records (default 1, quick 0.2)"
    )
    parser.add_argument("--cold", action="store_true", help="do not run a warm-up round")
    sizes = list(RECORDS)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        choices=sizes,
        default=sizes,
        help="sizes of values in bytes (default all)",
    )
    parser.add_argument(
        "--tuned", action="store_true", help="give the connector larger fetches and more tasks"
    )
    parser.add_argument(
        "--jobs",
        default="",
        metavar="TEXT",
        help="run only the jobs whose kind (the text before the colon) contains this text",
    )
    parser.add_argument(
        "--batches",
        type=count,
        default=BATCHES,
        help="number of micro-batches to measure (default %(default)s)",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args(words)
    names = [job.kind for job in JOBS] + [name for name, _, _ in LATENCIES]
    if not any(arguments.jobs in name for name in names):
        parser.error(
            f"no kind of job contains this text; jobs are: {'; '.join(dict.fromkeys(names))}"
        )
    arguments.scale = arguments.scale or (0.2 if arguments.quick else 1.0)
    return arguments


@contextmanager
def _session() -> Iterator[Any]:
    """Yield a session; an existing one of this process is used, and not stopped."""
    has_one = SparkSession.getActiveSession() is not None
    spark = (
        tuned_builder("pykbroker benchmark", f"local[{CORES}]")
        .config("spark.jars", spark_kafka_jars())
        .config("spark.driver.memory", "3g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", str(CORES))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield register(spark)
    finally:
        if not has_one:
            spark.stop()


@contextmanager
def _place() -> Iterator[tuple[Place, Path]]:
    config = {"log.flush.interval.messages": "9223372036854775807"}
    with (
        ApacheBroker(config=config, jvm=SHIPPED_JVM) as broker,
        _session() as spark,
        TemporaryDirectory(prefix="pykbroker-bench-") as cache,
    ):
        place = Place(spark, broker.bootstrap_servers, str(broker.data_dir), cache)
        yield place, broker.data_dir


class Cost(NamedTuple):
    """The cost of one run."""

    seconds: float
    core_seconds: float

    def best(self, other: Cost) -> Cost:
        return Cost(*map(min, self, other))


def _timed(work: Callable[[], Found]) -> tuple[Cost, Found]:
    used = cpu_seconds()
    start = time.perf_counter()
    result = work()
    return Cost(time.perf_counter() - start, cpu_seconds() - used), result


class Table:
    """Prints rows as they come, keeps them as figures."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def head(self, topic: Topic, limits: Limits, size_bytes: int) -> None:
        print(
            f"\n{topic.records:,} records of {topic.value_bytes} B, {size_bytes / 1e6:,.0f} MB; "
            f"one core reads {limits.read / 1e9:.1f}, checks {limits.crc / 1e9:.1f}, copies "
            f"{limits.copy / 1e9:.1f} GB/s: at most {limits.combined / 1e9:.1f} GB/s\n"
            f"{'':<42}{'connector':>9}{'pykbroker':>10}{'M rec/s':>9}{'MB/s':>7}{'limit':>7}"
            f"{'ratio':>8}{'CPU':>8}  goal",
            flush=True,
        )

    def job(
        self, job: Job, topic: Topic, *, size_bytes: int, limits: Limits, theirs: Cost, ours: Cost
    ) -> None:
        ratio = theirs.seconds / ours.seconds
        cpu_ratio = theirs.core_seconds / ours.core_seconds
        goal = job.goals.get(topic.value_bytes)
        verdict = "" if goal is None else f">= {goal:g} " + ("yes" if ratio >= goal else "NO")
        rate = size_bytes / ours.seconds
        part = rate / (limits.combined * CORES)
        print(
            f"{job.name:<42}{theirs.seconds:>7.2f} s{ours.seconds:>8.2f} s"
            f"{topic.records / ours.seconds / 1e6:>9.2f}{rate / 1e6:>7.0f}{part:>7.0%}"
            f"{ratio:>7.1f}x{cpu_ratio:>7.1f}x  {verdict}",
            flush=True,
        )
        self.rows.append(
            {
                "job": job.name,
                "value_bytes": topic.value_bytes,
                "records": topic.records,
                "size_bytes": size_bytes,
                "connector": theirs._asdict(),
                "pykbroker": ours._asdict(),
                "ratio": ratio,
                "cpu_ratio": cpu_ratio,
                "goal": goal,
                "part_of_limit": part,
            }
        )

    def latency(self, name: str, theirs: float, ours: float, goal: float) -> None:
        verdict = "yes" if ours <= goal else "NO"
        print(f"{name:<42}{theirs:>6.0f} ms{ours:>7.0f} ms{'':>39}  <= {goal:g} ms {verdict}")
        self.rows.append({"job": name, "connector_ms": theirs, "pykbroker_ms": ours, "goal": goal})


def _compare(
    place: Place,
    topic: Topic,
    jobs: list[Job],
    arguments: argparse.Namespace,
    print_row: Callable[..., None],
) -> None:
    """Alternate rounds of theirs and all of ours, after a warm-up unless it is to run cold; the
    best of each counts.
    """
    theirs = Cost(math.inf, math.inf)
    ours = [theirs] * len(jobs)
    for turn in range(1 if arguments.cold else 0, arguments.rounds + 1):
        taken, expected = _timed(partial(jobs[0].theirs, place, topic, arguments.tuned))
        theirs = theirs.best(taken) if turn else theirs
        for index, job in enumerate(jobs):
            taken, found = _timed(partial(job.ours, place, topic))
            ours[index] = ours[index].best(taken) if turn else ours[index]
            assert found[0] == topic.records, (job.name, found)
            assert found == expected[: len(found)], (job.name, found, expected)
    for job, best in zip(jobs, ours, strict=True):
        print_row(job, topic, theirs=theirs, ours=best)


def _run(place: Place, data_dir: Path, arguments: argparse.Namespace) -> Table:
    topics = [
        Topic(f"of-{each}", each, max(LEAST_RECORDS, times(RECORDS[each], arguments.scale)))
        for each in dict.fromkeys(arguments.sizes)
    ]
    table = Table()
    for topic in topics:
        fill(place.servers, topic)
        size_bytes = size(data_dir, topic)
        limits = measure(segments(data_dir, topic))
        table.head(topic, limits, size_bytes)
        row = partial(table.job, size_bytes=size_bytes, limits=limits)
        for name, jobs in groupby(JOBS, key=lambda job: job.kind):
            if arguments.jobs in name:
                _compare(place, topic, list(jobs), arguments, row)
    print()
    for name, ask, goal in LATENCIES:
        if arguments.jobs in name:
            theirs = ask(place, topics[0], "kafka", arguments.batches)
            ours = ask(place, topics[0], "pykbroker", arguments.batches)
            table.latency(name, theirs, ours, goal)
    return table


def main(words: Sequence[str] | None = None) -> int:
    """Run all and print the table."""
    arguments = _arguments(words)
    with _place() as (place, data_dir):
        table = _run(place, data_dir, arguments)
    if arguments.json:
        write_figures(arguments.json, table.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

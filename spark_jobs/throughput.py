"""Measure a running broker from Spark's executors: produce, consume, and scan its segments.

    produce   --tasks stock producers write --records of --size bytes; latency: from send to
              acknowledgement
    consume   as many stock consumers, at most one for each partition, read them from the start;
              latency: of one poll
    scan      with --path (the broker's log directories, readable by the workers):
              pykbroker.spark reads the same records from the files; latency: of one Arrow batch

Rates cover the time from when the first task of a phase begins its work to when the last one has
finished it; starting Spark's tasks is excluded. The job creates the topic, and deletes it at the
end unless --keep is given. A client that fails ends the job, because Spark would otherwise send its
records again.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline.layout import find_partitions, read_log_directory
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.spark import map_batches, map_items
from spark_jobs.parts import pictures
from spark_jobs.parts.brokers import BrokerRefusal, create_topics, delete_topics
from spark_jobs.parts.client_check import check_clients
from spark_jobs.parts.clients import SEND_ONCE, add_client_arguments
from spark_jobs.parts.job import Job
from spark_jobs.parts.latencies import Latencies, shares
from spark_jobs.parts.phases import DDL, Load, Reading, consume, produce, scan
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import name_value, positive
from spark_jobs.parts.results import Outcome, rows_table

SHARES: Final = {"p50": 50, "p95": 95, "p99": 99, "max": 100}
_RESULT: Final = pa.schema(
    [
        ("phase", pa.string()),
        ("tasks", pa.int32()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("seconds", pa.float64()),
        ("records_per_second", pa.float64()),
        ("mb_per_second", pa.float64()),
        ("latency_of", pa.string()),
        *((f"{name}_ms", pa.float64()) for name in SHARES),
        ("errors", pa.int64()),
    ]
)
_SAMPLES: Final = pa.schema(
    [("phase", pa.string()), ("latency_ms", pa.float64()), ("samples", pa.int64())]
)
_LATENCY_OF: Final = {
    "produce": "send to acknowledgement",
    "consume": "one call for more",
    "scan": "one Arrow batch",
}
_DIRECTORY_SECONDS: Final = 10.0


def arguments(parser: ArgumentParser) -> None:
    add_client_arguments(parser)
    parser.add_argument("--path", help="log directories of the broker; also scan its segments")
    parser.add_argument(
        "--topic", help="name of the new topic (default: pykbroker-throughput-<time>)"
    )
    parser.add_argument(
        "--topic-partitions", type=positive, default=4, help="partitions of the new topic"
    )
    parser.add_argument(
        "--records", type=positive, default=1_000_000, help="records of all producers together"
    )
    parser.add_argument("--size", type=positive, default=100, help="size of a value in bytes")
    parser.add_argument(
        "--tasks", type=positive, help="number of concurrent clients (default: one per core)"
    )
    parser.add_argument(
        "--codec", choices=CODEC_NAMES, default="none", help="compression codec of the producers"
    )
    parser.add_argument(
        "--consumer",
        action="append",
        default=[],
        type=name_value,
        metavar="NAME=VALUE",
        help="consumer setting; may be repeated",
    )
    parser.add_argument("--keep", action="store_true", help="do not delete the topic")


def check(arguments: Namespace) -> None:
    if arguments.path:
        for path in arguments.path.split(","):
            read_log_directory(path.strip())
    producer, consumer = _producer_settings(arguments), dict(arguments.consumer)
    check_clients(arguments.bootstrap_servers, arguments.client, producer, consumer)


def run(spark: Any, arguments: Namespace) -> Outcome:
    bootstrap = arguments.bootstrap_servers
    topic = arguments.topic or f"pykbroker-throughput-{int(time.time() * 1000)}"
    create_topics(bootstrap, {topic: arguments.topic_partitions}, dict(arguments.topic_config))
    try:
        phases = _phases(spark, arguments, topic)
    except BaseException:
        if not arguments.keep:
            with suppress(OSError):  # what went wrong is to be told, not that this does too
                delete_topics(bootstrap, [topic])
        raise
    if not arguments.keep:
        delete_topics(bootstrap, [topic])
    return _outcome(phases, topic)


def _wait_for_directory(paths: str, topic: str) -> None:
    """BrokerRefusal if no partition of the new topic is in these log directories: before the work,
    which would be lost."""
    named = tuple(path.strip() for path in paths.split(","))
    until = time.monotonic() + _DIRECTORY_SECONDS
    while not any(each.topic == topic for each in find_partitions(named)):
        if time.monotonic() > until:
            raise BrokerRefusal(
                f"the created topic is not in {paths}: do they belong to another broker?"
            )
        time.sleep(0.1)


def _phases(spark: Any, arguments: Namespace, topic: str) -> dict[str, list[dict[str, Any]]]:
    """What the workers measured, phase by phase."""
    phases: dict[str, list[dict[str, Any]]] = {}
    count = arguments.tasks or spark.sparkContext.defaultParallelism
    if arguments.path:
        _wait_for_directory(arguments.path, topic)
    step(f"producing {arguments.records:,} records of {arguments.size} bytes")
    loads = _loads(arguments, topic, count)
    phases["produce"] = _collect(map_items(spark, loads, produce, DDL))
    step("consuming them")
    readings = _readings(arguments, topic, count)
    phases["consume"] = _collect(map_items(spark, readings, consume, DDL))
    if arguments.path:
        step("scanning the segments")
        options = {"path": arguments.path, "subscribe": topic, "columns": "key,value"}
        phases["scan"] = _collect(map_batches(spark, options, scan, DDL))
    return phases


def _collect(found: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.toArrow().to_pylist()
    return rows


def _producer_settings(arguments: Namespace) -> dict[str, str]:
    return {"compression.type": arguments.codec} | dict(arguments.producer)


def _loads(arguments: Namespace, topic: str, count: int) -> list[Load]:
    each, more = divmod(arguments.records, count)
    return [
        Load(
            number,
            each + (number < more),
            arguments.size,
            topic,
            arguments.bootstrap_servers,
            _producer_settings(arguments),
            arguments.client,
        )
        for number in range(count)
    ]


def _readings(arguments: Namespace, topic: str, count: int) -> list[Reading]:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=arguments.bootstrap_servers)
    try:
        partitions = [TopicPartition(topic, at) for at in range(arguments.topic_partitions)]
        starts, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    finally:
        consumer.close()
    settings = dict(arguments.consumer)
    hands: list[dict[int, tuple[int, int]]] = [{} for _ in range(min(count, len(partitions)))]
    for at, partition in enumerate(partitions):
        hands[at % len(hands)][at] = (starts[partition], ends[partition])
    client = arguments.client
    return [Reading(mine, topic, arguments.bootstrap_servers, settings, client) for mine in hands]


def _outcome(phases: dict[str, list[dict[str, Any]]], topic: str) -> Outcome:
    rows = []
    summary: dict[str, Any] = {"topic": topic}
    samples: list[dict[str, Any]] = []
    notes: list[str] = []
    for phase, found in phases.items():
        mine = [row for row in found if row["records"] or row["errors"]]
        seconds = max((row["ended"] for row in mine), default=0.0)
        seconds -= min((row["began"] for row in mine), default=0.0)
        made: dict[str, Any] = {"phase": phase, "tasks": len(mine), "seconds": seconds}
        made |= {name: sum(row[name] for row in mine) for name in ("records", "bytes", "errors")}
        made["records_per_second"] = made["records"] / max(seconds, 1e-9)
        made["mb_per_second"] = made["bytes"] / max(seconds, 1e-9) / 1e6
        made["latency_of"] = _LATENCY_OF[phase]
        taken = Latencies(row["latencies"] for row in mine)
        if taken.pairs:
            points = taken.percentiles(list(SHARES.values()))
            made |= {f"{name}_ms": at for name, at in zip(SHARES, points, strict=True)}
        rows.append(made)
        samples += [
            {"phase": phase, "latency_ms": ms, "samples": count} for ms, count in taken.pairs
        ]
        summary[f"{phase}_records_per_second"] = made["records_per_second"]
        errors = [row["first_error"] for row in mine if row["first_error"]]
        notes += [f"first error of {phase}: {each}" for each in errors[:1]]
        summary[f"{phase}_errors"] = made["errors"]
    failed = any(row["errors"] for row in rows)
    tables = {"throughput": rows_table(rows, _RESULT), "latencies": rows_table(samples, _SAMPLES)}
    return Outcome(tables, summary, exit_code=1 if failed else 0, notes=notes)


def draw(outcome: Outcome) -> Any:
    rows = outcome.tables["throughput"].to_pylist()
    made, (left, right) = pictures.figure("Throughput", panels=2)
    names = [f"{row['phase']}\n{row['mb_per_second']:,.0f} MB/s" for row in rows]
    pictures.bars(left, names, [row["records_per_second"] for row in rows])
    pictures.label(left, "records a second", "")
    latencies = outcome.tables["latencies"]
    for at, row in enumerate(rows):
        mine = latencies.filter(pc.field("phase") == row["phase"])
        if mine.num_rows:
            style = {"color": pictures.COLOURS[at], "drawstyle": "steps-post"}
            reached = shares(mine["samples"])
            right.plot(mine["latency_ms"], reached, label=row["latency_of"], **style)
    if latencies.num_rows:
        pictures.duration_scale(right, latencies["latency_ms"].to_pylist())
        pictures.scale(right.yaxis, pictures.percent)
    pictures.label(right, "it takes (logarithmic)", "are faster")
    pictures.legend(right)
    return made


JOB: Final = Job(
    __file__,
    __doc__,
    run,
    arguments=arguments,
    draw=draw,
    check_more=check,
    reads_logs=False,
    conf=SEND_ONCE,
)

if __name__ == "__main__":
    JOB.main()

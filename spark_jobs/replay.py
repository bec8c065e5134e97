"""Replay records of log directories into a broker, with stock producers in the executors.

--pace original keeps the distances in time between the records' timestamps, --pace 60 replays sixty
times as fast, and --pace max as fast as possible. Keys, values, headers, partitions, timestamps and
the order within a partition are preserved. (--timestamps now sets new timestamps; confluent-kafka
sends a time of 0 as 1, and keeps the order over its retries only with --producer
enable.idempotence=true.) kafka-python cannot send a header without a value, or a record with
neither key nor value: such records are rejected and counted as errors. The clock starts at the
earliest of the partitions' first records that have a time; a record that is older, or has no time,
is sent as soon as its turn comes. Records of aborted transactions are left out unless --isolation
read_uncommitted is given.

`records` and `bytes` are those that the broker acknowledged; the exit code is 1 if there were
errors. A producer that fails ends the job, because Spark would otherwise send its records again.

--to names the topics to write; {topic} stands for the original name. Missing ones are created with
the settings of --topic-config, and with as many partitions as the records need: empty partitions
behind the last one with records are not created. The partitions are shared among --tasks producers.
Each sends its partitions one after the other with --pace max, else merged by time.
"""

from __future__ import annotations

import heapq
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import map_items, plan_tasks
from spark_jobs.parts import latencies, pictures
from spark_jobs.parts.brokers import BrokerRefusal, create_topics, partition_counts
from spark_jobs.parts.client_check import check_clients
from spark_jobs.parts.clients import (
    SAMPLE_EVERY,
    SEND_ONCE,
    Outgoing,
    Sender,
    add_client_arguments,
    sender,
)
from spark_jobs.parts.exact_batches import exact_batches
from spark_jobs.parts.job import Job
from spark_jobs.parts.lanes import Lane, Wanted, first_time, lanes_of, rows_of, shared
from spark_jobs.parts.latencies import Latencies, shares
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import positive, source_options, without_conditions
from spark_jobs.parts.results import Outcome, rows_table

COLUMNS: Final = ("key", "value", "timestamp_ms", "headers")
_STARTS_AFTER_SECONDS: Final = 3.0
_SCHEMA: Final = pa.schema(
    [
        ("task", pa.int32()),
        ("partitions", pa.int32()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("errors", pa.int64()),
        ("first_error", pa.string()),
        ("began", pa.float64()),
        ("ended", pa.float64()),
        ("latencies", latencies.TYPE),
        ("late", latencies.TYPE),
    ]
)
_DDL: Final = (
    "task int, partitions int, records bigint, bytes bigint, errors bigint, first_error string, "
    f"began double, ended double, latencies {latencies.DDL}, late {latencies.DDL}"
)
_RESULT: Final = pa.schema(
    [
        *(field for field in _SCHEMA if field.type != latencies.TYPE),
        ("records_per_second", pa.float64()),
        *((f"ack_{name}_ms", pa.float64()) for name in ("p50", "p99", "max")),
        *((f"late_{name}_ms", pa.float64()) for name in ("p50", "p99", "max")),
    ]
)
_SAMPLES: Final = pa.schema([("ack_ms", pa.float64()), ("samples", pa.int64())])


class Order(NamedTuple):
    """What one producer has to do."""

    task: int
    lanes: tuple[Lane, ...]
    wanted: Wanted
    bootstrap: str
    settings: dict[str, str]
    client: str
    name: str
    keeps_timestamps: bool
    #: None: as fast as it goes. Else seconds of this clock for a second of the records'.
    factor: float | None
    first_ms: int
    begins: float


def arguments(parser: ArgumentParser) -> None:
    add_client_arguments(parser)
    parser.add_argument(
        "--pace",
        type=pace,
        default="max",
        help="original, N (times as fast as the original), or max (as fast as possible)",
    )
    parser.add_argument(
        "--to",
        type=target_name,
        default="{topic}",
        help="name of the topic to write; {topic} stands for the original name",
    )
    parser.add_argument(
        "--timestamps",
        choices=("keep", "now"),
        default="keep",
        help="keep the records' timestamps, or set new ones",
    )
    parser.add_argument(
        "--tasks", type=positive, help="number of producers (default: one per core)"
    )
    parser.set_defaults(isolation="read_committed")


def target_name(text: str) -> str:
    """A name with `{topic}` in it, or none."""
    try:
        text.format(topic="t")
    except (LookupError, ValueError, AttributeError, TypeError):
        raise ArgumentTypeError(f"{text!r}: only {{topic}} can stand in braces") from None
    return text


def pace(text: str) -> float | None:
    """Times as fast as the original; None for as fast as it goes."""
    if text == "max":
        return None
    try:
        found = 1.0 if text == "original" else float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ArgumentTypeError(f"{text!r} is neither original, nor max, nor a number above 0")
    return found


def check(arguments: Namespace) -> None:
    check_clients(arguments.bootstrap_servers, arguments.client, dict(arguments.producer))


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("planning")
    tasks = plan_tasks(source_options(arguments, COLUMNS))
    lanes = lanes_of(tasks)
    if not lanes:
        return Outcome({"producers": rows_table([], _RESULT)}, {"records": 0, "errors": 0})
    _prepare_topics(arguments, lanes)
    wanted = Wanted(tasks[0].read_options, tasks[0].filters)
    count = min(len(lanes), arguments.tasks or spark.sparkContext.defaultParallelism)
    factor = None if arguments.pace is None else 1 / arguments.pace
    first_ms = 0 if factor is None else first_time(lanes, wanted)
    takes = ""
    if factor is not None:
        seconds = max(0, _last_time(spark, arguments) - first_ms) / 1000 * factor
        most = "at most " if wanted.filters else ""
        takes = f", {most}{seconds:,.0f} s at this pace"
    begins = time.time() + _STARTS_AFTER_SECONDS  # nothing that takes time comes in between
    orders = [
        Order(
            task=number,
            lanes=mine,
            wanted=wanted,
            bootstrap=arguments.bootstrap_servers,
            settings=dict(arguments.producer),
            client=arguments.client,
            name=arguments.to,
            keeps_timestamps=arguments.timestamps == "keep",
            factor=factor,
            first_ms=first_ms,
            begins=begins,
        )
        for number, mine in enumerate(shared(lanes, count))
    ]
    step(f"sending {len(lanes)} partitions by {len(orders)} producers{takes}")
    return _outcome(map_items(spark, orders, _replay, _DDL).toArrow().to_pylist())


def _prepare_topics(arguments: Namespace, lanes: list[Lane]) -> None:
    wanted: dict[str, int] = {}
    for lane in lanes:
        name = arguments.to.format(topic=lane.topic)
        wanted[name] = max(wanted.get(name, 0), lane.partition + 1)
    there = partition_counts(arguments.bootstrap_servers)
    for name, count in wanted.items():
        if name in there and there[name] < count:
            raise BrokerRefusal(f"topic {name} has {there[name]} partitions, {count} are needed")
    if arguments.topic_config and there.keys() & wanted:
        names = ", ".join(sorted(there.keys() & wanted))
        print(f"replay: --topic-config is not for topics that exist: {names}", file=sys.stderr)
    missing = {name: count for name, count in wanted.items() if name not in there}
    if missing:
        configs = dict(arguments.topic_config)
        create_topics(arguments.bootstrap_servers, missing, configs)


def _last_time(spark: Any, arguments: Namespace) -> int:
    """By headers, which know nothing of `--option where=...`."""
    own = exact_batches(spark, without_conditions(arguments)).where(~f.col("is_control"))
    return own.agg(f.max("max_timestamp_ms")).first()[0] or 0


def _replay(order: Order) -> Iterator[Any]:
    """In an executor: one producer and its partitions."""
    client = sender(order.bootstrap, order.settings, order.client)
    late = Latencies()
    began = time.time()
    if order.factor is not None:
        began = min(began, order.begins)  # who comes late is late, not fast
    for record in _in_order(order):
        if order.factor is not None:
            assert record.timestamp_ms is not None
            due = order.begins + (record.timestamp_ms - order.first_ms) / 1000 * order.factor
            _wait_until(client, due)
            if client.sent % SAMPLE_EVERY == 0 and record.timestamp_ms >= order.first_ms:
                late.add(max(0.0, time.time() - due) * 1000)
        client.send(record if order.keeps_timestamps else record._replace(timestamp_ms=None))
    client.flush()
    row = {
        "task": order.task,
        "partitions": len(order.lanes),
        "records": client.acknowledged,
        "bytes": client.acknowledged_bytes,
        "errors": client.errors,
        "first_error": client.first_error,
        "began": began,
        "ended": time.time(),
        "latencies": client.latencies.pairs,
        "late": late.pairs,
    }
    yield pa.RecordBatch.from_pylist([row], schema=_SCHEMA)


def _wait_until(client: Sender, due: float) -> None:
    while (left := due - time.time()) > 0:
        client.wait(min(left, 0.5))


def _in_order(order: Order) -> Iterator[Outgoing]:
    """The records of all partitions: one after the other, or merged by time if there is a pace."""
    streams = [_records(lane, order) for lane in order.lanes]
    if order.factor is None:
        for stream in streams:
            yield from stream
    else:
        yield from heapq.merge(*streams, key=lambda record: record.timestamp_ms or 0)


def _records(lane: Lane, order: Order) -> Iterator[Outgoing]:
    name = order.name.format(topic=lane.topic)
    for batch in rows_of(lane, order.wanted):
        columns = [batch.column(each).to_pylist() for each in COLUMNS]
        for key, value, timestamp_ms, headers in zip(*columns, strict=True):
            pairs = [(each["key"], each["value"]) for each in headers] if headers else None
            yield Outgoing(name, lane.partition, key, value, timestamp_ms, pairs)


def _outcome(rows: list[dict[str, Any]]) -> Outcome:
    acknowledged = Latencies(row["latencies"] for row in rows)
    late = Latencies(row["late"] for row in rows)
    seconds = max(row["ended"] for row in rows) - min(row["began"] for row in rows)
    records = sum(row["records"] for row in rows)
    summary: dict[str, Any] = {
        "records": records,
        "bytes": sum(row["bytes"] for row in rows),
        "errors": sum(row["errors"] for row in rows),
        "seconds": seconds,
        "records_per_second": records / max(seconds, 1e-9),
    }
    summary |= _percentiles("ack", acknowledged) | _percentiles("late", late)
    errors = [row["first_error"] for row in rows if row["first_error"]]
    notes = [f"first error: {each}" for each in errors[:1]]
    for row in rows:
        row["records_per_second"] = row["records"] / max(row["ended"] - row["began"], 1e-9)
        row |= _percentiles("ack", Latencies([row.pop("latencies")]))
        row |= _percentiles("late", Latencies([row.pop("late")]))
    samples = [{"ack_ms": ms, "samples": count} for ms, count in acknowledged.pairs]
    tables = {
        "producers": rows_table(rows, _RESULT),
        "acknowledgements": rows_table(samples, _SAMPLES),
    }
    return Outcome(tables, summary, exit_code=1 if summary["errors"] else 0, notes=notes)


def _percentiles(name: str, values: Latencies) -> dict[str, float | None]:
    names = [f"{name}_p50_ms", f"{name}_p99_ms", f"{name}_max_ms"]
    if not values.pairs:
        return dict.fromkeys(names)
    return dict(zip(names, values.percentiles((50, 99, 100)), strict=True))


def draw(outcome: Outcome) -> Any:
    rows = outcome.tables["producers"].to_pylist()
    if not rows:
        return None
    rate = outcome.summary["records_per_second"]
    title = f"Replayed: {rate:,.0f} records/s"
    if outcome.summary["errors"]:
        verb = "was" if outcome.summary["errors"] == 1 else "were"
        title += f"; {outcome.summary['errors']:,} {verb} refused"
    made, (left, right) = pictures.figure(title, panels=2)
    names = [f"producer {row['task']}" for row in rows]
    pictures.bars(left, names, [row["records_per_second"] for row in rows])
    pictures.label(left, "records a second", "")
    samples = outcome.tables["acknowledgements"]
    if samples.num_rows:
        reached = shares(samples["samples"])
        right.plot(samples["ack_ms"], reached, color=pictures.COLOURS[1], drawstyle="steps-post")
        pictures.duration_scale(right, samples["ack_ms"].to_pylist())
        pictures.scale(right.yaxis, pictures.percent)
    pictures.label(right, "from send to acknowledgement", "of the records are faster")
    return made


JOB: Final = Job(
    __file__,
    __doc__,
    run,
    arguments=arguments,
    draw=draw,
    check_more=check,
    counts_left_out=False,
    conf=SEND_ONCE,
)

if __name__ == "__main__":
    JOB.main()

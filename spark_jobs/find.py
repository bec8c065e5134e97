"""Find records by key, by offset, by time (--since, --until) or by any Spark SQL expression.

    find.py --path logs --topics flights --key N14228
    find.py --path logs --topics flights --where "get_json_object(text, '$.carrier') = 'UA'"

--where can use the columns key, value, topic, partition, offset and timestamp, and key_text and
text: key and value as UTF-8. The other conditions are evaluated before records reach Spark: by
directories, indexes and batches where they allow it, else record by record. --since and --until
test the timestamp of each record, wherever the record is stored; most other jobs read from, and up
to, the first record of a time. --key 0x1f8b specifies a key as bytes.

The result holds at most --limit of the matching records: those that Spark finds first. If there are
more, a line on standard error says so. A time that no calendar has (microseconds in a field for
milliseconds) is only in `timestamp_ms`; `timestamp` is then null.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import KAFKA_COLUMNS, OfflineError
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import positive, records
from spark_jobs.parts.results import Outcome
from spark_jobs.parts.wording import counted

#: More partitions than these have no line of their own in the picture.
_LINES: Final = 20


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--key", type=as_bytes, help="key to find: text, or 0x and hexadecimal digits"
    )
    parser.add_argument("--where", help="Spark SQL condition")
    parser.add_argument("--offset", type=int, help="first offset (default: the start of the log)")
    parser.add_argument(
        "--end-offset",
        type=int,
        help="end offset, exclusive (default: --offset + 1, else the end of the log)",
    )
    parser.add_argument("--partition", type=int, help="partition number (default: all)")
    parser.add_argument("--headers", action="store_true", help="include record headers")
    parser.add_argument(
        "--limit",
        type=positive,
        default=1000,
        help="maximum number of records, any of those that match",
    )


def as_bytes(text: str) -> bytes:
    """Convert `0x1f8b` to bytes, anything else to its UTF-8."""
    if not text.startswith("0x"):
        return text.encode()
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not hexadecimal") from None


def run(spark: Any, arguments: Namespace) -> Outcome:
    columns = (*KAFKA_COLUMNS, "headers") if arguments.headers else KAFKA_COLUMNS
    # The time is made of its ms here, as not every one of them is a time.
    raw = [*(name for name in columns if name != "timestamp"), "timestamp_ms"]
    conditions = " and ".join(_conditions(arguments)) or None
    # As options, times are offsets, and behind the last of them late records may follow.
    everything = Namespace(**vars(arguments) | {"until": None})
    found = records(spark, everything, raw, where=conditions)
    at = f.col("timestamp_ms")
    is_time = (at >= pictures.FIRST_MS) & (at < pictures.LAST_MS)
    found = found.withColumn("timestamp", f.when(is_time, f.timestamp_millis(at)))
    found = found.select(*columns, "timestamp_ms")
    if arguments.where is not None:
        texts = {"key_text": f.col("key").cast("string"), "text": f.col("value").cast("string")}
        try:
            found = found.withColumns(texts).where(arguments.where).drop(*texts)
        except (AnalysisException, ParseException) as fault:
            why = str(fault).strip().splitlines()[0]
            raise OfflineError(f"--where {arguments.where}: {why}") from None
    step("searching")
    table = found.limit(arguments.limit + 1).toArrow()  # any: Spark says not which
    is_limited = table.num_rows > arguments.limit
    table = table.slice(0, arguments.limit)
    table = table.sort_by([(name, "ascending") for name in ("topic", "partition", "offset")])
    if is_limited:
        told = f"find: {table.num_rows} of the matching records, whichever were found first"
        print(f"{told}; there are more (--limit)", file=sys.stderr)
    summary = {"found_records": table.num_rows, "is_limited": is_limited}
    return Outcome({"records": table}, summary)


def _conditions(arguments: Namespace) -> list[str]:
    """Return the conditions that the source evaluates itself: its option `where`."""
    end = arguments.end_offset
    if end is None and arguments.offset is not None:
        end = arguments.offset + 1
    conditions = {
        "key = X'{}'": arguments.key.hex() if arguments.key is not None else None,
        "partition = {}": arguments.partition,
        "offset >= {}": arguments.offset,
        "offset < {}": end,
        "timestamp >= '{}'": _time(arguments.since),
        "timestamp < '{}'": _time(arguments.until),
    }
    return [text.format(value) for text, value in conditions.items() if value is not None]


def _time(value_ms: int | None) -> str | None:
    if value_ms is None:
        return None
    return datetime.fromtimestamp(value_ms / 1000, UTC).isoformat(timespec="milliseconds")


def draw(outcome: Outcome) -> Any:
    """Draw a line for each partition, with a mark at the time of each record."""
    table = outcome.tables["records"]
    if not table.num_rows:
        return None
    found: dict[tuple[str, int], list[int]] = {}
    left_out = 0
    for row in table.select(["topic", "partition", "timestamp_ms"]).to_pylist():
        if pictures.has_date(row["timestamp_ms"]):
            found.setdefault((row["topic"], row["partition"]), []).append(row["timestamp_ms"])
        else:
            left_out += 1
    places = sorted(found)
    shown = places[:_LINES]
    title = f"{counted(table.num_rows, 'record')} found, by time"
    if outcome.summary["is_limited"]:
        title = f"{table.num_rows:,} of the matching records (--limit; there are more)"
    if len(shown) < len(places):
        title += f" (the first {len(shown)} of {len(places)} partitions)"
    made, axes = pictures.figure(title)
    for at, place in enumerate(shown):
        times = pictures.times(found[place])
        axes.plot(times, [at] * len(times), "|", color=pictures.COLOURS[0], markersize=12)
    names = [f"{topic}-{number} ({len(found[topic, number])})" for topic, number in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    pictures.time_axis(axes, [time for place in shown for time in found[place]])
    below = "time of the record (UTC)"
    if left_out:
        below += f"; not drawn: {left_out} with times that no calendar has"
    pictures.label(axes, below, "partition (records)")
    return made


#: Its own conditions become the source's `where`: use --where.
JOB: Final = Job(
    __file__,
    __doc__,
    run,
    arguments=arguments,
    draw=draw,
    without=("where",),
    times_are_of_records=True,
)

if __name__ == "__main__":
    JOB.main()

"""Find records: by key, by offset, by time (--since, --until), by any expression of Spark SQL.

    find.py --path logs --topics flights --key N14228
    find.py --path logs --topics flights --where "get_json_object(text, '$.carrier') = 'UA'"

--where sees the columns key, value, topic, partition, offset, timestamp, and key_text and text:
key and value as UTF-8. Key, offsets, topic and time are pushed down: to directories, indexes and
batches. --key 0x1f8b is bytes. The records found are the result, at most --limit of them.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import KAFKA_COLUMNS
from spark_jobs import pictures
from spark_jobs.job import Job
from spark_jobs.progress import step
from spark_jobs.reading import records
from spark_jobs.results import Outcome

_BARS: Final = 60


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--key", type=as_bytes, help="text, or 0x and hexadecimal digits")
    parser.add_argument("--where", help="a condition of Spark SQL")
    parser.add_argument("--offset", type=int, help="of the first record")
    parser.add_argument("--end-offset", type=int, help="behind the last (default: --offset + 1)")
    parser.add_argument("--partition", type=int)
    parser.add_argument("--headers", action="store_true", help="headers too")
    parser.add_argument("--limit", type=int, default=1000)


def as_bytes(text: str) -> bytes:
    """`0x1f8b` as bytes, anything else as its UTF-8."""
    if not text.startswith("0x"):
        return text.encode()
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not hexadecimal") from None


def run(spark: Any, arguments: Namespace) -> Outcome:
    columns = (*KAFKA_COLUMNS, "headers") if arguments.headers else KAFKA_COLUMNS
    conditions = " and ".join(_conditions(arguments)) or None
    # As options, times are offsets, and behind the last of them late records may follow.
    everything = Namespace(**vars(arguments) | {"until": None})
    found = records(spark, everything, columns, where=conditions)
    if arguments.where is not None:
        texts = {"key_text": f.col("key").cast("string"), "text": f.col("value").cast("string")}
        found = found.withColumns(texts).where(arguments.where).drop(*texts)
    step("searching")
    table = found.limit(arguments.limit).toArrow()
    table = table.sort_by([(name, "ascending") for name in ("topic", "partition", "offset")])
    summary = {"found": table.num_rows, "is_limited": table.num_rows == arguments.limit}
    return Outcome({"records": table}, summary)


def _conditions(arguments: Namespace) -> list[str]:
    """What the source understands itself: its option `where`."""
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
    table = outcome.tables["records"]
    if not table.num_rows:
        return None
    made, axes = pictures.figure(f"{table.num_rows} records found")
    found: dict[str, list[datetime]] = {}
    for row in table.select(["topic", "timestamp"]).to_pylist():
        if row["timestamp"] is not None:
            found.setdefault(row["topic"], []).append(row["timestamp"])
    names = list(found)[: pictures.MAX_SERIES]
    axes.hist([found[name] for name in names], bins=_BARS, stacked=True, label=names)
    pictures.label(axes, "", "records")
    pictures.legend(axes)
    return made


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw)

if __name__ == "__main__":
    JOB.main()

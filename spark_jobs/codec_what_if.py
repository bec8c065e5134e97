"""Estimate what other codecs and levels would save: samples are encoded again.

Batches are sampled from all segments of a topic and decompressed. The sample of a split (at most a
segment) ends at --most bytes; --every N takes one batch in N up to that limit. Each codec and level
of --codecs (such as gzip:1,lz4:9,zstd:3) then encodes the samples.

--batch-bytes joins neighbouring batches to the given sizes first, to show what larger batches
(linger.ms, batch.size) would save; the samples are then runs of neighbouring batches. A size that
the stored batches all reach has no rows of its own: they are those of size 0, batches as they are.
The row `stored` is what the samples take now, whatever their codecs.

`stored_bytes` are bytes on disk: for each batch its header (61 bytes) and its compressed records.
`raw_bytes` are what the stored batches would take without compression, headers included; the value
is the same in every row of a topic. `ratio` is raw_bytes / stored_bytes: it is 1 for uncompressed
batches, and includes what larger batches save by having fewer headers. Speeds are for one core and
for the records before compression. `mean_batch_bytes` is the mean size of the joined batches before
compression.
"""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import ReadOptions, Split
from pykbroker.protocol.compression import CODEC_IDS, CODEC_NAMES, LEVELS, compress, decompress
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD
from pykbroker.spark import map_splits
from spark_jobs.parts.codec_picture import draw_codecs
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.raw_batches import RawBatch, sample_runs
from spark_jobs.parts.reading import positive, source_options
from spark_jobs.parts.results import Outcome

DEFAULT: Final = "none,gzip:1,gzip:6,snappy,lz4,lz4:1,zstd:1,zstd:3,zstd:9"
_AS_IS: Final = 0
#: In place of a codec: what is there now.
STORED: Final = "stored"
NO_CODEC: Final = CODEC_NAMES[0]
_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("codec", pa.string()),
        ("level", pa.int32()),
        ("batch_bytes", pa.int64()),
        ("batches", pa.int64()),
        ("records_bytes", pa.int64()),  # without headers, before compression
        ("raw_bytes", pa.int64()),
        ("stored_bytes", pa.int64()),
        ("encode_seconds", pa.float64()),
        ("decode_seconds", pa.float64()),
    ]
)
_DDL: Final = (
    "topic string, codec string, level int, batch_bytes bigint, batches bigint, "
    "records_bytes bigint, raw_bytes bigint, stored_bytes bigint, encode_seconds double, "
    "decode_seconds double"
)
_KEYS: Final = ["topic", "codec", "level", "batch_bytes"]


class Candidate(NamedTuple):
    """A codec and its level; None: the codec's default, or it has none."""

    codec: int
    level: int | None


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--codecs",
        type=candidates,
        default=DEFAULT,
        help="codecs, comma separated; a level follows a colon",
    )
    parser.add_argument(
        "--every",
        type=positive,
        help="sample one batch in N, or one run in N with --batch-bytes (default: spread the "
        "samples over each split, up to --most)",
    )
    parser.add_argument(
        "--most",
        type=positive,
        default=8 << 20,
        help="maximum bytes sampled from a split (default: 8 MiB)",
    )
    parser.add_argument(
        "--batch-bytes",
        type=sizes,
        default=str(_AS_IS),
        help="batch sizes in bytes before compression, comma separated; 0: batches as they are",
    )


def sizes(text: str) -> list[int]:
    """Parse `0,1000000` as numbers."""
    if not all(each.isdecimal() for each in text.split(",")):
        raise ArgumentTypeError(f"{text!r} are not sizes in bytes")
    return list(dict.fromkeys(map(int, text.split(","))))


def candidates(text: str) -> list[Candidate]:
    """Parse `gzip:1,zstd` as codecs and levels."""
    found = []
    for each in text.split(","):
        name, colon, level = each.strip().partition(":")
        if name not in CODEC_IDS or (colon and not re.fullmatch(r"-?\d+", level)):
            raise ArgumentTypeError(f"{each!r} is not one of {', '.join(CODEC_NAMES)} (:level)")
        codec = CODEC_IDS[name]
        number = int(level) if colon else None
        if number is not None:
            low, high = LEVELS.get(codec, (0, -1, 0))[:2]
            if not low <= number <= high:
                raise ArgumentTypeError(f"{name} has no level {number}")
        found.append(Candidate(codec, number))
    return list(dict.fromkeys(found))


def run(spark: Any, arguments: Namespace) -> Outcome:
    chosen, wanted = list(arguments.codecs), list(arguments.batch_bytes)
    given, most = arguments.every, arguments.most

    def encode(split: Split, options: ReadOptions) -> Iterator[Any]:
        every = given or -(-split.size_bytes // most)  # spread over the split, to its end
        runs = list(sample_runs(split, every, most, options, max(1, *wanted)))
        samples = [batch for run in runs for batch in run]
        records = _records_of(samples)
        rows = [_as_stored(samples)]
        for size in wanted:
            batches = [each for run in runs for each in joined(_records_of(run), size)]
            for candidate in chosen:
                rows.append({"batch_bytes": size} | _measure(batches, candidate))
        of_all = {"topic": split.topic, "records_bytes": sum(map(len, records))}
        of_all["raw_bytes"] = _with_headers(records)
        rows = [of_all | row for row in rows]
        yield pa.RecordBatch.from_pylist(rows if records else [], schema=_SCHEMA)

    step("encoding samples")
    found = map_splits(spark, source_options(arguments), encode, _DDL)
    sums = [f.sum(name).alias(name) for name in _SCHEMA.names if name not in _KEYS]
    table = (
        found.groupBy(*_KEYS)
        .agg(*sums)
        .withColumn("ratio", f.try_divide("raw_bytes", "stored_bytes"))
        .withColumn("encode_mb_per_second", f.try_divide("records_bytes", "encode_seconds") / 1e6)
        .withColumn("decode_mb_per_second", f.try_divide("records_bytes", "decode_seconds") / 1e6)
        .withColumn(
            "mean_batch_bytes", f.try_divide("records_bytes", "batches") + RECORD_BATCH_OVERHEAD
        )
        .drop("records_bytes")
        .orderBy("topic", "batch_bytes", f.desc("ratio"), "codec", "level")
        .toArrow()
    )
    rows = without_copies(table.to_pylist())
    table = pa.Table.from_pylist(rows, schema=table.schema)
    notes, smallest_bytes = _best_of_topics(rows)
    summary = {
        "topics": len(_raw_of_topics(rows)),
        "sampled_bytes": sum(_raw_of_topics(rows).values()),
        "stored_bytes": sum(row["stored_bytes"] for row in rows if row["codec"] == STORED),
        "smallest_stored_bytes": smallest_bytes,
    }
    return Outcome({"codecs": table}, summary, notes=notes)


def _best_of_topics(rows: list[dict[str, Any]]) -> tuple[list[str], int]:
    """Return the smallest encoding, in words for each topic, and in bytes for all of them."""
    notes = []
    size_bytes = 0
    for topic in sorted({row["topic"] for row in rows}):
        mine = [row for row in rows if row["topic"] == topic and row["ratio"] is not None]
        stored, others = _apart(mine)
        if stored is None or not others:
            continue
        best = max(others, key=lambda row: row["ratio"])
        size_bytes += min(best["stored_bytes"], stored["stored_bytes"])
        now = f"ratio {stored['ratio']:.2f} as stored"
        notes.append(f"{topic}: {now}, {best['ratio']:.2f} with {_name(best)}")
    return notes, size_bytes


def without_copies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turn rows for a batch size that joined no batches of a topic into rows of size 0, each once:
    they repeat the original.
    """
    as_is = {row["topic"]: row["batches"] for row in rows if row["codec"] == STORED}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        if row["batches"] == as_is[row["topic"]]:
            row = row | {"batch_bytes": _AS_IS}
        found.setdefault(tuple(row[name] for name in _KEYS), row)
    return list(found.values())


def _apart(rows: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return (what is stored; None without such a row, what is possible) of the rows of a topic."""
    stored = next((row for row in rows if row["codec"] == STORED), None)
    return stored, [row for row in rows if row is not stored]


def _raw_of_topics(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {row["topic"]: row["raw_bytes"] for row in rows}


def _records_of(run: list[RawBatch]) -> list[bytes]:
    return [batch.payload for batch in run]


def joined(records: list[bytes], size: int) -> list[bytes]:
    """Join the records of neighbours until they reach a size. Offset deltas restart in each batch,
    which does not affect the codecs.
    """
    if size == _AS_IS:
        return records
    found: list[bytes] = []
    parts: list[bytes] = []
    reached = 0
    for each in records:
        parts.append(each)
        reached += len(each)
        if reached >= size:
            found.append(b"".join(parts))
            parts, reached = [], 0
    return [*found, b"".join(parts)] if parts else found


def _with_headers(batches: list[bytes]) -> int:
    """Return the size of batches on disk."""
    return sum(map(len, batches)) + RECORD_BATCH_OVERHEAD * len(batches)


def _as_stored(samples: list[RawBatch]) -> dict[str, Any]:
    def decode() -> None:
        for each in samples:
            decompress(each.header.codec, each.stored[RECORD_BATCH_OVERHEAD:], len(each.payload))

    return {
        "codec": STORED,
        "batch_bytes": _AS_IS,
        "batches": len(samples),
        "stored_bytes": sum(len(each.stored) for each in samples),
        "decode_seconds": _speed(decode),
    }


def _measure(batches: list[bytes], candidate: Candidate) -> dict[str, Any]:
    stored: list[bytes] = []

    def encode() -> None:
        stored[:] = [compress(candidate.codec, each, candidate.level) for each in batches]

    def decode() -> None:
        for records, encoding in zip(batches, stored, strict=True):
            decompress(candidate.codec, encoding, len(records))

    encode_seconds, decode_seconds = _speed(encode), _speed(decode)
    return {
        "codec": CODEC_NAMES[candidate.codec],
        "level": candidate.level,
        "batches": len(batches),
        "stored_bytes": _with_headers(stored),
        "encode_seconds": encode_seconds,
        "decode_seconds": decode_seconds,
    }


def _name(row: dict[str, Any]) -> str:
    level = f":{row['level']}" if row["level"] is not None else ""
    size = f" at {row['batch_bytes']:,} B" if row["batch_bytes"] else ""
    return f"{row['codec']}{level}{size}"


def _speed(action: Callable[[], object]) -> float:
    """Return seconds, the better of two runs: the first one warms up."""
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return min(taken)


def draw(outcome: Outcome) -> Any:
    rows = outcome.tables["codecs"].to_pylist()
    raw = _raw_of_topics(rows)
    if not raw:
        return None
    topic = max(raw, key=lambda name: raw[name])
    stored, others = _apart([row for row in rows if row["topic"] == topic])
    compressed = [row for row in others if row["codec"] != NO_CODEC]
    if not compressed:
        return None
    return draw_codecs(topic, compressed, None if stored is None else stored["ratio"], len(raw))


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw, counts_left_out=False)

if __name__ == "__main__":
    JOB.main()

"""What jobs draw of tables as they might be, without Spark: one topic, many, none, odd values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spark_jobs import (
    compaction_savings,
    consumer_lag,
    export_parquet,
    size_percentiles,
    timestamp_disorder,
    topic_statistics,
)
from spark_jobs.parts import pictures
from spark_jobs.parts.codec_picture import draw_codecs
from spark_jobs.parts.results import Outcome
from tests.spark_jobs.picture_checks import check_texts, texts_of

#: 2013-01-01
_TIME_MS = 1_356_998_400_000
_MOST_BYTES = 120_000
_COUNTS = (1, 2, 12, 40)


def drawn(job: Any, tables: dict[str, Any], **summary: Any) -> Any:
    """The picture, looked at; None if there is none."""
    made = job.draw(Outcome(tables, summary))
    if made is not None:
        check_texts(made)
        assert len(pictures.as_png(made)) < _MOST_BYTES
    return made


def title_of(made: Any) -> str:
    return str(made.get_suptitle().replace("\n", " "))


def names(count: int) -> list[str]:
    """Of topics, long ones that differ at their ends if they are many."""
    if count < 3:
        return ["flights", "planes"][:count]
    return [f"flights-of-a-region-with-a-very-long-name-{number:02d}" for number in range(count)]


def sizes_outcome(by_topic: dict[str, list[int]]) -> dict[str, pa.Table]:
    rows = []
    for topic, values in sorted(by_topic.items()):
        for size, records in zip(*np.unique(values, return_counts=True), strict=True):
            rows.append((topic, "record", int(size), int(records)))
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    schema = size_percentiles._SCHEMA
    sizes = pa.table(
        [pa.array(each, f.type) for each, f in zip(columns, schema, strict=True)], schema=schema
    )
    found = [size_percentiles._row(*group) for group in size_percentiles._groups(sizes)]
    table = pa.Table.from_pylist(found, schema=size_percentiles._RESULT)
    return {"percentiles": table, "sizes": sizes}


@pytest.mark.parametrize("count", _COUNTS)
def test_sizes(count: int):
    made = drawn(size_percentiles.JOB, sizes_outcome({n: [5, *[358] * 99] for n in names(count)}))
    assert "358 B" in title_of(made)
    texts = texts_of(made)
    assert texts.count("358 B") == 3 * min(count, pictures.MAX_BARS)
    assert ("12 topics, of 40" in title_of(made)) == (count > pictures.MAX_BARS)


def test_sizes_far_apart():
    made = drawn(
        size_percentiles.JOB,
        sizes_outcome({"small": [80] * 99 + [20_000_000], "empty": [0] * 9, "large": [4_000_000]}),
    )
    (axes,) = made.axes
    assert axes.get_xscale() == "log"
    assert "1 MB" in texts_of(made)
    assert title_of(made).endswith("medians from 0 B to 4 MB")


def lag_row(group: str, partition: int, lag: int | None) -> dict[str, Any]:
    row = {"group": group, "topic": "flights", "partition": partition, "lag": lag}
    return row | {"committed_offset": 7, "committed_at_ms": _TIME_MS}


def lag_tables(rows: list[dict[str, Any]]) -> dict[str, pa.Table]:
    history = [row | {"committed_at_ms": _TIME_MS + 5000 * n} for row in rows for n in range(3)]
    return {
        "lag": pa.Table.from_pylist(rows, schema=consumer_lag._LAG),
        "history": pa.Table.from_pylist(history, schema=consumer_lag._HISTORY),
    }


@pytest.mark.parametrize("count", _COUNTS)
def test_lag_of_groups(count: int):
    rows = [lag_row(name, n, 30_000) for name in names(count) for n in range(4)]
    made = drawn(consumer_lag.JOB, lag_tables(rows))
    assert title_of(made).endswith(
        f"{pictures.short(count * 120_000)} records behind (last commit: 2013-01-01 00:00 UTC)"
        if count == 1
        else f"by {pictures.short(count * 120_000)} records (last commit: 2013-01-01 00:00 UTC)"
    )
    assert "00:00:05" in texts_of(made)
    assert "time of the commit, 2013-01-01 (UTC)" in texts_of(made)
    assert ("29 others" in texts_of(made)) == (count == 40)
    (legend,) = made.legends
    top = legend.get_window_extent().y1
    assert all(axes.get_window_extent().y0 > top for axes in made.axes)


def test_lag_that_is_not_known():
    made = drawn(consumer_lag.JOB, lag_tables([lag_row("tower", 0, None)]))
    assert "no lag is known" in title_of(made)
    assert "not known: no such log" in texts_of(made)


@pytest.mark.parametrize("count", _COUNTS)
def test_savings(count: int):
    rows = [{"topic": n, "bytes": 120_000_000, "kept_bytes": 1_440_000} for n in names(count)]
    made = drawn(compaction_savings.JOB, {"savings": pa.Table.from_pylist(rows)})
    texts = texts_of(made)
    assert "1.44 MB stays, 119 MB would go" in texts
    assert "(98.8 %) of keys and values in" in title_of(made)
    assert ("29 others" in texts) == (count == 40)


@pytest.mark.parametrize("count", _COUNTS)
def test_parquet_files(count: int):
    files = [f"part-{n:05d}-9d0c387a08c0-8a17f436.zstd.parquet" for n in range(count)]
    table = pa.table({"file": files, "bytes": [6_870_000] * count})
    made = drawn(export_parquet.JOB, {"files": table}, records=336_776)
    files_in_words = "1 Parquet file:" if count == 1 else f"{count} Parquet files:"
    assert title_of(made).startswith(f"336,776 records in {files_in_words} ")
    assert texts_of(made).count("6.87 MB") == min(count, 11 if count > 12 else 12)
    assert "1e6" not in "".join(texts_of(made))


@pytest.mark.parametrize("count", _COUNTS)
def test_topics(count: int):
    rows = [
        {"topic": name, "codec": codec, "bytes": 20_000_000 - at, "records": 350_000}
        | {"first_timestamp_ms": _TIME_MS, "max_timestamp_ms": _TIME_MS + 86_400_000}
        for at, name in enumerate(names(count))
        for codec in ("lz4", "zstd", None)
    ]
    made = drawn(topic_statistics.JOB, {"statistics": pa.Table.from_pylist(rows)})
    assert title_of(made).endswith(" on disk, of 2013-01-01 to 2013-01-02")
    left, right = made.axes
    assert right.texts[0].get_text() == "1.05M"
    order = [label.get_text() for label in left.get_yticklabels()]
    expected = [pictures.cut(name) for name in names(count)]
    assert order == (expected if count <= 12 else [*expected[:11], "29 others"])


def disorder_tables(late: dict[int, int], partitions: int = 1) -> dict[str, pa.Table]:
    number = sum(late.values())
    row: dict[str, object] = {
        "late_records": number,
        "records": number + 8,
        "late_share": number / (number + 8),
    }
    row |= {"topic": "flights", "late_max_ms": max(late, default=0)}
    rows = [row | {"partition": n} for n in range(partitions)]
    counts = {0: 8} | late
    lateness = {"topic": ["flights"] * len(counts), "late_ms": [*counts]}
    return {
        "disorder": pa.Table.from_pylist(rows, schema=timestamp_disorder._RESULT),
        "lateness": pa.table(lateness | {"records": [*counts.values()]}),
    }


def test_lateness_in_units_of_people():
    late = {3_600_000: 1000, 40_000_000: 500, 28_900_000_000: 80_000}
    made = drawn(timestamp_disorder.JOB, disorder_tables(late, partitions=30))
    assert title_of(made).endswith("are late: behind one of a later time, by up to 334 days")
    assert {"1 h", "1 day", "30 days", "80k", "> 99.9 %"} <= set(texts_of(made))


@pytest.mark.parametrize("late", [{}, {1: 1}, {1: 1, 10**15: 1}])
def test_lateness_of_few(late: dict[int, int]):
    made = drawn(timestamp_disorder.JOB, disorder_tables(late))
    assert ("none is late" in texts_of(made)) == (not late)


def test_codecs():
    rows = [
        {"topic": "t", "codec": "zstd", "level": level, "batch_bytes": 0, "ratio": ratio}
        | {"encode_mb_per_second": speed}
        for level, ratio, speed in ((1, 7.2, 270.0), (9, 8.8, 14.0))
    ]
    made = draw_codecs("flights", rows, 3.46)
    check_texts(made)
    assert title_of(made) == (
        "Samples of flights: zstd 9 stores least, 1/8.8 of their size; stored now: 1/3.46"
    )
    assert {"10", "100", "4x"} <= set(texts_of(made))


def test_nothing_is_no_picture():
    assert drawn(size_percentiles.JOB, sizes_outcome({})) is None
    assert drawn(consumer_lag.JOB, lag_tables([])) is None
    assert drawn(compaction_savings.JOB, {"savings": pa.table({"topic": []})}) is None
    assert drawn(topic_statistics.JOB, {"statistics": pa.table({"topic": []})}) is None
    assert drawn(export_parquet.JOB, {"files": pa.table({"file": []})}, records=0) is None
    nothing = {"disorder": pa.table({"topic": []}), "lateness": pa.table({"late_ms": []})}
    assert drawn(timestamp_disorder.JOB, nothing) is None

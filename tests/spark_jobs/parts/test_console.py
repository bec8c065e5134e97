"""What stands on the terminal: times as times, numbers one can read, texts one can copy."""

from __future__ import annotations

import pyarrow as pa
import pytest

from spark_jobs.parts.console import as_text
from spark_jobs.parts.results import Outcome


def test_the_first_table_and_the_summary():
    many = pa.table({"n": list(range(50)), "name": ["x" * 99] * 50, "share": [0.5] * 50})
    second = pa.table({"never": [1]})
    lines = as_text(Outcome({"first": many, "second": second}, {"records": 5000})).splitlines()
    assert lines[0].split() == ["n", "name", "share"]
    number, name, share = lines[1].split()
    assert (number, share, len(name)) == ("0", "50.00%", 40)
    assert lines[-2:] == ["... 50 rows", "records: 5,000"]
    assert len(lines) == 1 + 20 + 2


@pytest.mark.parametrize(
    "topics, shown, last",
    [
        (1, 20, "... 50 rows"),
        (3, 18, "... 150 rows, the first 6 of each topic"),
        (15, 15, "... 750 rows, the first of each topic"),
        (40, 20, "... 2,000 rows, the first of 20 of 40 topics"),
    ],
)
def test_every_topic_has_rows(topics: int, shown: int, last: str):
    names = [f"topic-{number:02}" for number in range(topics) for _ in range(50)]
    lines = as_text(Outcome({"keys": pa.table({"topic": names})})).splitlines()
    assert lines[-1] == last
    assert len(lines[1:-1]) == shown
    assert len(set(lines[1:-1])) == min(topics, 20)


def test_notes_come_last():
    assert as_text(Outcome({}, {"keys": 1}, notes=["one: 1 key"])) == "keys: 1\none: 1 key"


def test_the_last_column_is_whole():
    path = "part-" + "0" * 90 + ".parquet"
    assert path in as_text(Outcome({"files": pa.table({"n": [1], "file": [path]})}))


@pytest.mark.parametrize(
    "name,value,line",
    [
        ("first_timestamp_ms", 1_357_034_400_123, "first timestamp (UTC): 2013-01-01 10:00:00.123"),
        ("began", 1_357_034_400.5, "began (UTC): 2013-01-01 10:00:00.500"),
        ("late_p50_ms", 16_344_000_000, "p50 lateness: 189 days"),
        ("every_ms", 1000, "width of a bucket: 1 s"),
        ("timestamp_ms", 10**17, "timestamp (UTC): 100000000000000000"),
        ("records", 336_776, "records: 336,776"),
        ("peak_records_per_second", 10_885.416, "peak records per second: 10,885.416"),
        ("saved_share", 0.25, "saved: 25.00%"),
        ("is_sound", True, "sound: yes"),
        ("is_limited", False, "stopped at --limit: no"),
        ("hottest", b"N14228", "hottest: N14228"),
        ("oldest_open_age_ms", None, "oldest open transaction's age: -"),
    ],
)
def test_a_summary_in_words(name: str, value: object, line: str):
    assert as_text(Outcome({}, {name: value})) == line


def test_a_time_has_one_column():
    """The timestamp of a file, for Spark, is the same number once more."""
    at = pa.array([1_357_034_400_000], pa.timestamp("ms"))
    table = pa.table({"bucket_ms": [1_357_034_400_000], "bucket": at, "records": [7]})
    assert as_text(Outcome({"rate": table})).splitlines() == [
        "bucket (UTC)             records",
        "2013-01-01 10:00:00.000  7",
    ]


def test_offsets_in_tables_can_be_copied_as_they_are():
    table = pa.table({"offset": [1_234_567], "end_timestamp_ms": [None]})
    assert as_text(Outcome({"found": table})).splitlines()[1].split() == ["1234567", "-"]


def test_a_table_without_rows_has_no_header_either():
    table = pa.table({"producer_id": pa.array([], pa.int64())})
    assert as_text(Outcome({"transactions": table}, {"open": 0})) == "open: 0"

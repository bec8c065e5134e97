"""Transactions of Apache's broker: committed, aborted, open, with as many records as were sent."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pykbroker.protocol.control_records import COMMIT
from pykbroker.protocol.record_batch import LOG_APPEND_TIME
from spark_jobs.transactions import JOB, most_telling, oldest_open
from tests.offline.samples import BASE_MS, partition_directory, write_segment
from tests.offline.test_partition_check import batch, marker
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs, bookings_frame


def test_bookings(run_job: RunJob, apache: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", apache.path)
    rows = bookings_frame(flight_frame)
    states = outcome.tables["states"].to_pandas().set_index(["partition", "state"])
    expected = rows.groupby(["partition", "state"])
    assert set(outcome.tables["states"].column("topic").to_pylist()) == {"bookings"}
    assert states["records"].to_dict() == expected.size().to_dict()
    assert states["transactions"].to_dict() == expected["transaction"].nunique().to_dict()
    for state in ("committed", "aborted", "open"):
        assert outcome.summary[f"{state}_records"] == (rows["state"] == state).sum()
    assert outcome.summary["oldest_open_topic"] == "bookings"
    for _, mine in outcome.tables["transactions"].to_pandas().groupby("partition"):
        in_order = mine.sort_values("first_offset")["record_count"]
        assert in_order.tolist() == [500] * 12


def test_there_are_none(run_job: RunJob, ours: FlightLogs):
    outcome = run_job(JOB, "--path", ours.path, "--topics", "flights")
    assert outcome.tables["transactions"].num_rows == 0
    assert outcome.summary["open_transactions"] == 0
    assert outcome.summary["oldest_open_offset"] is None
    assert outcome.notes == []


def test_since_and_until(run_job: RunJob, tmp_path: Path):
    """Three transactions, with first records of the times 0, 11 and 22 behind BASE_MS."""
    parts = []
    for number, base in enumerate((0, 11, 22)):
        parts.append(batch(base, sequence=10 * number, producer=7, transactional=1))
        parts.append(marker(base + 10, COMMIT, 7))
    write_segment(partition_directory(tmp_path), parts)

    def first_offsets(*words: str) -> list[int]:
        outcome = run_job(JOB, "--path", str(tmp_path), *words)
        found: list[int] = outcome.tables["transactions"].column("first_offset").to_pylist()
        assert outcome.summary["committed_transactions"] == len(found)
        return found

    assert first_offsets() == [0, 11, 22]
    assert first_offsets("--since", str(BASE_MS + 1)) == [11, 22]
    assert first_offsets("--since", str(BASE_MS + 11), "--until", str(BASE_MS + 22)) == [11]


def test_times_of_two_clocks(run_job: RunJob, tmp_path: Path):
    """The records' times are a year old: no transaction took so long."""
    year = 365 * 86_400_000
    append_time = {"timestamp_type": LOG_APPEND_TIME, "log_append_time": BASE_MS + 8}
    parts = [
        batch(0, sequence=0, producer=7, transactional=1, **append_time),
        marker(10, COMMIT, 7),
        batch(11 - year, sequence=10, producer=7, transactional=1),
        marker(21, COMMIT, 7),
    ]
    parts[2] = (11).to_bytes(8) + parts[2][8:]
    write_segment(partition_directory(tmp_path), parts)
    (row,) = run_job(JOB, "--path", str(tmp_path)).tables["states"].to_pylist()
    assert row["transactions"] == 2
    assert row["longest_ms"] == 2
    assert row["longest_since_create_ms"] == year + 10


def test_the_oldest_open(run_job: RunJob, tmp_path: Path):
    """The one of producer 7 was open when that of producer 8 ended, by the broker's clock."""
    parts = [
        batch(0, sequence=0, producer=7, transactional=1),
        batch(10, sequence=0, producer=8, transactional=1),
        marker(20, COMMIT, 8),
        batch(21, sequence=10, producer=8, transactional=1),
    ]
    write_segment(partition_directory(tmp_path), parts)
    outcome = run_job(JOB, "--path", str(tmp_path))
    (note,) = outcome.notes
    assert note == (
        "oldest open transaction: t-0 from offset 0, producer 7, "
        "since 2023-11-14T22:13:20+00:00 by the producer's clock"
    )
    table = outcome.tables["transactions"]
    found = oldest_open(table, BASE_MS + 1000)
    assert found["timestamp_ms"] == BASE_MS
    assert found["clock"] == "producer"
    assert found["age_ms"] == 980
    (alone,) = (
        row for row in table.to_pylist() if row["state"] == "open" and row["producer_id"] == 8
    )

    def told(**more: int) -> dict[str, Any]:
        one = pa.Table.from_pylist([alone | more], schema=table.schema)
        return oldest_open(one, BASE_MS + 1000)

    assert told()["age_ms"] is None
    assert told(timestamp_type=1)["age_ms"] == 979
    assert told(first_timestamp_ms=-1)["timestamp_ms"] is None
    assert told(first_timestamp_ms=-1, timestamp_type=1)["age_ms"] is None
    without = [alone | {"partition": 1, "first_timestamp_ms": -1}]
    several = pa.concat_tables([pa.Table.from_pylist(without, schema=table.schema), table])
    assert oldest_open(several, BASE_MS + 1000) == found


def test_every_transaction_counts():
    for words in (["--isolation", "read_committed"], ["--option", "isolation=read_committed"]):
        with pytest.raises(SystemExit) as ended:
            JOB.parse(["--path", "x", *words])
        assert ended.value.code == 2


def test_the_picture_shows_what_is_unknown_or_open():
    """Wherever it is: the first of the first partition, and one in the middle."""
    rows = [
        {"topic": "t", "partition": number // 50, "first_offset": number, "state": "committed"}
        for number in range(100)
    ]
    rows[0]["state"], rows[30]["state"] = "unknown", "open"
    shown = most_telling(pa.Table.from_pylist(rows))
    assert len(shown) == 60
    assert rows[0] in shown
    assert rows[30] in shown
    offsets = [row["first_offset"] for row in shown]
    assert offsets == sorted(offsets)
    assert {49, 99} <= set(offsets)
    assert sum(row["partition"] == 1 for row in shown) == 29
    assert most_telling(pa.Table.from_pylist(rows[:7])) == rows[:7]


def test_a_million_transactions_take_little_room():
    """Of a table of 60 MB; a dict of each row would be a thousand."""
    count = 1_000_000
    numbers = np.arange(count)
    table = pa.table(
        {
            "topic": pa.repeat("t", count),
            "partition": pa.array(numbers // 1000, pa.int32()),
            "state": pa.repeat("committed", count),
            "producer_id": numbers,
            "first_offset": numbers,
            "last_offset": numbers,
            "first_timestamp_ms": numbers,
            "timestamp_type": pa.array(np.zeros(count), pa.int32()),
            "end_timestamp_ms": numbers,
        }
    )
    tracemalloc.start()
    try:
        assert set(oldest_open(table, BASE_MS).values()) == {None}
        assert len(most_telling(table)) == 60
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()

"""Records found by key, expression, time, offset: the rows that pandas finds."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pandas as pd
import pyarrow as pa
import pytest

from spark_jobs.find import JOB, as_bytes
from tests.harness.flights import flights
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs

HOUR = 3_600_000


def rows_of(table: pa.Table) -> list[int]:
    """Which rows of the package were found."""
    found = zip(*(table.column(name).to_pylist() for name in ("offset", "partition")), strict=True)
    return sorted(offset * 5 + partition for offset, partition in found)


def test_by_key(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    words = ("--path", logs.path, "--topics", "flights")
    table = run_job(JOB, *words, "--key", "N14228").tables["records"]
    expected = flight_frame[flight_frame["tailnum"] == "N14228"]["row"]
    assert rows_of(table) == expected.tolist()
    values = {flights()[row].value for row in expected}
    assert set(table.column("value").to_pylist()) == values


def test_by_expression_and_key(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    words = ("--path", logs.path, "--topics", "flights", "--limit", "100000")
    condition = "get_json_object(text, '$.dest') = 'SEA' and key_text like 'N7%'"
    outcome = run_job(JOB, *words, "--where", condition)
    expected = flight_frame[
        (flight_frame["dest"] == "SEA") & flight_frame["tailnum"].str.startswith("N7", na=False)
    ]
    assert rows_of(outcome.tables["records"]) == expected["row"].tolist()
    assert outcome.summary == {"found": len(expected), "is_limited": False}


def test_by_time(run_job: RunJob, ours: FlightLogs, flight_frame: pd.DataFrame):
    """Late records too: the log is not in order of time."""
    since, until = 1_370_000_000_000 // HOUR * HOUR, 1_370_000_000_000 // HOUR * HOUR + 6 * HOUR
    words = ("--path", ours.path, "--topics", "flights", "--limit", "100000")
    table = run_job(JOB, *words, "--since", str(since), "--until", str(until)).tables["records"]
    times = flight_frame["timestamp_ms"]
    expected = flight_frame[(times >= since) & (times < until)]["row"]
    assert len(expected) > 100
    assert rows_of(table) == expected.tolist()


def test_by_offset(run_job: RunJob, ours: FlightLogs):
    words = ("--path", ours.path, "--topics", "flights", "--partition", "3", "--offset", "60000")
    assert rows_of(run_job(JOB, *words).tables["records"]) == [300_003]
    table = run_job(JOB, *words, "--end-offset", "60004", "--headers").tables["records"]
    assert rows_of(table) == [300_003, 300_008, 300_013, 300_018]
    assert table.column("headers").to_pylist() == [None] * 4


def test_a_limit_is_told(run_job: RunJob, ours: FlightLogs):
    words = ("--path", ours.path, "--topics", "flights", "--limit", "7")
    outcome = run_job(JOB, *words)
    assert outcome.summary == {"found": 7, "is_limited": True}


def test_keys():
    assert as_bytes("N1") == b"N1"
    assert as_bytes("0x00ff") == b"\x00\xff"
    with pytest.raises(ArgumentTypeError):
        as_bytes("0xabc")

"""Records found by key, expression, time, offset: the rows that pandas finds."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from pykbroker.offline import OfflineError
from pykbroker.protocol.record_batch import build_batch
from spark_jobs.find import JOB, as_bytes
from tests.harness.flights import flights
from tests.offline.samples import BASE_MS, partition_directory, write_segment
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs
from tests.spark_jobs.picture_checks import texts_of

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
    assert outcome.summary == {"found_records": len(expected), "is_limited": False}


def test_by_time(run_job: RunJob, ours: FlightLogs, flight_frame: pd.DataFrame):
    """Late records too: the log is not in order of time."""
    since, until = 1_370_000_000_000 // HOUR * HOUR, 1_370_000_000_000 // HOUR * HOUR + 6 * HOUR
    words = ("--path", ours.path, "--topics", "flights", "--limit", "100000")
    table = run_job(JOB, *words, "--since", str(since), "--until", str(until)).tables["records"]
    times = flight_frame["timestamp_ms"]
    expected = flight_frame[(times >= since) & (times < until)]["row"]
    assert len(expected) > 100
    assert rows_of(table) == expected.tolist()


def test_the_help_tells_what_times_are_of(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        JOB.parse(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "select records with this timestamp or a later one (ISO 8601, or ms since 1970)" in told
    assert "at the first record of this time" not in told


def test_by_offset(run_job: RunJob, ours: FlightLogs):
    words = ("--path", ours.path, "--topics", "flights", "--partition", "3", "--offset", "60000")
    assert rows_of(run_job(JOB, *words).tables["records"]) == [300_003]
    table = run_job(JOB, *words, "--end-offset", "60004", "--headers").tables["records"]
    assert rows_of(table) == [300_003, 300_008, 300_013, 300_018]
    assert table.column("headers").to_pylist() == [None] * 4


def test_a_limit_is_told(run_job: RunJob, ours: FlightLogs, capsys: pytest.CaptureFixture[str]):
    words = ("--path", ours.path, "--topics", "flights", "--limit", "7")
    outcome = run_job(JOB, *words)
    assert outcome.summary == {"found_records": 7, "is_limited": True}
    told = capsys.readouterr().err
    assert "find: 7 of the matching records" in told
    assert "there are more (--limit)" in told
    assert JOB.draw is not None
    assert "7 of the matching records" in " ".join(texts_of(JOB.draw(outcome)))


def test_keys():
    assert as_bytes("N1") == b"N1"
    assert as_bytes("0x00ff") == b"\x00\xff"
    with pytest.raises(ArgumentTypeError):
        as_bytes("0xabc")


def odd_times(root: Path) -> None:
    """Two records of ms, two of microseconds, one of 2^61."""
    times = [BASE_MS, BASE_MS + 1, BASE_MS * 1000, BASE_MS * 1000 + 1, 1 << 61]
    batches = [
        bytes(build_batch([(b"k", b"v", time, ())], base_offset=offset))
        for offset, time in enumerate(times)
    ]
    write_segment(partition_directory(root), batches)


def test_times_that_no_calendar_has(run_job: RunJob, tmp_path: Path):
    odd_times(tmp_path)
    outcome = run_job(JOB, "--path", str(tmp_path))
    rows = outcome.tables["records"].to_pylist()
    assert [row["timestamp_ms"] for row in rows][1:] == [
        BASE_MS + 1,
        BASE_MS * 1000,
        BASE_MS * 1000 + 1,
        1 << 61,
    ]
    assert [row["timestamp"] is None for row in rows] == [False, False, True, True, True]
    label = JOB.draw(outcome).axes[0].get_xlabel() if JOB.draw else ""
    assert "not drawn: 3 with times that no calendar has" in label


@pytest.mark.parametrize("condition", ["nope = 1", "key ="])
def test_a_wrong_condition_is_one_line(run_job: RunJob, tmp_path: Path, condition: str):
    odd_times(tmp_path)
    with pytest.raises(OfflineError, match=f"--where {condition}: ") as caught:
        run_job(JOB, "--path", str(tmp_path), "--where", condition)
    assert "\n" not in str(caught.value)

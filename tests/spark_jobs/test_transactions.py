"""Transactions of Apache's broker: committed, aborted, open, with as many records as were sent."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pykbroker.protocol.control_records import COMMIT
from spark_jobs.transactions import JOB
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
    assert outcome.summary["oldest_open"].startswith("bookings-")
    for _, mine in outcome.tables["transactions"].to_pandas().groupby("partition"):
        in_order = mine.sort_values("first_offset")["record_count"]
        assert in_order.tolist() == [500] * 12


def test_there_are_none(run_job: RunJob, ours: FlightLogs):
    outcome = run_job(JOB, "--path", ours.path, "--topics", "flights")
    assert outcome.tables["transactions"].num_rows == 0
    assert outcome.summary["open_transactions"] == 0


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

"""Copies that are equal, and copies with one thing changed."""

from __future__ import annotations

import shutil
from pathlib import Path

from pykbroker.offline import batches
from pykbroker.protocol.record_batch import compute_crc
from spark_jobs.replica_difference import JOB
from tests.harness.flights import COUNT
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs


def test_both_brokers_hold_the_same_records(run_job: RunJob, ours: FlightLogs, apache: FlightLogs):
    words = ("--path", ours.path, "--other", apache.path, "--topics", "flights")
    outcome = run_job(JOB, *words, "--by", "records")
    assert outcome.summary["equal"] == COUNT
    assert outcome.summary["is_equal"]
    assert outcome.exit_code == 0


def test_a_copy_with_one_batch_changed_and_one_missing(
    run_job: RunJob, ours: FlightLogs, tmp_path: Path
):
    copy = tmp_path / "logs"
    for partition in (0, 1):
        shutil.copytree(f"{ours.path}/flights-{partition}", copy / f"flights-{partition}")
    rows = batches(str(copy), "flights", partitions=[0]).to_pylist()
    changed, missing = rows[1], rows[3]
    path = copy / "flights-0" / f"{changed['segment_base_offset']:020d}.log"
    payload = bytearray(path.read_bytes())
    at, size = changed["position"], changed["size_bytes"]
    payload[at + size - 20] ^= 1  # within a value
    payload[at + 17 : at + 21] = compute_crc(payload[at : at + size]).to_bytes(4)
    del payload[missing["position"] : missing["position"] + missing["size_bytes"]]
    path.write_bytes(payload)
    words = ("--path", ours.path, "--other", str(copy), "--option", 'assign={"flights":[0,1]}')
    outcome = run_job(JOB, *words)
    assert outcome.exit_code == 1
    found = [(row["offset"], row["kind"]) for row in outcome.tables["differences"].to_pylist()]
    assert found == [
        (changed["base_offset"], "differing"),
        (missing["base_offset"], "only_here"),
    ]
    by_records = run_job(JOB, *words, "--by", "records")
    assert by_records.summary["differing"] == 1
    assert by_records.summary["only_here"] == missing["record_count"]


def test_a_copy_that_lags_is_a_prefix(run_job: RunJob, ours: FlightLogs, tmp_path: Path):
    shutil.copytree(f"{ours.path}/flights-4", tmp_path / "flights-4")
    rows = batches(str(tmp_path / "flights-4")).to_pylist()
    last = max((tmp_path / "flights-4").glob("*.log"))
    last.write_bytes(last.read_bytes()[: rows[-2]["position"] + rows[-2]["size_bytes"]])
    words = ("--path", f"{ours.path}/flights-4", "--other", str(tmp_path / "flights-4"))
    outcome = run_job(JOB, *words)
    assert not outcome.summary["is_equal"]
    assert outcome.summary["is_prefix"]
    assert outcome.summary["partitions_shorter_there"] == 1
    assert outcome.exit_code == 1
    assert outcome.summary["verdict"].startswith("The other copy is a prefix of this one")
    (row,) = outcome.tables["partitions"].to_pylist()
    assert row["end_there"] == rows[-1]["base_offset"] < row["end_here"]
    assert row["equal"] == len(rows) - 1

"""Numbers of records, sizes and times of the flights, by topic and codec."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from pyspark.errors import PythonException

from pykbroker.offline import OfflineError
from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.protocol.record_batch import build_batch
from spark_jobs.topic_statistics import JOB
from tests.harness.flights import COUNT
from tests.offline.samples import (
    BASE_MS,
    batches_without_a_base,
    partition_directory,
    simple_batches,
    write_segment,
)
from tests.offline.test_partition_check import batch as data_batch
from tests.offline.test_partition_check import marker
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import CODECS, FlightLogs, planes_frame


def test_flights(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "flights", "--sample-every", "8")
    found = outcome.tables["statistics"].to_pandas().set_index("partition")
    expected = flight_frame.groupby("partition_of_flights")
    assert outcome.summary["records"] == COUNT
    assert list(found["codec"]) == list(CODECS)
    assert found["records"].to_dict() == expected.size().to_dict()
    assert found["next_offset"].to_dict() == expected.size().to_dict()
    assert found["max_timestamp_ms"].to_dict() == expected["timestamp_ms"].max().to_dict()
    # The first record of the partition begins a batch, so no batch begins later than all of them.
    firsts = expected["timestamp_ms"].first()
    assert (found["first_timestamp_ms"] <= firsts).all()
    assert (found["first_timestamp_ms"] >= expected["timestamp_ms"].min()).all()
    # Uncompressed, a record takes its key, its value and some 10 bytes more.
    sizes = expected["size"].sum()
    assert found["bytes"][0] == pytest.approx(sizes[0] + 14 * found["records"][0], rel=0.01)
    assert found["ratio"][0] == 1
    for partition in range(1, len(CODECS)):
        assert found["ratio"][partition] == pytest.approx(
            (sizes[partition] + 14 * found["records"][partition]) / found["bytes"][partition],
            rel=0.05,
        )


def test_compacted(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path, "--topics", "planes")
    found = outcome.tables["statistics"].to_pandas().set_index("partition")
    planes = planes_frame(flight_frame).groupby("partition")
    assert found["next_offset"].to_dict() == planes.size().to_dict()
    assert (found["records"] < planes.size()).all()
    assert (found["records"] >= planes["key"].nunique()).all()
    assert found["ratio"].isna().all()


def test_markers_are_not_records(run_job: RunJob, apache: FlightLogs):
    outcome = run_job(JOB, "--path", apache.path, "--topics", "bookings")
    assert outcome.summary["records"] == 12_000
    assert outcome.summary["control_batches"] == 22


def test_only_what_is_in_the_range_counts(run_job: RunJob, tmp_path: Path):
    """Three batches of ten records, a ms apart."""
    write_segment(partition_directory(tmp_path), simple_batches(3))
    words = ("--path", str(tmp_path), "--since", str(BASE_MS + 4), "--until", str(BASE_MS + 25))
    (row,) = run_job(JOB, *words).tables["statistics"].to_pylist()
    assert (row["records"], row["batches"]) == (21, 3)
    assert (row["first_offset"], row["next_offset"]) == (4, 25)
    assert row["first_timestamp_ms"] == BASE_MS + 4
    assert row["max_timestamp_ms"] == BASE_MS + 24


def test_committed_records(run_job: RunJob, apache: FlightLogs):
    words = ("--path", apache.path, "--topics", "bookings", "--isolation", "read_committed")
    assert run_job(JOB, *words).summary["records"] == 7000


def test_a_delete_horizon_is_no_time_of_a_record(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path), batches_without_a_base()[:2])
    (row,) = run_job(JOB, "--path", str(tmp_path)).tables["statistics"].to_pylist()
    assert row["records"] == 3
    assert row["first_timestamp_ms"] == row["max_timestamp_ms"] == BASE_MS + 30


def test_records_without_a_time(run_job: RunJob, tmp_path: Path):
    for partition, times in enumerate(([[-1, BASE_MS + 5], [BASE_MS + 7]], [[-1], [-1, -1]])):
        batches = [
            bytes(build_batch([(b"k", b"v", at, ()) for at in mine], base_offset=10 * n))
            for n, mine in enumerate(times)
        ]
        write_segment(partition_directory(tmp_path, "t", partition), batches)
    rows = run_job(JOB, "--path", str(tmp_path)).tables["statistics"].to_pylist()
    found = [(row["first_timestamp_ms"], row["max_timestamp_ms"]) for row in rows]
    assert found == [(BASE_MS + 5, BASE_MS + 7), (None, None)]


def test_partitions_without_records(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path, "t", 1), simple_batches(1))
    (partition_directory(tmp_path, "t", 0) / f"{0:020d}.log").touch()
    (partition_directory(tmp_path, "empty", 0) / f"{0:020d}.log").touch()
    outcome = run_job(JOB, "--path", str(tmp_path))
    rows = outcome.tables["statistics"].to_pylist()
    found = [(row["topic"], row["partition"], row["codec"], row["records"]) for row in rows]
    assert found == [("empty", 0, None, 0), ("t", 0, None, 0), ("t", 1, "none", 10)]
    assert (outcome.summary["topics"], outcome.summary["partitions"]) == (2, 3)


@pytest.mark.parametrize("wrong", ["0", "-2", "x"])
def test_samples_that_cannot_be(wrong: str):
    with pytest.raises(SystemExit) as ended:
        JOB.parse(["--path", "x", "--sample-every", wrong])
    assert ended.value.code == 2


def test_a_damaged_marker_is_no_commit(run_job: RunJob, tmp_path: Path):
    """Also where only headers are read."""
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        marker(10, ABORT, 7),
        data_batch(11, sequence=10, producer=7, transactional=1),
        marker(21, COMMIT, 7),
    ]
    path = write_segment(partition_directory(tmp_path), parts)
    words = ("--path", str(tmp_path), "--isolation", "read_committed")
    assert run_job(JOB, *words).summary["records"] == 10
    broken = bytearray(parts[1])
    broken[-1] ^= 1
    path.write_bytes(b"".join([parts[0], broken, *parts[2:]]))
    with pytest.raises(OfflineError, match="may be the marker"):
        run_job(JOB, *words)
    assert run_job(JOB, *words, "--mode", "DROPMALFORMED").summary["records"] == 10


def test_failfast_ends_where_no_batch_is(run_job: RunJob, tmp_path: Path):
    written = simple_batches(9)
    path = write_segment(partition_directory(tmp_path), written, index_every=1)
    broken = written[4][:8] + bytes(4) + written[4][12:]
    path.write_bytes(b"".join([*written[:4], broken, *written[5:]]))
    with pytest.raises(PythonException, match="less than its header"):
        run_job(JOB, "--path", str(tmp_path))
    outcome = run_job(JOB, "--path", str(tmp_path), "--mode", "DROPMALFORMED")
    assert outcome.summary["records"] == 80

"""Every batch encoded again: as many bytes as there were, and known codecs give known sizes."""

from __future__ import annotations

import zlib
from argparse import ArgumentTypeError

import pytest

from pykbroker.offline import batches
from spark_jobs.codec_what_if import JOB, candidates
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs

HEADER_BYTES = 61


def test_all_batches(run_job: RunJob, logs: FlightLogs):
    words = ("--path", logs.path, "--option", 'assign={"flights":[0]}', "--every", "1")
    more = ("--codecs", "none,gzip:6,zstd:3", "--most", str(1 << 40))
    found = {row["codec"]: row for row in run_job(JOB, *words, *more).tables["codecs"].to_pylist()}
    # Partition 0 is not compressed: what is in its files is what was encoded.
    stored = batches(logs.path, "flights", partitions=[0])
    raw = sum(stored.column("size_bytes").to_pylist()) - HEADER_BYTES * stored.num_rows
    assert {row["raw_bytes"] for row in found.values()} == {raw}
    assert found["none"]["stored_bytes"] == raw
    assert found["none"]["ratio"] == 1
    expected = 0
    for row in stored.to_pylist():
        name = f"{logs.path}/flights-0/{row['segment_base_offset']:020d}.log"
        with open(name, "rb") as file:
            file.seek(row["position"] + HEADER_BYTES)
            records = file.read(row["size_bytes"] - HEADER_BYTES)
        expected += len(zlib.compress(records, 6, 31))
    assert found["gzip"]["stored_bytes"] == expected
    assert found["gzip"]["ratio"] == pytest.approx(raw / expected)
    assert found["zstd"]["encode_mb_per_second"] > 0
    assert found["stored"]["stored_bytes"] == raw


def test_what_is_stored_now(run_job: RunJob, ours: FlightLogs):
    """Whatever the codecs are: partition 1 is compressed."""
    words = ("--path", ours.path, "--option", 'assign={"flights":[1]}', "--every", "1")
    outcome = run_job(JOB, *words, "--codecs", "none", "--most", str(1 << 40))
    (row,) = [row for row in outcome.tables["codecs"].to_pylist() if row["codec"] == "stored"]
    headers = batches(ours.path, "flights", partitions=[1])
    assert set(headers.column("codec").to_pylist()) != {"none"}
    written = sum(headers.column("size_bytes").to_pylist()) - HEADER_BYTES * headers.num_rows
    assert (row["stored_bytes"], row["batches"]) == (written, headers.num_rows)
    assert row["ratio"] > 1
    assert row["decode_mb_per_second"] > 0
    assert row["encode_mb_per_second"] is None
    assert outcome.summary["flights: stored"] == f"ratio {row['ratio']:.2f}"
    assert outcome.summary["flights: smallest"].startswith("none")


def test_larger_batches_compress_better(run_job: RunJob, ours: FlightLogs):
    words = ("--path", ours.path, "--topics", "planes", "--every", "1", "--codecs", "zstd:3")
    found = run_job(JOB, *words, "--batch-bytes", "0,4000000").tables["codecs"].to_pylist()
    encoded = [row for row in found if row["codec"] == "zstd"]
    as_they_are, joined = sorted(encoded, key=lambda row: row["batch_bytes"])
    assert joined["raw_bytes"] == as_they_are["raw_bytes"]
    assert joined["batches"] < as_they_are["batches"]
    assert joined["stored_bytes"] < as_they_are["stored_bytes"]


def test_candidates():
    assert [each[:] for each in candidates("gzip:1,zstd")] == [(1, 1), (4, None)]
    for wrong in ("gzip:0", "zstd:23", "brotli", "snappy:1", "gzip:x"):
        with pytest.raises(ArgumentTypeError):
            candidates(wrong)

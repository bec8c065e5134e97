"""Every batch encoded again: as many bytes as there were, and known codecs give known sizes."""

from __future__ import annotations

import zlib
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from pykbroker.offline import batches
from spark_jobs.codec_what_if import JOB, candidates, joined
from spark_jobs.parts.codec_picture import draw_codecs
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs

HEADER_BYTES = 61


def test_all_batches(run_job: RunJob, logs: FlightLogs):
    words = ("--path", logs.path, "--option", 'assign={"flights":[0]}', "--every", "1")
    more = ("--codecs", "none,gzip:6,zstd:3", "--most", str(1 << 40))
    found = {row["codec"]: row for row in run_job(JOB, *words, *more).tables["codecs"].to_pylist()}
    # Partition 0 is not compressed: what is in its files is what was encoded.
    stored = batches(logs.path, "flights", partitions=[0])
    raw = sum(stored.column("size_bytes").to_pylist())
    assert {row["raw_bytes"] for row in found.values()} == {raw}
    assert found["none"]["stored_bytes"] == raw
    assert found["none"]["ratio"] == 1
    expected = HEADER_BYTES * stored.num_rows
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
    written = sum(headers.column("size_bytes").to_pylist())
    assert (row["stored_bytes"], row["batches"]) == (written, headers.num_rows)
    assert row["ratio"] > 1
    assert row["decode_mb_per_second"] > 0
    assert row["encode_mb_per_second"] is None
    assert outcome.notes == [f"flights: ratio {row['ratio']:.2f} as stored, 1.00 with none"]
    assert outcome.summary["stored_bytes"] == outcome.summary["smallest_stored_bytes"] == written


def test_larger_batches_compress_better(run_job: RunJob, ours: FlightLogs):
    words = ("--path", ours.path, "--topics", "planes", "--every", "1", "--codecs", "zstd:3")
    found = run_job(JOB, *words, "--batch-bytes", "0,4000000").tables["codecs"].to_pylist()
    encoded = [row for row in found if row["codec"] == "zstd"]
    as_they_are, joined = sorted(encoded, key=lambda row: row["batch_bytes"])
    assert joined["raw_bytes"] == as_they_are["raw_bytes"]
    assert joined["batches"] < as_they_are["batches"]
    assert joined["stored_bytes"] < as_they_are["stored_bytes"]


def test_headers_of_batches_count(run_job: RunJob, tmp_path: Path):
    """A thousand batches of a record: most of what they take is their headers."""
    written = simple_batches(1000, 1)
    segment = write_segment(partition_directory(tmp_path), written)
    size, headers = segment.stat().st_size, HEADER_BYTES * len(written)
    words = ("--path", str(tmp_path), "--every", "1", "--codecs", "none")
    found = run_job(JOB, *words, "--batch-bytes", "0,100000").tables["codecs"].to_pylist()
    by_name = {(row["codec"], row["batch_bytes"]): row for row in found}
    for name in (("stored", 0), ("none", 0)):
        assert (by_name[name]["stored_bytes"], by_name[name]["ratio"]) == (size, 1)
        assert by_name[name]["mean_batch_bytes"] == size / 1000
    row = by_name["none", 100_000]
    assert row["batches"] == 1
    assert row["stored_bytes"] == row["mean_batch_bytes"] == size - headers + HEADER_BYTES
    assert row["ratio"] == pytest.approx(size / row["stored_bytes"])


def test_sizes_that_join_nothing(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(20))
    words = ("--path", str(tmp_path), "--codecs", "zstd:1", "--batch-bytes")
    for sizes in ("100", "0,100,200"):
        rows = run_job(JOB, *words, sizes).tables["codecs"].to_pylist()
        assert sorted((row["codec"], row["batch_bytes"]) for row in rows) == [
            ("stored", 0),
            ("zstd", 0),
        ]
    rows = run_job(JOB, *words, "100,2000").tables["codecs"].to_pylist()
    assert {row["batch_bytes"] for row in rows} == {0, 2000}


def test_samples_of_a_small_topic_are_all_of_it(run_job: RunJob, tmp_path: Path):
    """Its first batches are not like the others."""
    batches = [*simple_batches(2), *simple_batches(12, 200, base_offset=20, codec=4)]
    write_segment(partition_directory(tmp_path), batches)
    words = ("--path", str(tmp_path), "--codecs", "none")
    rows = run_job(JOB, *words).tables["codecs"].to_pylist()
    assert {row["batches"] for row in rows} == {14}
    assert next(row["ratio"] for row in rows if row["codec"] == "stored") > 2
    few = run_job(JOB, *words, "--most", str(sum(map(len, batches)) // 4 + 1))
    assert {row["batches"] for row in few.tables["codecs"].to_pylist()} == {4}


def test_a_picture_of_many_sizes():
    """The axes keep their room, and every size has a marker of its own."""
    rows = [
        {"topic": "t", "codec": codec, "level": level, "batch_bytes": size}
        | {"ratio": 2.0 + level + size / 1e6, "encode_mb_per_second": 100.0 / level}
        for codec in ("gzip", "lz4", "zstd")
        for level in (1, 3, 9)
        for size in (0, 1000, 16_384, 65_536, 100_000, 1_000_000, 4_000_000, 8_000_000)
    ]
    made = draw_codecs("t", rows, 1.5)
    made.canvas.draw()
    (axes,) = made.axes
    box = axes.get_position()
    assert box.width > 0.6
    assert box.height > 0.6
    assert axes.get_ylim()[0] >= 0
    (legend,) = made.legends
    frame = legend.get_window_extent()
    assert frame.x0 >= axes.get_window_extent().x1
    assert frame.y0 >= 0
    markers = [line.get_marker() for line in legend.get_lines()]
    assert len(set(markers) - {"None", None, ""}) == 7


def test_nothing_compressed_is_no_picture(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(3))
    outcome = run_job(JOB, "--path", str(tmp_path), "--codecs", "none")
    assert JOB.draw is not None
    assert JOB.draw(outcome) is None


def test_neighbours_are_joined_in_one_pass():
    """A small batch a time must not look again at all those before it."""

    class Counted(bytes):
        looked_at = 0

        def __len__(self) -> int:
            Counted.looked_at += 1
            return super().__len__()

    records: list[bytes] = [Counted(20)] * 20_000
    assert list(map(len, joined(records, 300_000))) == [300_000, 100_000]
    assert Counted.looked_at <= 2 * len(records)
    assert joined(records, 0) is records


def test_candidates():
    assert [each[:] for each in candidates("gzip:1,zstd")] == [(1, 1), (4, None)]
    for wrong in ("gzip:0", "zstd:23", "brotli", "snappy:1", "gzip:x", "zstd:²", "lz4:--1"):
        with pytest.raises(ArgumentTypeError):
            candidates(wrong)

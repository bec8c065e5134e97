"""Copies that are equal, and copies with one thing changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pykbroker.offline import batches
from pykbroker.protocol.record_batch import build_batch, compute_crc
from spark_jobs.parts.results import Outcome
from spark_jobs.replica_difference import JOB
from tests.harness.flights import COUNT
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment
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
    assert outcome.notes[0].startswith("The other copy is a prefix of this one")
    (row,) = outcome.tables["partitions"].to_pylist()
    assert row["end_there"] == rows[-1]["base_offset"] < row["end_here"]
    assert row["equal"] == len(rows) - 1


def two_copies(root: Path) -> tuple[Path, Path]:
    """Of twenty batches of ten records; the files."""
    names = (root / "here", root / "there")
    here, there = (write_segment(partition_directory(each), simple_batches(20)) for each in names)
    return here, there


def flip(path: Path, *positions: int) -> None:
    payload = bytearray(path.read_bytes())
    for position in positions:
        payload[position] ^= 1
    path.write_bytes(payload)


def compare(run_job: RunJob, root: Path, *words: str) -> Outcome:
    return run_job(JOB, "--path", str(root / "here"), "--other", str(root / "there"), *words)


@pytest.mark.parametrize("by", ["batches", "records"])
@pytest.mark.parametrize("damaged", [("here",), ("there",), ("here", "there")])
def test_a_batch_that_cannot_be_read(
    run_job: RunJob, tmp_path: Path, by: str, damaged: tuple[str, ...]
):
    """All headers are equal, whichever copy is damaged; where both are, all bytes are."""
    files = dict(zip(("here", "there"), two_copies(tmp_path), strict=True))
    fifth = batches(str(tmp_path / "here"))["position"][5].as_py()
    for name in damaged:
        flip(files[name], fifth + 100)
    outcome = compare(run_job, tmp_path, "--by", by)
    assert outcome.exit_code == 1
    assert not outcome.summary["is_equal"]
    assert not outcome.summary["is_prefix"]
    for name in files:
        assert outcome.summary[f"damaged_batches_{name}"] == (name in damaged)
    assert outcome.notes[0].startswith("Batches cannot be read: 1 ")
    found = outcome.tables["damage"].to_pylist()
    assert [(row["copy"], row["position"]) for row in found] == [(name, fifth) for name in damaged]
    if by == "batches":
        assert (outcome.summary["damaged"], outcome.summary["equal"]) == (1, 19)
        (row,) = outcome.tables["differences"].to_pylist()
        assert (row["offset"], row["kind"]) == (50, "damaged")


def test_a_length_that_is_broken_in_both(run_job: RunJob, tmp_path: Path):
    """No header tells of such a batch."""
    for path in two_copies(tmp_path):
        at = batches(str(path.parent))["position"][5].as_py()
        payload = bytearray(path.read_bytes())
        payload[at + 8 : at + 12] = b"\0\0\0\0"
        path.write_bytes(payload)
    outcome = compare(run_job, tmp_path)
    assert not outcome.summary["is_equal"]
    assert outcome.summary["damaged_batches_here"] == 1
    assert outcome.summary["damaged_batches_there"] == 1


@pytest.mark.parametrize("by", ["batches", "records"])
def test_a_copy_that_begins_later(run_job: RunJob, tmp_path: Path, by: str):
    for name, bases in (("here", (0, 100)), ("there", (100,))):
        directory = partition_directory(tmp_path / name)
        for base in bases:
            write_segment(directory, simple_batches(10, base_offset=base), base)
    outcome = compare(run_job, tmp_path, "--by", by)
    assert outcome.exit_code == 1
    assert not outcome.summary["is_equal"]
    assert not outcome.summary["is_prefix"]
    assert outcome.summary["partitions_starting_later_there"] == 1
    assert outcome.notes[0] == ("Equal where both are; of the partitions 1 begins later there")


RANGES = {
    "since": ("--since", BASE_MS + 15),
    "until": ("--until", BASE_MS + 15),
    "both": ("--since", BASE_MS + 5, "--until", BASE_MS + 27),
    "offsets": ("--option", 'startingOffsets={"t":{"0":15}}'),
}


@pytest.mark.parametrize(
    "name,count", [("since", 25), ("until", 15), ("both", 22), ("offsets", 25)]
)
def test_ranges_of_records_in_other_batches(run_job: RunJob, tmp_path: Path, name: str, count: int):
    write_segment(partition_directory(tmp_path / "here"), simple_batches(4, 10))
    write_segment(partition_directory(tmp_path / "there"), simple_batches(40, 1))
    outcome = compare(run_job, tmp_path, "--by", "records", *map(str, RANGES[name]))
    assert outcome.notes[0] == "The copies are equal"
    assert outcome.summary["equal"] == count
    assert outcome.exit_code == 0


def test_a_range_that_a_copy_does_not_reach_the_end_of(run_job: RunJob, tmp_path: Path):
    write_segment(partition_directory(tmp_path / "here"), simple_batches(4, 10))
    write_segment(partition_directory(tmp_path / "there"), simple_batches(33, 1))
    words = ("--by", "records", "--since", str(BASE_MS + 15))
    outcome = compare(run_job, tmp_path, *words)
    assert outcome.summary["is_prefix"]
    assert outcome.summary["equal"] == 18
    assert outcome.exit_code == 1


def test_differences_are_drawn_where_they_are(run_job: RunJob, tmp_path: Path):
    """However few of them are listed."""
    write_segment(partition_directory(tmp_path / "here"), simple_batches(20))
    write_segment(partition_directory(tmp_path / "there"), simple_batches(20, size=41))
    outcome = compare(run_job, tmp_path, "--most", "2", "--by", "records")
    assert outcome.tables["differences"].num_rows == 2
    spots = outcome.tables["spots"].to_pylist()
    assert spots[-1]["offset"] == 199
    assert sum(row["count"] for row in spots) == outcome.summary["differing"] == 200


def test_it_reads_all():
    for words in ("--mode FAILFAST", "--option verifyChecksums=false"):
        with pytest.raises(SystemExit) as ended:
            JOB.parse(["--path", "x", "--other", "y", *words.split()])
        assert ended.value.code == 2


def test_a_partition_in_which_nothing_is_left(run_job: RunJob, tmp_path: Path):
    """Retention has taken all of the other copy: it is there, and begins where it ends."""
    write_segment(partition_directory(tmp_path / "here"), simple_batches(3))
    (partition_directory(tmp_path / "there") / f"{30:020d}.log").touch()
    words = ("--path", str(tmp_path / "here"), "--other", str(tmp_path / "there"))
    outcome = run_job(JOB, *words)
    (row,) = outcome.tables["partitions"].to_pylist()
    names = ("start_here", "end_here", "start_there", "end_there")
    assert [row[name] for name in names] == [0, 30, 30, 30]
    assert outcome.summary["partitions_in_one_copy_only"] == 0
    assert outcome.summary["partitions_starting_later_there"] == 1
    assert outcome.exit_code == 1


HEADERS: list[list[tuple[str, bytes | None]]] = [
    [],
    [("a", None)],
    [("a", b"")],
    [("a", b"b")],
    [("a", None), ("b", None)],
    [("b", None), ("a", None)],
    [("a", b"b"), ("a", b"b")],
]


def test_headers_that_differ(run_job: RunJob, tmp_path: Path):
    """Each list of headers against each: a null is no empty value, nor nothing."""
    for name, kinds in (
        ("here", [each for each in HEADERS for _ in HEADERS]),
        ("there", HEADERS * len(HEADERS)),
    ):
        rows = [(b"k", b"v", BASE_MS, headers) for headers in kinds]
        write_segment(partition_directory(tmp_path / name), [bytes(build_batch(rows))])
    outcome = compare(run_job, tmp_path, "--by", "records")
    assert outcome.summary["equal"] == len(HEADERS)
    found = {row["offset"] for row in outcome.tables["differences"].to_pylist()}
    assert found == set(range(len(HEADERS) ** 2)) - set(range(0, 100, len(HEADERS) + 1))

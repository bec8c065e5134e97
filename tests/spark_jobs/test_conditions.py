"""`--option where=...`: a job takes the records that are wanted, or refuses by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import open_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.spark import OptionError
from pykbroker.testing import Broker
from spark_jobs import codec_what_if, find, replay, timestamp_disorder
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment
from tests.spark_jobs.conftest import RunJob

A_KEY = ("--option", "where=key = 'key-3'")
QUICK = ("--every", "1", "--codecs", "zstd:1")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Seventy records of seven keys, ten in each batch."""
    write_segment(partition_directory(tmp_path), simple_batches(7))
    return tmp_path


@pytest.mark.parametrize("pace", ["max", "100"])
def test_replay(run_job: RunJob, logs: Path, live_broker: Broker, pace: str):
    to = f"one-key-{pace}"
    words = ("--path", str(logs), "--to", to, "--topic-config", "retention.ms=-1", "--pace", pace)
    servers = ("--bootstrap-servers", live_broker.bootstrap_servers)
    assert run_job(replay.JOB, *words, *servers, *A_KEY).summary["records"] == 10
    found = open_log(str(live_broker.data_dir), to, columns=["key"]).read_all()
    assert found["key"].to_pylist() == [b"key-3"] * 10


def test_timestamp_disorder(run_job: RunJob, tmp_path: Path):
    """Of those that are wanted, the largest so far: whatever stands between them."""
    times = [[(b"a", 100)], [(b"b", 50), (b"a", 60), (b"b", 70), (b"b", 65)]]
    base = 0
    for segment in times:
        rows = [(key, b"v", BASE_MS + at, ()) for key, at in segment]
        batch = bytes(build_batch(rows, base_offset=base))
        write_segment(partition_directory(tmp_path), [batch], base)
        base += len(rows)

    def disorder(where: str) -> tuple[int, int, int, int | None]:
        words = ("--path", str(tmp_path), "--option", f"where={where}")
        (row,) = run_job(timestamp_disorder.JOB, *words).tables["disorder"].to_pylist()
        return tuple(
            row[name] for name in ("records", "late_records", "late_max_ms", "missing_offsets")
        )

    assert disorder("partition = 0") == (5, 4, 50, 0)
    assert disorder("key = 'b'") == (3, 1, 5, None)
    assert disorder("timestamp < '2023-11-14T22:13:20.080Z'") == (4, 1, 5, None)


@pytest.mark.parametrize("where", ["key = 'key-3'", "value is not null", "offset in (1, 33)"])
def test_samples_are_of_whole_batches(run_job: RunJob, logs: Path, where: str):
    with pytest.raises(OptionError, match="option where: whole batches are read"):
        run_job(codec_what_if.JOB, "--path", str(logs), *QUICK, "--option", f"where={where}")


def test_samples_of_a_range(run_job: RunJob, logs: Path):
    where = ("--option", "where=offset >= 50 and partition = 0")
    outcome = run_job(codec_what_if.JOB, "--path", str(logs), *QUICK, *where)
    assert {row["batches"] for row in outcome.tables["codecs"].to_pylist()} == {2}


def test_find_has_conditions_of_its_own():
    with pytest.raises(SystemExit) as ended:
        find.JOB.parse(["--path", "x", "--key", "k", "--option", "where=partition = 0"])
    assert ended.value.code == 2

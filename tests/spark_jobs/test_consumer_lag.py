"""Commits of a group, one by one, and how far it is behind."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from pykbroker.offline import OfflineError, UnknownTopic, batches
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.record_batch import build_batch
from pykbroker.spark.faults import OptionError
from spark_jobs.consumer_lag import JOB, commit_options
from spark_jobs.parts.results import Outcome
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment
from tests.offline.test_internal_topics import prefixed, write
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import COMMITS, GROUP, FlightLogs


def test_history_and_lag(run_job: RunJob, logs: FlightLogs, flight_frame: pd.DataFrame):
    outcome = run_job(JOB, "--path", logs.path)
    history = outcome.tables["history"].to_pandas()
    assert set(history["group"]) == {GROUP}
    found = history.groupby("partition")["committed_offset"].apply(tuple).to_dict()
    assert found == COMMITS
    ends = flight_frame.groupby("partition_of_flights").size()
    lag = outcome.tables["lag"].to_pandas().set_index("partition")
    expected = {each: max(0, ends[each] - offsets[-1]) for each, offsets in COMMITS.items()}
    assert lag["lag"].to_dict() == expected
    assert lag["log_end_offset"].to_dict() == {each: ends[each] for each in COMMITS}
    assert outcome.summary["total_lag_records"] == sum(expected.values())


def test_the_lag_at_that_time(run_job: RunJob, logs: FlightLogs):
    """All flights are of 2013: whenever the group committed, they were all there."""
    history = run_job(JOB, "--path", logs.path).tables["history"].to_pylist()
    for row in history:
        if row["log_end_offset"] is not None:
            assert row["lag"] == row["log_end_offset"] - row["committed_offset"] >= 0
    assert sum(row["lag"] is not None for row in history) >= 5


def test_other_groups_and_topics(run_job: RunJob, ours: FlightLogs):
    assert run_job(JOB, "--path", ours.path, "--topics", "planes").summary["commits"] == 0
    every = run_job(JOB, "--path", ours.path).summary["commits"]
    for pattern, expected in (("fl.*", every), ("planes", 0)):
        found = run_job(JOB, "--path", ours.path, "--topic-pattern", pattern)
        assert found.summary["commits"] == expected


def test_names_that_are_nowhere(run_job: RunJob, ours: FlightLogs):
    with pytest.raises(OfflineError, match=f"no commits of group 'nobody' .* there are {GROUP}"):
        run_job(JOB, "--path", ours.path, "--group", "nobody")
    with pytest.raises(UnknownTopic, match=r"no topic 'fligths' .* there are flights"):
        run_job(JOB, "--path", ours.path, "--topics", "flights,fligths")
    # Nothing of it at that time is no mistake.
    for words in (("--since", "2100-01-01"), ("--topics", "planes")):
        assert run_job(JOB, "--path", ours.path, "--group", GROUP, *words).summary["commits"] == 0


def test_the_picture_shows_the_lag():
    place = {"group": "g", "topic": "t", "partition": 0}
    rows = [
        place | {"committed_at_ms": 1000 * n, "committed_offset": n, "lag": 10 - n}
        for n in range(1, 4)
    ]
    tables = {
        "lag": pa.Table.from_pylist([place | {"lag": 7}]),
        "history": pa.Table.from_pylist(rows),
    }
    assert JOB.draw is not None
    _, right = JOB.draw(Outcome(tables)).axes
    (line,) = right.lines
    assert line.get_ydata().tolist() == [9, 8, 7]
    assert line.get_marker() == "o"
    assert "behind" in right.get_ylabel()


def test_isolation_is_not_a_choice():
    for words in (["--isolation", "read_committed"], ["--option", "isolation=read_uncommitted"]):
        with pytest.raises(SystemExit) as ended:
            JOB.parse(["--path", "x", *words])
        assert ended.value.code == 2


def test_commits_of_aborted_transactions_are_not_read():
    options = commit_options(JOB.parse(["--path", "x", "--topics", "flights"]))
    assert options["isolation"] == "read_committed"
    assert options["subscribe"] == "__consumer_offsets"


def test_a_pattern_that_fits_nothing(run_job: RunJob, ours: FlightLogs):
    with pytest.raises(UnknownTopic, match="match the pattern 'flihgts'"):
        run_job(JOB, "--path", ours.path, "--topic-pattern", "flihgts")
    with pytest.raises(UnknownTopic, match="match the pattern ''"):
        run_job(JOB, "--path", ours.path, "--topic-pattern", "")
    with pytest.raises(UnknownTopic, match="match the pattern 'fl'"):  # it is of whole names
        run_job(JOB, "--path", ours.path, "--topic-pattern", "fl")
    found = run_job(JOB, "--path", ours.path, "--topic-pattern", "pla.*")  # never consumed
    assert found.tables["lag"].num_rows == 0


def commit(offset: int, at_ms: int, topic: str = "t") -> tuple[bytes, bytes]:
    key = OffsetCommitKey(group="g", topic=topic, partition=0)
    value = OffsetCommitValue(offset=offset, metadata="", commit_timestamp=at_ms)
    return prefixed(1, key, 0), prefixed(3, value, 3)


def test_the_lag_of_each_commit_however_long_the_log(run_job: RunJob, tmp_path: Path):
    """Of 12,000 batches; not in order of time, and some without one."""
    chance = random.Random(5)
    times = [chance.choice([-1, at + chance.randrange(-50, 50)]) for at in range(1000, 13_000)]
    records = [
        bytes(build_batch([(None, b"", at, ())], base_offset=n)) for n, at in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), records)
    moments = [chance.randrange(800, 13_500) for _ in range(300)]
    write(tmp_path, "__consumer_offsets", [commit(0, at) for at in moments])
    outcome = run_job(JOB, "--path", str(tmp_path))
    for at, row in zip(moments, outcome.tables["history"].to_pylist(), strict=True):
        there = [offset for offset, time in enumerate(times) if 0 <= time <= at]
        assert row["committed_at_ms"] == at
        assert row["lag"] == row["log_end_offset"] == (there[-1] + 1 if there else None)


@pytest.fixture
def consumed(tmp_path: Path) -> Path:
    """Hundred records of which seven are consumed; the high watermark is at 40."""
    write_segment(partition_directory(tmp_path), simple_batches(10))
    write(tmp_path, "__consumer_offsets", [commit(7, BASE_MS + 500)])
    checkpoint = "0\n2\nt 0 40\n__consumer_offsets 0 1\n"
    (tmp_path / "replication-offset-checkpoint").write_text(checkpoint)
    return tmp_path


def test_damage_in_what_was_consumed(run_job: RunJob, consumed: Path):
    path = consumed / "t-0" / f"{0:020d}.log"
    content = bytearray(path.read_bytes())
    at = batches(str(consumed), "t")["position"][4].as_py()
    content[at + 8 : at + 12] = struct.pack(">i", 5)
    path.write_bytes(content)
    words = ("--path", str(consumed))
    outcome = run_job(JOB, *words, "--mode", "PERMISSIVE")
    (row,) = outcome.tables["history"].to_pylist()
    assert (row["log_end_offset"], row["lag"]) == (100, 93)
    with pytest.raises(Exception, match="CorruptSegment"):
        run_job(JOB, *words)


def test_ends_by_the_high_watermark(run_job: RunJob, consumed: Path):
    outcome = run_job(JOB, "--path", str(consumed), "--option", "endBound=hw")
    for table in ("lag", "history"):
        (row,) = outcome.tables[table].to_pylist()
        assert (row["log_end_offset"], row["lag"]) == (40, 33)


def test_options_that_are_of_the_commits(run_job: RunJob, consumed: Path):
    """They say nothing of the logs that were consumed."""
    for option in ("where=offset = 0", "endingOffsets=latest", "startingTimestamp=1"):
        outcome = run_job(JOB, "--path", str(consumed), "--option", option)
        (row,) = outcome.tables["history"].to_pylist()
        assert row["lag"] == 93


@pytest.mark.parametrize("option", ["subscribe=t", "subscribePattern=t", 'assign={"t":[0]}'])
def test_the_topics_are_not_an_option(option: str):
    with pytest.raises(SystemExit) as ended:
        JOB.parse(["--path", "x", "--option", option])
    assert ended.value.code == 2


def test_no_name_between_commas(run_job: RunJob, consumed: Path):
    with pytest.raises(OptionError, match="one or more topics"):
        run_job(JOB, "--path", str(consumed), "--topics", ",")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--topic-pattern", "."),
        ("--topics", "t"),
        ("--group", "g"),
        ("--option", "where=offset < 9"),
    ],
)
def test_records_that_cannot_be_decoded(run_job: RunJob, tmp_path: Path, words: tuple[str, ...]):
    """A version to come, one that ends too early, a type to come; the commits are all sound."""
    key, value = commit(5, BASE_MS)
    legacy = prefixed(0, LegacyOffsetCommitKey(group="g", topic="t", partition=0), 0)
    faults = [(key, struct.pack(">h", 77)), (legacy, value[:9]), (struct.pack(">h", 99), b"")]
    of_a_group = prefixed(2, GroupMetadataKey(group="g"), 0), struct.pack(">h", 77)  # no commit
    rows = [commit(3, BASE_MS), *faults, of_a_group, (key, value)]
    write(tmp_path, "__consumer_offsets", rows)
    outcome = run_job(JOB, "--path", str(tmp_path), *words)
    assert [row["committed_offset"] for row in outcome.tables["history"].to_pylist()] == [3, 5]
    assert outcome.summary["undecodable_records"] == 3
    assert (outcome.summary["commits"], outcome.tables["lag"].num_rows) == (2, 1)


def test_names_that_are_nowhere_beside_a_record_that_cannot_be_decoded(
    run_job: RunJob, tmp_path: Path
):
    rows = [commit(3, BASE_MS), (commit(5, BASE_MS)[0], struct.pack(">h", 77))]
    write(tmp_path, "__consumer_offsets", rows)
    words = ("--path", str(tmp_path), "--since", "2030-01-01")
    with pytest.raises(OfflineError, match=r"no commits of group 'nobody' .* there are g$"):
        run_job(JOB, *words, "--group", "nobody")
    with pytest.raises(UnknownTopic, match=r"no topic 'u' .* there are t$"):
        run_job(JOB, *words, "--topics", "u")
    with pytest.raises(UnknownTopic, match=r"match the pattern 'u' .* there are __.*, t$"):
        run_job(JOB, *words, "--topic-pattern", "u")


def test_a_deletion_in_the_format_of_old_brokers(run_job: RunJob, tmp_path: Path):
    """That of before 0.9."""
    legacy = prefixed(0, LegacyOffsetCommitKey(group="g", topic="t", partition=0), 0)
    write(tmp_path, "__consumer_offsets", [commit(3, BASE_MS), (legacy, None)])
    outcome = run_job(JOB, "--path", str(tmp_path))
    assert outcome.tables["lag"].num_rows == 0
    assert outcome.summary["commits"] == 1

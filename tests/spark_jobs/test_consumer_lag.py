"""Commits of a group, one by one, and how far it is behind."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from pykbroker.offline import OfflineError, UnknownTopic
from spark_jobs.consumer_lag import JOB, commit_options
from spark_jobs.results import Outcome
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
    assert outcome.summary["total_lag"] == sum(expected.values())


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
    with pytest.raises(UnknownTopic, match="fit the pattern 'flihgts'"):
        run_job(JOB, "--path", ours.path, "--topic-pattern", "flihgts")
    with pytest.raises(UnknownTopic, match="fit the pattern 'fl'"):  # it is of whole names
        run_job(JOB, "--path", ours.path, "--topic-pattern", "fl")
    found = run_job(JOB, "--path", ours.path, "--topic-pattern", "pla.*")  # never consumed
    assert found.tables["lag"].num_rows == 0

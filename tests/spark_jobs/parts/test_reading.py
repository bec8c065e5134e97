"""Arguments become options of the data source."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from pykbroker.offline import UnknownTopic
from spark_jobs.fsck import JOB as FSCK
from spark_jobs.key_skew import JOB
from spark_jobs.parts.job import Job
from spark_jobs.parts.reading import (
    add_arguments,
    check_logs,
    positive,
    source_options,
    time_ms,
)
from spark_jobs.replay import JOB as REPLAY
from spark_jobs.replica_difference import JOB as REPLICA_DIFFERENCE
from spark_jobs.transactions import JOB as TRANSACTIONS
from tests.offline.samples import partition_directory, simple_batches, write_segment


def test_defaults():
    arguments = JOB.parse(["--path", "/logs"])
    assert source_options(arguments) == {
        "path": "/logs",
        "isolation": "read_uncommitted",
        "mode": "FAILFAST",
    }


def test_everything():
    words = ["--path", "/a,/b", "--topics", "x,y", "--since", "2013-01-01", "--until", "2013-02-01"]
    more = ["--isolation", "read_committed", "--mode", "PERMISSIVE", "--option", "splitBytes=1m"]
    arguments = JOB.parse([*words, *more])
    assert source_options(arguments, ("key", "offset")) == {
        "path": "/a,/b",
        "subscribe": "x,y",
        "startingTimestamp": "1356998400000",
        "startingOffsetsByTimestampStrategy": "latest",
        "endingTimestamp": "1359676800000",
        "isolation": "read_committed",
        "mode": "PERMISSIVE",
        "columns": "key,offset",
        "splitBytes": "1m",
    }


def test_a_job_may_have_its_own_default():
    words = ["--path", "/logs", "--bootstrap-servers", "h:1"]
    assert source_options(REPLAY.parse(words))["isolation"] == "read_committed"
    words += ["--isolation", "read_uncommitted"]
    assert source_options(REPLAY.parse(words))["isolation"] == "read_uncommitted"


@pytest.mark.parametrize(
    "text, value",
    [
        ("100000000000", 100_000_000_000),
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("2013-01-01T05:00:00Z", 1357016400000),
    ],
)
def test_times(text: str, value: int):
    assert time_ms(text) == value


@pytest.mark.parametrize(
    "wrong, told",
    [
        ("yesterday", "neither ISO 8601 nor ms"),
        ("²", "neither ISO 8601 nor ms"),
        ("1969-12-31", "is before 1970"),
        ("2013", "is too early for ms: write ISO 8601, or ms since 1970"),
        ("20130601", "is too early for ms"),
        ("1370044800", "is too early for ms"),
        ("1370044800000000", "is after the year 9000"),
        ("9999-12-31", "is after the year 9000"),
    ],
)
def test_what_is_no_time(wrong: str, told: str):
    with pytest.raises(argparse.ArgumentTypeError, match=told):
        time_ms(wrong)


def test_a_range_that_is_read_backwards(capsys: pytest.CaptureFixture[str]):
    words = ["--path", "/logs", "--since", "2025-11-25", "--until"]
    for job in (JOB, TRANSACTIONS):
        with pytest.raises(SystemExit) as ended:
            job.parse([*words, "2025-11-24"])
        assert ended.value.code == 2
        assert "--since (1764028800000 ms) is later than --until" in capsys.readouterr().err
        assert job.parse([*words, "2025-11-25"]).until == 1764028800000


@pytest.mark.parametrize(
    "argument, option",
    [
        (("--topics", "a"), "subscribe"),
        (("--topics", "a"), "Assign"),
        (("--topic-pattern", "a.*"), "subscribePattern"),
        (("--since", "1970-01-01"), "startingOffsets"),
        (("--since", "1970-01-01"), "startingOffsetsByTimestampStrategy"),
        (("--until", "1970-01-01"), "endingTimestamp"),
    ],
)
def test_the_same_said_twice(
    argument: tuple[str, str], option: str, capsys: pytest.CaptureFixture[str]
):
    """Neither would say that the other one is what counts."""
    words = ["--path", "/logs", "--option", f"{option}=x"]
    assert source_options(JOB.parse(words))[option] == "x"
    for more, told in (
        (argument, f"use {argument[0]} in place of --option {option}"),
        (("--option", f"{option.lower()}=y"), f"--option {option.lower()} is given twice"),
    ):
        with pytest.raises(SystemExit) as ended:
            JOB.parse([*words, *more])
        assert ended.value.code == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("job", [JOB, FSCK, REPLICA_DIFFERENCE], ids=lambda job: job.name)
@pytest.mark.parametrize(
    "option, argument",
    [
        ("path=/x", "--path"),
        ("PATHS=/x", "--path"),
        ("isolation=read_uncommitted", "--isolation"),
        ("kafka.isolation.level=read_committed", "--isolation"),
        ("mode=PERMISSIVE", "--mode"),
    ],
)
def test_what_an_argument_always_says(
    job: Job, option: str, argument: str, capsys: pytest.CaptureFixture[str]
):
    """It would count behind the argument's back: batches left out, and none of them told."""
    words = ["--path", "/logs", *(["--other", "/x"] if job is REPLICA_DIFFERENCE else [])]
    with pytest.raises(SystemExit) as ended:
        job.parse([*words, "--option", option])
    assert ended.value.code == 2
    name = option.partition("=")[0]
    has_it = argument.removeprefix("--") not in job.without
    why = f"use {argument} in place of --option {name}" if has_it else f"{name} is not an option"
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("job", [JOB, TRANSACTIONS, REPLAY, FSCK], ids=lambda job: job.name)
@pytest.mark.parametrize("wrong", ["view=batches", "columns=offset", "Columns=key"])
def test_views_and_columns_are_the_jobs_own(
    job: Job, wrong: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        job.parse(["--path", "/logs", "--option", wrong])
    assert ended.value.code == 2
    assert "is not an option of this job" in capsys.readouterr().err


@pytest.mark.parametrize("job", [FSCK, REPLICA_DIFFERENCE, TRANSACTIONS], ids=lambda job: job.name)
def test_a_pattern_that_fits_nothing(job: Job, tmp_path: Path):
    """It would be found sound, and equal, for ever."""
    write_segment(partition_directory(tmp_path / "logs", "orders"), simple_batches(1))
    words = ["--path", str(tmp_path / "logs"), "--quiet", "--out", str(tmp_path / "out")]
    other = ["--other", str(tmp_path / "logs")] if job is REPLICA_DIFFERENCE else []
    with pytest.raises(UnknownTopic, match="matches the pattern 'ordres'"):
        job.check(job.parse([*words, *other, "--topic-pattern", "ordres"]))
    check_logs(job.parse([*words, *other, "--topic-pattern", "ord.*"]))


@pytest.mark.parametrize("wrong", ["splitBytes", "=1"])
def test_what_is_no_option(wrong: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        JOB.parse(["--path", "/logs", "--option", wrong])
    assert ended.value.code == 2
    assert f"'{wrong}' is not NAME=VALUE" in capsys.readouterr().err


def test_options_of_names_and_numbers():
    given = JOB.parse(["--path", "/logs", "--option", "splitBytes=64m", "--option", "a=b=c"])
    found = source_options(given)
    assert (found["splitBytes"], found["a"]) == ("64m", "b=c")
    assert positive("12") == 12
    for wrong in ("0", "-1", "many", "1.5", "²"):
        with pytest.raises(argparse.ArgumentTypeError):
            positive(wrong)


def test_what_a_job_does_not_take(capsys: pytest.CaptureFixture[str]):
    def parse(*words: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        add_arguments(parser, ("since", "isolation", "where"))
        return parser.parse_args(["--path", "x", *words])

    for wrong in (
        ("--since", "1970-01-01"),
        ("--isolation", "read_committed"),
        ("--option", "where=offset > 3"),
        ("--option", "startingoffsets=latest"),
        ("--option", "kafka.isolation.level=read_committed"),
    ):
        with pytest.raises(SystemExit) as ended:
            parse(*wrong)
        assert ended.value.code == 2
        assert (
            "unrecognized" in (told := capsys.readouterr().err)
            or "not an option of this job" in told
        )
    taken = parse("--until", "1970-01-01", "--option", "splitBytes=1m")
    assert (taken.since, taken.until, taken.isolation) == (None, 0, "read_uncommitted")

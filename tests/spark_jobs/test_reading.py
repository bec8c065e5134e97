"""Arguments become options of the data source."""

from __future__ import annotations

import argparse

import pytest

from spark_jobs.key_skew import JOB
from spark_jobs.reading import add_arguments, positive, selection, source_options, time_ms
from spark_jobs.replay import JOB as REPLAY


def test_defaults():
    arguments = JOB.parse(["--path", "/logs"])
    assert source_options(arguments) == {
        "path": "/logs",
        "isolation": "read_uncommitted",
        "mode": "FAILFAST",
    }


def test_everything():
    words = ["--path", "/a,/b", "--topics", "x,y", "--since", "2013-01-01", "--until", "5"]
    more = ["--isolation", "read_committed", "--mode", "PERMISSIVE", "--option", "splitBytes=1m"]
    arguments = JOB.parse([*words, *more])
    assert source_options(arguments, ("key", "offset")) == {
        "path": "/a,/b",
        "subscribe": "x,y",
        "startingTimestamp": "1356998400000",
        "startingOffsetsByTimestampStrategy": "latest",
        "endingTimestamp": "5",
        "isolation": "read_committed",
        "mode": "PERMISSIVE",
        "columns": "key,offset",
        "splitBytes": "1m",
    }
    chosen = selection(arguments)
    assert (chosen.paths, chosen.topics) == (("/a", "/b"), ("x", "y"))
    assert chosen.isolation == "read_committed"


def test_a_job_may_have_its_own_default():
    words = ["--path", "/logs", "--bootstrap-servers", "h:1"]
    assert source_options(REPLAY.parse(words))["isolation"] == "read_committed"
    words += ["--isolation", "read_uncommitted"]
    assert source_options(REPLAY.parse(words))["isolation"] == "read_uncommitted"


@pytest.mark.parametrize(
    "text, value",
    [
        ("0", 0),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("2013-01-01T05:00:00Z", 1357016400000),
    ],
)
def test_times(text: str, value: int):
    assert time_ms(text) == value


def test_what_is_no_time():
    with pytest.raises(argparse.ArgumentTypeError):
        time_ms("yesterday")


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
    for wrong in ("0", "-1", "many", "1.5"):
        with pytest.raises(argparse.ArgumentTypeError):
            positive(wrong)


def test_what_a_job_does_not_take(capsys: pytest.CaptureFixture[str]):
    def parse(*words: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        add_arguments(parser, ("since", "isolation", "where"))
        return parser.parse_args(["--path", "x", *words])

    for wrong in (
        ("--since", "0"),
        ("--isolation", "read_committed"),
        ("--option", "where=offset > 3"),
        ("--option", "startingoffsets=latest"),
        ("--option", "kafka.isolation.level=read_committed"),
    ):
        with pytest.raises(SystemExit) as ended:
            parse(*wrong)
        assert ended.value.code == 2
        assert (
            "unrecognized" in (told := capsys.readouterr().err) or "no option of this job" in told
        )
    taken = parse("--until", "5", "--option", "splitBytes=1m")
    assert (taken.since, taken.until, taken.isolation) == (None, 5, "read_uncommitted")

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from pykbroker.cli import progress
from pykbroker.cli.main import main
from pykbroker.testing import Broker
from tests.cli.conftest import Member, Outcome, Run
from tests.cli.test_console_consumer import committed_offsets

ALL = [f"v{number}" for number in range(10)]


def test_all_that_is_there(ask: Run, filled: str) -> None:
    outcome = ask("consume", filled)
    assert (outcome.code, sorted(outcome.lines)) == (0, ALL)
    assert outcome.err.startswith("10 records in ")
    assert ask("consume", filled, "--quiet").err == ""


def test_columns(ask: Run, filled: str) -> None:
    outcome = ask("consume", filled, "--show", "all", "--partition", "1", "--max", "1")
    assert outcome.out == "2020-09-13T12:26:40.001Z\t1\t0\t\tk\tv1\n"
    shown = ask("consume", filled, "--show", "key,value", "--value-format", "hex", "--max", "1")
    assert shown.out.startswith("k\t76")


def test_ranges(ask: Run, filled: str) -> None:
    scope = ("consume", filled, "--partition", "0", "--quiet")
    assert ask(*scope, "--from", "3").lines == ["v6", "v8"]
    assert ask(*scope, "--until", "2").lines == ["v0", "v2"]
    late = "2020-09-13T12:26:40.005+00:00"
    assert ask(*scope, "--from", late).lines == ["v6", "v8"]
    assert ask(*scope, "--until", late, "--from", "1").lines == ["v2", "v4"]
    assert ask(*scope, "--from", "1h").lines == []
    assert ask(*scope, "--until", "1h").lines == ["v0", "v2", "v4", "v6", "v8"]
    assert ask(*scope, "--from", "latest").lines == []


def test_filters(ask: Run, filled: str) -> None:
    outcome = ask("consume", filled, "--grep", "v[37]$")
    assert sorted(outcome.lines) == ["v3", "v7"]
    assert outcome.err.startswith("2 records of 10 in ")
    assert ask("consume", filled, "--key", "x").out == ""
    assert len(ask("consume", filled, "--key", "^k", "--max", "4").lines) == 4


def test_lines_of_json(ask: Run, filled: str) -> None:
    (line,) = ask("consume", filled, "--json", "--partition", "1", "--until", "1").lines
    assert json.loads(line) == {
        "topic": filled,
        "partition": 1,
        "offset": 0,
        "timestamp": 1_600_000_000_001,
        "key": "k",
        "value": "v1",
        "headers": [],
    }


def test_a_group_goes_on_where_it_was(ask: Run, broker: Broker, filled: str, group: str) -> None:
    first = ask("consume", filled, "--group", group, "--max", "3")
    assert sum(max(0, each) for each in committed_offsets(broker, group, filled)) == 3
    second = ask("consume", filled, "--group", group)
    assert sorted(first.lines + second.lines) == ALL
    assert committed_offsets(broker, group, filled) == [5, 5]
    assert ask("consume", filled, "--group", group, "--quiet") == Outcome(0, "", "")


def test_a_group_with_members_is_refused(ask: Run, member: Member) -> None:
    outcome = ask("consume", member.topic, "--group", member.group)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"Group {member.group} has 1 member: only without members")


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--from", "yesterday"), "'yesterday' is neither earliest, latest, an offset"),
        (("--follow", "--until", "3"), "Give either --follow or --until, not both"),
        (("--max", "0"), "--max 0: expected at least one record"),
        (("--max", "-1"), "--max -1: expected at least one record"),
        (("--group", "g", "--from", "3"), "--from 3 with --group: a group continues from its"),
        (("--partition", "0,x"), "--partition 0,x: expected numbers, N,N"),
        (("--partition", "7"), "has no partition 7"),
        (("--from", "1700000000000"), "if it is a time in milliseconds, write 2023-11-14T22:13:20"),
        (("--show", "val"), "--show val: known are timestamp, partition,"),
        (("--grep", "("), "--grep (: not a pattern: "),
    ],
)
def test_wrong_usage(ask: Run, topic: str, arguments: tuple[str, ...], why: str) -> None:
    outcome = ask("consume", topic, *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert why in outcome.err


def test_a_topic_that_does_not_exist(ask: Run) -> None:
    outcome = ask("consume", "cli-none")
    assert outcome == Outcome(
        1, "", "Topic cli-none does not exist; pykbroker topics --list shows all\n"
    )
    assert ask("topics", "--describe", "--topic", "cli-none").code == 1, "it was created"


def started(broker: Broker, topic: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A consumer in a process of its own, which follows a topic from its beginning."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "pykbroker", "consume", topic, "--follow"]
    command += ["--bootstrap-server", broker.bootstrap_servers, "--from", "earliest", *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(root)},
    )


def lines_of(stream: IO[bytes] | None, count: int) -> list[bytes]:
    assert stream is not None
    return [stream.readline() for _ in range(count)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_following(
    broker: Broker, filled: str, group: str, number: signal.Signals
) -> None:
    """Cleanly: what was printed is committed, and counts are printed."""
    process = started(broker, filled, "--group", group)
    assert len(set(lines_of(process.stdout, 10))) == 10
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"10 records in ")
    assert err.count(b"\n") == 1
    assert committed_offsets(broker, group, filled) == [5, 5]


def test_nobody_reads(broker: Broker, filled: str) -> None:
    """As `| true` does: what is still in a buffer at the end cannot be written either."""
    command = [
        sys.executable, "-m", "pykbroker", "consume", filled, "--quiet",
        "--bootstrap-server", broker.bootstrap_servers, "--from", "earliest",
    ]  # fmt: skip
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=120)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_reader_goes_away(broker: Broker, filled: str) -> None:
    """As `| head -1` does: no traceback, and an end although no record follows."""
    with started(broker, filled, "--quiet") as process:
        lines_of(process.stdout, 1)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 1


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_progress_and_records_on_one_terminal(
    monkeypatch: pytest.MonkeyPatch, broker: Broker, filled: str
) -> None:
    """A line of progress is erased before a record is printed."""
    written = io.BytesIO()
    terminal = Terminal(written, "utf-8", write_through=True)
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.0)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, terminal)
    servers = broker.bootstrap_servers
    assert main(["consume", filled, "--bootstrap-server", servers, "--grep", "v[0-4]"]) == 0
    text = written.getvalue().decode()
    assert "\x1b[K1 of 10 (10 %) records" in text
    for line in text.split("\n")[:5]:
        assert re.fullmatch(r"v[0-4]", line.rpartition("\x1b[K")[2])


def test_colours_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, broker: Broker, filled: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(written, "utf-8"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLORTERM", raising=False)
    words = ["--bootstrap-server", broker.bootstrap_servers, "--quiet", "--partition", "1"]
    assert main(["consume", filled, "--show", "key,value", "--max", "1", *words]) == 0
    assert written.getvalue() == b"\x1b[32mk\x1b[0m\tv1\n"

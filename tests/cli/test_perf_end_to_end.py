from __future__ import annotations

import re
from typing import Any

import pytest

from pykbroker.cli import perf_end_to_end
from pykbroker.cli.command import CommandError, CommandParser
from tests.cli.conftest import Run
from tests.cli.consumed_record import Consumed
from tests.cli.test_perf_produce import perf

__all__ = ["perf"]  # a fixture

FIXED = ("--num-records", "3", "--producer-acks", "all", "--record-size", "10")


def test_a_run(perf: Run, ask: Run, group: str) -> None:
    topic = f"{group}-end-to-end"
    more = ("--record-key-size", "2", "--num-headers", "2", "--record-header-key-size", "1")
    outcome = perf("end-to-end", "--topic", topic, *FIXED, *more, "--record-header-size", "3")
    assert (outcome.code, outcome.err) == (0, "")
    created, first, average, parts = outcome.lines
    assert created == (
        f'Topic "{topic}" does not exist. Will create topic with 1 partition(s) and replication '
        "factor = 1"
    )
    assert re.fullmatch(r"0\t\d+\.\d+(e-\d+)?", first)
    assert re.fullmatch(r"Avg latency: \d+\.\d{4} ms", average)
    assert re.fullmatch(r"Percentiles: 50th = \d+, 99th = \d+, 99.9th = \d+", parts)
    lines = ask("consume", topic, "--show", "headers,key,value", "--quiet").lines
    assert len(lines) == 3
    assert re.fullmatch(r"[A-Z]=([A-Z])\1\1,[A-Z]=([A-Z])\2\2\t([A-Z])\3\t([A-Z])\4{9}", lines[0])
    again = perf("end-to-end", "--topic", topic, *FIXED)
    assert len(again.lines) == 3


class OneRecord:
    """Both clients: gives back a record that it was made with, whatever is sent."""

    def __init__(self, records: list[Consumed]) -> None:
        self.records = records

    def partitions_for_topic(self, topic: str) -> set[int]:
        return {0}

    def poll(self, timeout_ms: int) -> dict[int, list[Consumed]]:
        return {0: self.records} if self.records else {}

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self


@pytest.mark.parametrize(
    "records, why",
    [
        ([], r"poll\(\) timed out before finding a result"),
        (
            [Consumed(), Consumed()],
            r"Only one result was expected during this test. We found \[2\]",
        ),
        ([Consumed(None, b"other")], r"The message value read \[b'other'\] did not match"),
        ([Consumed(b"k", b"")], r"The message key read \[b'k'\] did not match"),
        ([Consumed(None, b"", (("h", b""),))], r"The message headers read .* did not match"),
    ],
)
def test_what_comes_back_is_compared(records: list[Consumed], why: str) -> None:
    parser = CommandParser()
    perf_end_to_end.add_arguments(parser)
    fixed = ["--topic", "t", "--num-records", "1", "--producer-acks", "1", "--record-size", "0"]
    client = OneRecord(records)
    with pytest.raises(CommandError, match=why):
        perf_end_to_end.measure(client, client, parser.parse_args(fixed))


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--num-records", "0"), "Value for --num-records must be a positive integer."),
        (("--num-headers", "-1"), "Value for --num-headers must be a non-negative integer."),
        (("--producer-acks", "0"), "pykbroker perf end-to-end: argument --producer-acks: invalid"),
    ],
)
def test_wrong_usage(perf: Run, arguments: tuple[str, ...], why: str) -> None:
    outcome = perf("end-to-end", "--topic", "t", *FIXED, *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(why)

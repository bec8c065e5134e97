"""`perf` prints lines of the same shape as Apache's performance tests."""

from __future__ import annotations

import re

import pytest

from pykbroker.cli.main import main
from tests.harness import apache

CLASSES = {
    "produce": apache.PRODUCER_PERFORMANCE,
    "consume": apache.CONSUMER_PERFORMANCE,
    "end-to-end": apache.END_TO_END_LATENCY,
}


def shape(lines: str) -> list[str]:
    """Lines without their numbers; what a clock's rounding makes of one is a number too."""
    return [
        re.sub(r"-?\d+(\.\d+)?(E-?\d+|e-\d+)?|Infinity|NaN", "N", line)
        for line in lines.splitlines()
    ]


def compare(
    capsys: pytest.CaptureFixture[str], name: str, servers: str, *arguments: str
) -> list[str]:
    """The shape of what both print."""
    both = ("--bootstrap-server", servers, *arguments)
    capsys.readouterr()
    code = main(["perf", name, *both])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    ours = shape(printed.out)
    assert ours == shape(apache.run_tool(CLASSES[name], *both))
    return ours


def test_lines(servers: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = ("--reporting-interval", "3600000")
    produced = compare(
        capsys, "produce", servers, "--topic", name, "--num-records", "100", "--record-size", "20",
        "--throughput", "-1", "--warmup-records", "50", *quiet,
    )  # fmt: skip
    assert len(produced) == 3
    # Each reads its own hundred records and the other's.
    timeout = ("--timeout", "120000")
    consumed = compare(
        capsys, "consume", servers, "--topic", name, "--num-records", "200", *timeout
    )
    assert len(consumed) == 2
    # The first run creates a topic of its own; the second finds it.
    end = ("--num-records", "2", "--producer-acks", "all", "--record-size", "8")
    topic = f"{name}-end-to-end"
    main(["perf", "end-to-end", "--bootstrap-server", servers, "--topic", topic, *end])
    assert len(compare(capsys, "end-to-end", servers, "--topic", topic, *end)) == 3

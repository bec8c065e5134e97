from __future__ import annotations

import re
from datetime import datetime

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.perf_consume import DateFormat
from pykbroker.testing import Broker
from tests.cli.conftest import Run
from tests.cli.test_perf_produce import perf

__all__ = ["perf"]  # a fixture

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}"
NUMBERS = r"\d+\.\d{4}, \d+\.\d{4}, \d+, \d+\.\d{4}, \d+, -?\d+, -?\d+\.\d{4}, -?\d+\.\d{4}"
TITLES = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, "
    "fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)

# The default of ten seconds is Apache's; joining a group may take longer on a loaded machine.
PATIENT = ("--timeout", "120000")


def test_a_run(perf: Run, filled: str) -> None:
    outcome = perf("consume", "--topic", filled, "--num-records", "10", "--print-metrics", *PATIENT)
    assert (outcome.code, outcome.err) == (0, "")
    titles, line, *metrics = outcome.lines
    assert titles == f"start.time, end.time, {TITLES}"
    assert re.fullmatch(f"{TIME}, {TIME}, {NUMBERS}", line)
    assert line.split(", ")[4] == "10"
    assert any(each.startswith("consumer-metrics:request-rate") for each in metrics)


def test_details(perf: Run, filled: str) -> None:
    outcome = perf(
        *("consume", "--include", filled, "--messages", "10", "--show-detailed-stats"),
        *("--reporting-interval", "1", "--date-format", "HH:mm", *PATIENT),
    )
    assert outcome.code == 0
    titles, *lines = outcome.lines
    assert titles == f"time, threadId, {TITLES}"
    assert lines
    assert all(re.fullmatch(rf"\d\d:\d\d, 0, {NUMBERS}", line) for line in lines)


def test_too_few_records(perf: Run, filled: str) -> None:
    outcome = perf(
        *("consume", "--topic", filled, "--num-records", "11", "--timeout", "2000"),
        *("--hide-header", "--from-latest"),
    )
    assert outcome.code == 0
    warning, line = outcome.lines
    assert warning == (
        "WARNING: Exiting before consuming the expected number of records: timeout (2000 ms) "
        "exceeded. You can use the --timeout option to increase the timeout."
    )
    assert line.split(", ")[4] == "0"


def test_dates() -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, 6_000)
    assert DateFormat("yyyy-MM-dd HH:mm:ss:SSS").text(time) == "2026-01-02 03:04:05:006"
    assert DateFormat("dd/MM/yy % HHmm").text(time) == "02/01/26 % 0304"
    with pytest.raises(CommandError, match=r"--date-format EEE: EEE is not one of yyyy, yy,"):
        DateFormat("EEE")


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--topic", "t", "--num-records", "1", "--reporting-interval", "0"), "Reporting interval"),
        (("--topic", "t"), "pykbroker perf consume: one of the arguments --num-records"),
        (("--num-records", "1"), "pykbroker perf consume: one of the arguments --topic"),
        (("--topic", "t", "--num-records", "1", "--command-property", "x=1"), "x: the client lib"),
    ],
)
def test_wrong_usage(perf: Run, arguments: tuple[str, ...], why: str) -> None:
    outcome = perf("consume", "--hide-header", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(why)


def test_the_broker_is_not_needed_for_help(run: Run, broker: Broker) -> None:
    assert "perf-consumer-" not in run("perf", "consume", "--help").out

"""What a report makes of turns: figures by hand in place of a clock."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks.micro.turn_report import Report, Stopwatch

SECONDS_OF_A_TURN = {"alone": [40e-6, 20e-6, 30e-6], "followed": [60e-6, 90e-6, 70e-6]}
UNITS = 10


class Turns:
    """Turns of two kinds, in the order in which they ran."""

    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch
        self._left = {kind: list(seconds) for kind, seconds in SECONDS_OF_A_TURN.items()}
        self.ran: list[str] = []

    def of(self, kind: str) -> Callable[[], int]:
        def turn() -> int:
            self.ran.append(kind)
            self._watch.seconds += self._left[kind].pop(0)
            return UNITS

        return turn


def test_a_row_has_the_median_and_the_best_round(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Stopwatch()
    Report(rounds=3, scale=1, profiled=None).row("alone", watch, Turns(watch).of("alone"), 1)
    assert capsys.readouterr().out.split() == ["alone", "3.00", "us", "(best", "2.00)"]


def test_a_pair_alternates_and_tells_the_difference_of_each_round(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watch = Stopwatch()
    turns = Turns(watch)
    report = Report(rounds=3, scale=1, profiled=None)
    report.pair(("one", "three"), watch, (turns.of("alone"), turns.of("followed")), 1)
    assert turns.ran == ["alone", "followed"] * 3
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["one", "3.00", "us", "(best", "2.00)"],
        ["three", "7.00", "us", "(best", "6.00)"],
        ["three,", "on", "top", "of", "one", "4.00", "us", "(best", "2.00)"],
    ]


def test_a_round_is_its_median_turn(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Stopwatch()
    Report(rounds=1, scale=1, profiled=None).row("followed", watch, Turns(watch).of("followed"), 3)
    assert "7.00 us (best 7.00)" in capsys.readouterr().out


def test_only_the_wanted_turns_are_profiled(capsys: pytest.CaptureFixture[str]) -> None:
    watch = Stopwatch()
    turns = Turns(watch)
    report = Report(rounds=1, scale=1, profiled="three")
    report.pair(("one", "three"), watch, (turns.of("alone"), turns.of("followed")), 2)
    printed = capsys.readouterr().out
    assert "Ordered by: internal time" in printed
    calls = re.findall(r"^ +(\d+) .*\(turn\)$", printed, re.MULTILINE)
    assert calls == ["2"]  # of the four turns

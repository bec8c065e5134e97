from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from pykbroker.cli import progress
from pykbroker.cli.progress import Progress, counted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    return terminal


def test_a_line_on_a_terminal_after_a_while(clock: Clock, terminal: Terminal) -> None:
    shown = Progress()
    shown.show(1)
    assert terminal.getvalue() == ""
    clock.now += 2
    shown.show(2000, 4000)
    shown.show(2001, 4000)
    assert terminal.getvalue() == "\r\x1b[K2,000 of 4,000 (50 %) records, 1,000/s"
    clock.now += 0.5
    shown.show(5000)
    assert terminal.getvalue().endswith("\r\x1b[K5,000 records, 2,000/s")
    shown.clear()
    shown.clear()
    assert terminal.getvalue().endswith("2,000/s\r\x1b[K")
    assert shown.seconds() == 2.5


def test_nothing_where_it_is_not_wanted(clock: Clock, terminal: Terminal) -> None:
    quiet = Progress(quiet=True)
    clock.now += 10
    quiet.show(1)
    quiet.clear()
    assert terminal.getvalue() == ""


def test_nothing_in_a_pipe(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe))
    shown = Progress()
    clock.now += 10
    shown.show(1)
    shown.clear()
    assert pipe.getvalue() == ""


def test_singular_and_plural() -> None:
    assert [counted(number, "record") for number in (0, 1, 2, 1234)] == [
        "0 records",
        "1 record",
        "2 records",
        "1,234 records",
    ]

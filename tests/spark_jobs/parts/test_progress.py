"""The progress that a job reports while it runs."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.parts import progress
from spark_jobs.parts.progress import Progress, step


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def spark_with(done: int, running: int, total: int) -> Any:
    stage = SimpleNamespace(numCompletedTasks=done, numActiveTasks=running, numTasks=total)
    tracker = SimpleNamespace(getActiveStageIds=lambda: [7], getStageInfo=lambda _: stage)
    return SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=lambda: tracker))


def test_in_a_log(capsys: pytest.CaptureFixture[str]):
    with Progress(spark_with(0, 0, 0), "job"):
        step("reading")
        step("writing")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("job: reading (")
    assert lines[1].startswith("job: writing (")
    assert lines[2].startswith("job: done after ")
    assert len(lines) == 3


def test_in_a_log_from_time_to_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(progress, "_TOLD_EVERY_SECONDS", 0.01)
    told = ""
    with Progress(spark_with(6, 2, 12), "job"):
        deadline = time.monotonic() + 120
        while told.count("6/12 tasks, 2 running\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            told += capsys.readouterr().err


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress(spark_with(6, 2, 12), "job"):
        step("reading")
        deadline = time.monotonic() + 120
        while "6/12 tasks" not in terminal.getvalue():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    bar = "#" * 12 + "-" * 12
    assert f"[{bar}] 6/12 tasks, 2 running" in terminal.getvalue()
    assert terminal.getvalue().endswith(" s\n")


def test_quiet_and_failing(capsys: pytest.CaptureFixture[str]):
    with Progress(spark_with(0, 0, 0), "job", is_quiet=True):
        step("reading")
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError), Progress(spark_with(0, 0, 0), "job"):
        raise ValueError
    assert "job: no result after" in capsys.readouterr().err


def test_without_a_display(capsys: pytest.CaptureFixture[str]):
    step("reading")
    assert capsys.readouterr().err == ""

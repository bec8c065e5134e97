"""Ctrl-C at any moment: one line, exit code 130, nothing half done."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from spark_jobs import size_percentiles
from spark_jobs.parts import interrupts
from spark_jobs.parts.interrupts import EXIT_CODE, Interrupts
from tests.harness.waiting import wait_for
from tests.offline.samples import partition_directory, simple_batches, write_segment


@pytest.fixture(autouse=True)
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The exit codes with which this process would have ended at once."""
    codes: list[int] = []
    monkeypatch.setattr(interrupts, "_end_at_once", codes.append)
    monkeypatch.setattr(interrupts, "_MOST_SECONDS", 0.5)
    yield codes
    for thread in threading.enumerate():
        if thread.name == interrupts.CANCELLER:
            thread.join()


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", ["starting Spark", "counting sizes"])
def test_a_job_that_is_interrupted(tmp_path: Path, moment: str):
    for partition in range(4):
        batches = simple_batches(400, 100, size=1000)
        write_segment(partition_directory(tmp_path / "logs", "t", partition), batches)
    out = tmp_path / "out"
    words = ("--path", str(tmp_path / "logs"), "--out", str(out), "--option", "decoder=plain")
    command = [sys.executable, str(size_percentiles.__file__), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if moment in line:
                break
        process.send_signal(signal.SIGINT)
        told = [line.strip() for line in process.stderr]
        assert process.wait() == EXIT_CODE
    assert "size_percentiles: interrupted" in told
    # Workers of Spark that are ended may have a word of their own: that is not ours.
    assert not re.search("KeyboardInterrupt|Py4J|reentrant", "".join(told))
    assert not out.exists()


def test_a_call_to_the_jvm_is_not_broken_off_but_its_jobs_are(
    capfd: pytest.CaptureFixture[str], ends: list[int]
):
    """Its connection would be in the middle of an answer."""
    context = MagicMock()
    listening = Interrupts("job")
    listening.follow(context)
    gateway = SimpleNamespace(f_globals={"__name__": "py4j.clientserver"}, f_back=None)
    caller = SimpleNamespace(f_globals={"__name__": "pyspark.core.rdd"}, f_back=gateway)
    listening._interrupt(signal.SIGINT, caller)  # type: ignore[arg-type]
    assert listening.came
    assert capfd.readouterr().err == "\njob: interrupted\n"
    wait_for(lambda: context.cancelAllJobs.called, "the jobs to be cancelled")
    wait_for(lambda: ends == [EXIT_CODE], "an end to waiting")


def test_everything_else_is_broken_off(
    capfd: pytest.CaptureFixture[str], ends: list[int], monkeypatch: pytest.MonkeyPatch
):
    # The thread would end the process some time between the two signals.
    monkeypatch.setattr(Interrupts, "_cancel", lambda self: None)
    before = signal.getsignal(signal.SIGINT)
    with Interrupts("job") as listening:
        listening.follow(MagicMock())
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert listening.came
        assert capfd.readouterr().err == "\njob: interrupted\n"
        assert ends == []
        with pytest.raises(KeyboardInterrupt):  # who presses again does not want to wait
            signal.raise_signal(signal.SIGINT)
        assert ends == [EXIT_CODE]
    assert signal.getsignal(signal.SIGINT) is before


def test_elsewhere_than_in_the_main_thread_nothing_is_changed():
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=Interrupts("job").__enter__)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before

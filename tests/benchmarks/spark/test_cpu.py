"""Core seconds of this process and of what it has started."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.spark.cpu import cpu_seconds

WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def test_what_a_child_uses_counts_while_it_runs_and_after() -> None:
    before = cpu_seconds()
    child = subprocess.Popen(
        [sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    while_it_runs = cpu_seconds()
    child.communicate(b"\n")
    assert while_it_runs - before >= 0.25
    assert cpu_seconds() >= while_it_runs


def test_our_own_counts() -> None:
    before, start = cpu_seconds(), time.process_time()
    while time.process_time() - start < 0.1:
        pass
    assert cpu_seconds() - before >= 0.05

"""Core seconds of a process and of what it has started.

The children of other tests come and go: a process of its own measures itself and its child.
"""

from __future__ import annotations

import subprocess
import sys

WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
A_CHILD = f"""
import subprocess, sys
from benchmarks.spark.cpu import cpu_seconds
before = cpu_seconds()
pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child = subprocess.Popen([sys.executable, "-c", {WORK!r}], **pipes)
child.stdout.readline()
while_it_runs = cpu_seconds()
child.communicate(b"\\n")
print(before, while_it_runs, cpu_seconds())
"""
ITSELF = """
import time
from benchmarks.spark.cpu import cpu_seconds
before, start = cpu_seconds(), time.process_time()
while time.process_time() - start < 0.1: pass
print(before, cpu_seconds())
"""


def measured(script: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return [float(word) for word in done.stdout.split()]


def test_what_a_child_uses_counts_while_it_runs_and_after() -> None:
    before, while_it_runs, after = measured(A_CHILD)
    assert while_it_runs - before >= 0.25
    assert after >= while_it_runs


def test_our_own_counts() -> None:
    before, after = measured(ITSELF)
    assert after - before >= 0.05

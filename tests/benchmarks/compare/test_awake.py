"""What keeps the processors awake runs when nothing else does, and ends with the measurement."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.compare.awake import processors_awake


def _children() -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def test_each_processor_has_a_process_of_the_lowest_priority() -> None:
    before = _children()
    with processors_awake():
        spinning = _children() - before
        assert len(spinning) == len(os.sched_getaffinity(0))
        assert {os.sched_getscheduler(pid) for pid in spinning} == {os.SCHED_IDLE}
    assert not _children() & spinning

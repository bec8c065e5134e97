"""CPU seconds of this process and of everything that it has started: Spark's JVM, its Python
workers, Kafka.

What a job costs, whoever else is at work on the machine; Linux only.
"""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return user and system time of our descendants, ended children included, and of ourselves.

    A process that ends after its parent was read, and before it is read itself, is missing in one
    reading; the next has it with its parent.
    """
    return max(_reading(), _reading())


def _reading() -> float:
    children: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        pid = int(entry.name)
        children.setdefault(int(fields[1]), []).append(pid)
        used[pid] = sum(map(int, fields[11:15]))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return sum(used.get(pid, 0) for pid in found) / _TICKS

"""The comparison of clusters with Apache Kafka, once, small.

Rows that differ by the size of the records or by the figure that they take are left out.
"""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.cluster.rows import ROWS
from tests.benchmarks.running import numbers, run

LONGEST_S = 1200
CHOSEN = (
    *("produce, 1 KiB", "one record at a time, p50", "catches up", "CreateTopics"),
    *("failover of 100", "controller failover", "resident memory"),
)


@pytest.mark.interop
@pytest.mark.timeout(LONGEST_S + 60)
def test_every_load_has_both_figures() -> None:
    rows = [row for row in ROWS if any(text in row.name for text in CHOSEN)]
    loads = {row.load.func if isinstance(row.load, partial) else row.load for row in ROWS}
    assert len(loads) == len(rows) == len(CHOSEN)
    effort = ("--scale", "0.005", "--rounds", "1", "--cold")
    _head, *lines = run("cluster", *effort, "--rows", *CHOSEN, timeout_s=LONGEST_S)
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        name, figures = line[:44], line[44:]
        assert name.strip() == row.name
        assert min(numbers(figures)[:2]) > 0

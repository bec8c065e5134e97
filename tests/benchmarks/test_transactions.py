"""The comparison of transactions with Apache Kafka, once, small.

Rows that differ by the figure that they take of the same load are left out.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.transactions.rows import ROWS
from tests.benchmarks.running import numbers, run

CHOSEN = ("commit, p50", "transactional produce", "transactional ids")


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_every_load_has_both_figures(tmp_path: Path) -> None:
    rows = [row for row in ROWS if any(text in row.name for text in CHOSEN)]
    loads = {row.load.func if isinstance(row.load, partial) else row.load for row in ROWS}
    assert len(loads) == len(rows) == len(CHOSEN)
    file = tmp_path / "figures.json"
    effort = ("--scale", "0.01", "--rounds", "1", "--cold", "--awake")
    _head, *lines = run("transactions", *effort, "--json", str(file), "--rows", *CHOSEN)
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        name, figures = line[:44], line[44:]
        assert name.strip() == row.name
        assert min(numbers(figures)[:2]) > 0
    assert [each["row"] for each in json.loads(file.read_text())["rows"]] == [
        row.name for row in rows
    ]

"""The comparison with Apache Kafka, once, small: every way to load a server has its row.

Rows that differ by the size of records alone, or by the figure that they take of a load, are left
out, and so are two of the raw frames: test_frames sends them.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.compare import rows
from benchmarks.compare.measure import Row
from tests.benchmarks.running import numbers, run

CHOSEN = (
    "start to first",
    "idle resident memory",
    "librdkafka produce, 100 B",
    "librdkafka consume, 1 KiB",
    "ProducerPerformance, 1 KiB",
    "ConsumerPerformance, 100 B",
    "one record at a time, p50",
    "raw idempotent produce",
    "raw heartbeat",
    "raw fetch",
    "raw session fetch",
)


def chosen_rows() -> list[Row]:
    return [row for row in rows.ROWS if any(text in row.name for text in CHOSEN)]


def load_of(row: Row) -> object:
    return row.load.func if isinstance(row.load, partial) else row.load


def test_every_way_to_load_is_among_the_rows() -> None:
    assert {load_of(row) for row in chosen_rows()} == {load_of(row) for row in rows.ROWS}
    assert len(chosen_rows()) == len(CHOSEN)


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_every_row_has_both_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    effort = ("--scale", "0.002", "--rounds", "1", "--cold")
    head, *lines = run("compare", *effort, "--json", str(file), "--rows", *CHOSEN)
    assert " ".join(head.split()) == "pykbroker Apache 4.4 ratio (min-max) goal"
    expected = chosen_rows()
    assert len(lines) == len(expected)
    for line, row in zip(lines, expected, strict=True):
        name, figures = line[:44], line[44:]
        assert name.strip() == row.name
        assert f" {row.unit} " in figures
        ours, theirs, ratio, least, *_ = numbers(figures)
        assert min(ours, theirs) > 0
        assert ratio == least  # of one round
        assert (row.goal is not None) == (figures.strip().endswith("reached"))
    told = json.loads(file.read_text())["rows"]
    assert [each["row"] for each in told] == [row.name for row in expected]
    for each in told:
        assert min(each["pykbroker"], each["apache"], each["ratio"]) > 0
        assert each["ratios"] == [each["ratio"]]


def test_a_row_that_is_not_there_starts_nothing() -> None:
    with pytest.raises(AssertionError, match="no row has that in its name; there are: start to"):
        run("compare", "--rows", "no such row")

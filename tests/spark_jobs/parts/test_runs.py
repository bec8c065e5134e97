"""Runs of equal values."""

from __future__ import annotations

import pyarrow as pa

from spark_jobs.parts.runs import run_edges


def test_edges():
    table = pa.table({"a": ["x", "x", "y", "y", "y"], "b": [1, 1, 1, 1, 2]})
    for each in (table, pa.concat_tables([table[:1], table[1:3], table[3:]])):
        assert run_edges(each, ["a", "b"]).tolist() == [0, 2, 4, 5]
        assert run_edges(each, ["a"]).tolist() == [0, 2, 5]
    assert run_edges(table[:1], ["a", "b"]).tolist() == [0, 1]
    assert run_edges(table[:0], ["a", "b"]).tolist() == [0]

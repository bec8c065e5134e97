"""Replies of every size."""

from __future__ import annotations

from benchmarks.micro.bench_send import SIZES
from tests.benchmarks.running import check_rows, run


def test_every_size_has_its_row() -> None:
    lines = run("micro.bench_send", "--scale", "0.002")
    check_rows(lines, [f"slice of {size:9,} bytes:" for size in SIZES], 2)

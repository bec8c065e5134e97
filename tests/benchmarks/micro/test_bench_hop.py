"""Both loops, in every shape."""

from __future__ import annotations

from benchmarks.micro.bench_hop import SHAPES
from tests.benchmarks.running import check_rows, run


def test_every_loop_and_shape_has_its_row() -> None:
    lines = run("micro.bench_hop", "--seconds", "0.2")
    names = [
        f"{loop:8} {connections:3} connections, {depth:2} in flight:"
        for loop in ("asyncio", "uvloop")
        for connections, depth in SHAPES
    ]
    check_rows(lines, names, 2)  # requests, microseconds

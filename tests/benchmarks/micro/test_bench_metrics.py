"""Both workers serve, and have their rows."""

from __future__ import annotations

from tests.benchmarks.running import numbers, run


def test_every_worker_has_its_row() -> None:
    lines = run("micro.bench_metrics", "--rounds", "3", "--scale", "0.01")
    names = ["plain worker", "measuring worker", "difference", "rendering"]
    assert len(lines) == len(names)
    for line, name in zip(lines, names, strict=True):
        assert line.startswith(name)
        assert len(numbers(line)) == 1, line

"""Appends, reads and opening."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.running import check_rows, run

APPENDS = (
    "one-record",
    "one-record-gathered-50",
    "64KiB-of-1KiB",
    "64KiB-of-100B",
    "1MiB-of-1KiB",
)


def test_every_row_is_there(tmp_path: Path) -> None:
    sizes = ("--rounds", "1", "--scale", "0.01", "--partitions", "7")
    lines = run("micro.bench_log", *sizes, "--directory", str(tmp_path))
    appends, reads, opening = lines[:-3], lines[-3:-1], lines[-1:]
    check_rows(appends, [f"append {name} " for name in APPENDS], 3)  # bytes, microseconds, rate
    check_rows(reads, ["read scattered", "read append, then the tail"], 1)
    check_rows(opening, ["open 7 clean partitions"], 1)
    assert list(tmp_path.iterdir()) == []  # it takes its files away

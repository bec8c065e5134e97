"""What the machine can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.spark.limits import Limits, measure


def test_all_three_together_are_slower_than_each() -> None:
    limits = Limits(read=4e9, crc=4e9, copy=2e9)
    assert limits.combined == pytest.approx(1e9)


def test_files_are_read(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        path.write_bytes(bytes(100_000))
    limits = measure(paths)
    assert min(limits.read, limits.crc, limits.copy) > limits.combined > 0

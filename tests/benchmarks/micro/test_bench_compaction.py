"""Logs of every kind are compacted, also by Apache's cleaner."""

from __future__ import annotations

import pytest

from tests.benchmarks.running import check_rows, run

ROWS = [f"compact {name:12} ours" for name in ("100 B", "1000 B", "100 B zstd")]


@pytest.mark.interop
def test_every_row_has_both_figures() -> None:
    lines = run("micro.bench_compaction", "--mebibytes", "5")
    check_rows(lines, ROWS, 2)
    assert all(" Apache " in line for line in lines)


def test_ours_alone_needs_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    check_rows(run("micro.bench_compaction", "--mebibytes", "5", "--without-apache"), ROWS, 1)


def test_a_log_without_closed_segments_is_refused() -> None:
    with pytest.raises(AssertionError, match="argument --mebibytes: 5 at least"):
        run("micro.bench_compaction", "--mebibytes", "4")

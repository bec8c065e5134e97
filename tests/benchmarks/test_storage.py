"""A node's life, small: starts and recovery beside Apache Kafka, latencies of ours.

One kind of the latencies runs beside Apache Kafka, too; the others would start it three more times
for the same lines of code.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.storage.latency import KINDS
from tests.benchmarks.running import check_rows, run

EFFORT = ("--scale", "0.005", "--seconds", "0.5")
FIGURES = (
    "quiet p50 (ms)",
    "quiet p99 (ms)",
    "p50 (ms)",
    "p99 (ms)",
    "p99.9 (ms)",
    "requests",
)


def latency_rows(kind: str, owner: str) -> list[str]:
    return [f"{kind}, {owner}: {figure} " for figure in FIGURES]


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_starts_and_recovery_of_both(tmp_path: Path) -> None:
    sizes = ("--partitions", "5", "--gigabytes", "0.01", "--directory", str(tmp_path))
    lines = run("storage", "starts", "recovery", *sizes)
    names = [
        "clean start, ours (s)",
        "start after a kill, ours (s)",
        "clean stop, ours (s)",
        "clean start, Apache (s)",
        "start after a kill, Apache (s)",
        "clean stop, Apache (s)",
        "recovery of 0.01 GB, ours (s)",
        "recovery of 0.01 GB, Apache (s)",
    ]
    check_rows(lines, names, 1)
    assert list(tmp_path.iterdir()) == []  # it takes its files away


@pytest.mark.interop
def test_memory_of_idle_partitions() -> None:
    lines = run("storage", "idle", "--idle-partitions", "5")
    ends = ("just made (MB)", "after a start (MB)")
    check_rows(lines, [f"5 idle partitions, {end}" for end in ends], 1)


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_latencies_of_both() -> None:
    lines = run("storage", "latency", "--kinds", "recompression", *EFFORT)
    names = latency_rows("recompression", "ours") + latency_rows("recompression", "Apache")
    check_rows(lines, names, 1)


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_latencies_of_ours_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    kinds = [kind.__name__ for kind in KINDS if kind.__name__ != "recompression"]
    assert len(kinds) >= 3
    lines = run("storage", "latency", "--without-apache", "--kinds", *kinds, *EFFORT)
    check_rows(lines, [name for kind in kinds for name in latency_rows(kind, "ours")], 1)


def test_a_part_that_is_not_there_starts_nothing() -> None:
    with pytest.raises(AssertionError, match="unknown part lunch; parts are starts, recovery"):
        run("storage", "starts", "lunch")

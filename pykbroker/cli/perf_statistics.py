"""The statistics and output of kafka-producer-perf-test.sh; and percentiles."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

_MOST_SAMPLES: Final = 500_000
_MB: Final = 1024 * 1024


def now_ms() -> int:
    """Return the milliseconds of a monotonic clock."""
    return time.monotonic_ns() // 1_000_000


def percentiles(latencies: Sequence[int], *parts: float) -> list[int]:
    """Return percentiles of latencies in any order, computed like Apache's tools."""
    ordered = sorted(latencies)
    return [ordered[min(int(part * len(ordered)), len(ordered) - 1)] for part in parts]


class ProducerStatistics:
    """Latencies and bytes of acknowledged records, in total and in the current window."""

    def __init__(
        self,
        records: int,
        interval_ms: int,
        *,
        steady: bool = False,
        clock_ms: Callable[[], int] = now_ms,
    ) -> None:
        self._clock_ms = clock_ms
        self._started_ms = clock_ms()
        self._sampling = max(1, records // min(records, _MOST_SAMPLES))
        self._interval_ms = interval_ms
        self._is_steady = steady
        self._samples: list[int] = []
        self._max = self._total = self._bytes = 0
        self.count = 0
        self.is_silent = False
        self._begin_window()

    def _begin_window(self) -> None:
        self._window_started_ms = self._clock_ms()
        self._window_count = self._window_max = self._window_total = self._window_bytes = 0

    def record(self, latency_ms: int, size: int) -> None:
        """Count a record; prints a line at the end of each window, unless `is_silent`."""
        if self.count % self._sampling == 0:
            self._samples.append(latency_ms)
        self.count += 1
        self._bytes += size
        self._total += latency_ms
        self._max = max(self._max, latency_ms)
        self._window_count += 1
        self._window_bytes += size
        self._window_total += latency_ms
        self._window_max = max(self._window_max, latency_ms)
        if self._clock_ms() - self._window_started_ms >= self._interval_ms:
            if self._is_steady and self.count == self._window_count:
                print("In steady state.", flush=True)
            if not self.is_silent:
                print(self._window_line(), flush=True)
            self._begin_window()

    def _window_line(self) -> str:
        seconds = (self._clock_ms() - self._window_started_ms) / 1000
        return (
            f"{self._window_count} records sent, {self._window_count / seconds:.1f} records/sec "
            f"({self._window_bytes / seconds / _MB:.2f} MB/sec), "
            f"{self._window_total / self._window_count:.1f} ms avg latency, "
            f"{float(self._window_max):.1f} ms max latency."
        )

    def total_line(self) -> str:
        """Return the line at the end of a run."""
        seconds = max(1, self._clock_ms() - self._started_ms) / 1000
        p50, p95, p99, p999 = percentiles(self._samples or [0], 0.5, 0.95, 0.99, 0.999)
        return (
            f"{self.count}{' steady state' if self._is_steady else ''} records sent, "
            f"{self.count / seconds:f} records/sec ({self._bytes / seconds / _MB:.2f} MB/sec), "
            f"{self._total / max(1, self.count):.2f} ms avg latency, "
            f"{float(self._max):.2f} ms max latency, "
            f"{p50} ms 50th, {p95} ms 95th, {p99} ms 99th, {p999} ms 99.9th."
        )


def print_metrics(metrics: dict[str, dict[str, Any]]) -> None:
    """Print kafka-python's metrics, with the columns of Apache's --print-metrics."""
    lines = {
        f"{group}:{name}": value
        for group, values in metrics.items()
        for name, value in values.items()
        if isinstance(value, int | float)
    }
    width = max(map(len, lines), default=0)
    print(f"\n{'Metric Name':<{width}} {'Value'}")
    for name, value in sorted(lines.items()):
        print(f"{name:<{width}} : {value:.3f}")

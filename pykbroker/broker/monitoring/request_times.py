"""Counters of the requests of each API: number, times, errors, bytes.

State: `RequestTimes` of each API key, plain integers that the worker changes; no lock is needed,
because one event loop owns them. The time of a request is measured from when the worker takes it to
when its reply is passed to the connection, including the wait in the purgatory (Kafka's TotalTimeMs
also has the time in the queue and of the sending).
Out: counts since the start, and quantiles over about the last WINDOW_MS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

# Upper bounds of the buckets. Between two bounds a quantile is interpolated.
BOUNDS_US: Final = (
    *(20, 50, 100, 200, 300, 500, 700),
    *(1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 20_000, 30_000, 50_000, 70_000),
    *(100_000, 200_000, 300_000, 500_000, 700_000, 1_000_000, 2_000_000, 5_000_000),
    *(10_000_000, 30_000_000),
)
BOUNDS_NS: Final = tuple(bound * 1000 for bound in BOUNDS_US)
BOUNDS_SECONDS: Final = tuple(bound / 1_000_000 for bound in BOUNDS_US)
QUANTILES: Final = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
WINDOW_MS: Final = 60_000
_MOST_VERSIONS: Final = 32


class RequestTimes:
    """The requests of one API; `counts[i]` took at most `BOUNDS_NS[i]` and longer than the bound
    before, the last count longer than all.
    """

    __slots__ = (
        "_snapshots",
        "by_version",
        "counts",
        "errors",
        "request_bytes",
        "response_bytes",
        "total_ns",
    )

    def __init__(self) -> None:
        self.by_version = [0] * _MOST_VERSIONS
        self.counts = [0] * (len(BOUNDS_NS) + 1)
        self.total_ns = 0
        self.request_bytes = 0
        self.response_bytes = 0
        self.errors: dict[int, int] = {}
        self._snapshots: deque[tuple[int, Sequence[int]]] = deque()

    def count_error(self, code: int) -> None:
        """A reply carried this error, for the whole request or for something that it named."""
        self.errors[code] = self.errors.get(code, 0) + 1

    def quantiles_ms(self, now_ms: int) -> list[tuple[float, float]]:
        """Return (share, quantile in ms) of the times since the last sample that is at least
        WINDOW_MS old, or the oldest one; empty without requests.

        Calls take samples, at most one a second, so a reader that polls every few seconds sees the
        last minute. The first call sees all since the start; those in the minute after it, what
        came after it.
        """
        snapshots = self._snapshots
        while len(snapshots) > 1 and snapshots[1][0] <= now_ms - WINDOW_MS:
            snapshots.popleft()
        before = snapshots[0][1] if snapshots else [0] * len(self.counts)
        recent = [now - then for now, then in zip(self.counts, before, strict=True)]
        if not snapshots or now_ms - snapshots[-1][0] >= WINDOW_MS // 60:
            snapshots.append((now_ms, tuple(self.counts)))
        if not any(recent):
            return []
        return [(each, quantile_us(recent, each) / 1000) for each in QUANTILES]


def quantile_us(counts: Sequence[int], quantile: float) -> float:
    """Return the time that this share of the requests did not exceed, in microseconds: interpolated
    within its bucket, and at most the last bound.
    """
    wanted = quantile * sum(counts)
    below = 0
    lower = 0.0
    for count, upper in zip(counts, BOUNDS_US, strict=False):
        if count and below + count >= wanted:
            return lower + (upper - lower) * (wanted - below) / count
        below += count
        lower = upper
    return float(BOUNDS_US[-1])

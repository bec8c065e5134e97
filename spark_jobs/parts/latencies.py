"""Latencies in bounded memory: how often each occurred, in milliseconds to three digits.

A worker adds to `Latencies` and yields its `pairs` (TYPE, DDL); the driver merges them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

TYPE: Final = pa.map_(pa.float64(), pa.int64())
DDL: Final = "map<double, bigint>"
Pairs = Iterable[tuple[float, int]]


class Latencies:
    """However many are added, some thousand are held: nine hundred between each two powers of
    ten."""

    def __init__(self, several: Iterable[Pairs] = ()) -> None:
        self._counts: Counter[float] = Counter()
        for pairs in several:
            self._counts.update(dict(pairs))

    def add(self, ms: float) -> None:
        self._counts[float(f"{ms:.3g}")] += 1

    def __len__(self) -> int:
        """Return how many were added."""
        return self._counts.total()

    @property
    def pairs(self) -> list[tuple[float, int]]:
        """Return (milliseconds, how often), ascending."""
        return sorted(self._counts.items())

    def percentiles(self, percents: Sequence[float]) -> list[float]:
        """Return, for each percent, the smallest latency that so many do not exceed; there must be
        a latency.
        """
        values, counts = zip(*self.pairs, strict=True)
        places = np.searchsorted(shares(counts), percents)
        return [float(values[place]) for place in places]


def shares(counts: Any) -> NDArray[np.float64]:
    """How many percent have come by each: of none, none."""
    reached: NDArray[np.int64] = np.cumsum(counts)
    return 100 * reached / reached[-1:]

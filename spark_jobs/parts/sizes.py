"""Sizes and places of records as numpy arrays, and exact percentiles of counted values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def integers(batch: Any, name: str) -> Integers:
    """A column of whole numbers without nulls."""
    column: Integers = batch.column(name).to_numpy(zero_copy_only=False)
    return column.astype(np.int64, copy=False)


def sizes_of(batch: Any, name: str) -> Integers:
    """key_size or value_size, 0 where there is none."""
    filled: Integers = pc.fill_null(batch.column(name), 0).to_numpy(zero_copy_only=False)
    return np.maximum(filled.astype(np.int64), 0)


def percentile(values: Integers, counts: Integers, share: float) -> int:
    """The smallest value that at least `share` of all are not above (the inverse of their
    distribution; no interpolation). `values` ascend."""
    reached = np.cumsum(counts)
    wanted = max(1, int(np.ceil(round(share * int(reached[-1]), 6))))
    return int(values[int(np.searchsorted(reached, wanted))])


def percentiles(values: Integers, counts: Integers, shares: Sequence[float]) -> list[int]:
    """Several at once."""
    return [percentile(values, counts, share) for share in shares]

"""Percentiles of counted values are those of the values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from spark_jobs.parts.sizes import integers, percentile, sizes_of


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.25, 0.5, 0.9, 0.999, 1.0])
def test_percentile(share: float):
    sizes = np.random.default_rng(7).integers(0, 50, 997)
    values, counts = np.unique(sizes, return_counts=True)
    expected = np.quantile(sizes, share, method="inverted_cdf")
    assert percentile(values, counts, share) == expected


def test_half_of_two_is_the_first():
    assert percentile(np.array([1, 9]), np.array([1, 1]), 0.5) == 1


def test_columns():
    batch = pa.record_batch({"key_size": pa.array([3, None, 0], pa.int32())})
    assert sizes_of(batch, "key_size").tolist() == [3, 0, 0]
    whole = pa.record_batch({"offset": pa.array([5, 6], pa.int64())})
    assert integers(whole, "offset").tolist() == [5, 6]

"""Latencies that take no more room the more there are."""

from __future__ import annotations

import numpy as np
import pytest

from spark_jobs.parts.latencies import Latencies


def test_percentiles_to_three_digits():
    chance = np.random.default_rng(3)
    values = chance.lognormal(1, 3, 200_000)
    parts = [Latencies(), Latencies()]
    for number, value in enumerate(values.tolist()):
        parts[number % 3 > 0].add(value)
    whole = Latencies(part.pairs for part in parts)
    assert len(whole) == len(values)
    assert len(whole.pairs) < 10_000
    percents = (50, 95, 99, 100)
    expected = np.percentile(values, percents, method="inverted_cdf")
    assert whole.percentiles(percents) == pytest.approx(expected.tolist(), rel=0.006)


def test_few():
    found = Latencies([[(1.0, 1)], [(1.0, 2), (7.5, 1)]])
    found.add(0.0)
    assert found.pairs == [(0.0, 1), (1.0, 3), (7.5, 1)]
    assert found.percentiles([0, 20, 50, 80, 100]) == [0, 0, 1, 1, 7.5]
    assert len(Latencies()) == 0

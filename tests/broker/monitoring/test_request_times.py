from __future__ import annotations

import pytest

from pykbroker.broker.monitoring.request_times import (
    BOUNDS_NS,
    BOUNDS_US,
    QUANTILES,
    WINDOW_MS,
    RequestTimes,
    quantile_us,
)


def test_quantiles_lie_between_the_bounds_of_their_bucket() -> None:
    counts = [0] * (len(BOUNDS_US) + 1)
    counts[0], counts[2] = 50, 50  # half took up to 20 us, half 50 to 100 us
    assert quantile_us(counts, 0.5) == 20
    assert quantile_us(counts, 0.25) == 10
    assert quantile_us(counts, 0.75) == 75
    assert quantile_us(counts, 1) == 100
    counts[-1] = 1000  # longer than all bounds
    assert quantile_us(counts, 0.99) == BOUNDS_US[-1]


def test_bounds_rise() -> None:
    assert list(BOUNDS_NS) == sorted(set(BOUNDS_NS))


def test_quantiles_are_of_the_last_minute() -> None:
    times = RequestTimes()
    assert times.quantiles_ms(0) == []
    times.counts[0] = 100  # fast, long ago
    now_ms = 0
    for _ in range(120):
        now_ms += 1000
        times.quantiles_ms(now_ms)
    times.counts[8] = 10  # slow, just now: 1 to 2 ms
    recent = dict(times.quantiles_ms(now_ms + 1000))
    assert set(recent) == set(QUANTILES)
    assert 1 <= recent[0.5] <= 2
    assert dict(times.quantiles_ms(now_ms + 1000)) == recent  # looking again changes nothing
    assert times.quantiles_ms(now_ms + 2 * WINDOW_MS) == []


def test_somebody_who_looks_often_does_not_fill_the_memory() -> None:
    times = RequestTimes()
    for now_ms in range(0, 3 * WINDOW_MS, 10):
        times.quantiles_ms(now_ms)
    assert len(times._snapshots) < 70


@pytest.mark.parametrize("code", [79, -1])
def test_errors_are_counted_by_code(code: int) -> None:
    times = RequestTimes()
    times.count_error(code)
    times.count_error(code)
    assert times.errors == {code: 2}

"""Rounds, medians and ratios."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.compare.measure import Outcome, Row, measure
from benchmarks.compare.servers import Server, Servers


def servers() -> Servers:
    broker: Any = object()
    return Servers(*(Server(name, broker, lambda: broker) for name in ("ours", "theirs")))


@pytest.mark.parametrize("is_warm", (True, False))
def test_rounds_alternate_after_one_to_warm_up(is_warm: bool) -> None:
    asked = []

    def load(server: Server, scale: float) -> float:
        asked.append((server.name, scale))
        return len(asked)

    outcome = measure(Row("a row", "s", load), servers(), 2, 0.5, is_warm=is_warm)
    warm = [("ours", 0.125), ("theirs", 0.125)] if is_warm else []
    assert asked == warm + [("ours", 0.5), ("theirs", 0.5)] * 2
    first = 1 + len(warm)
    assert outcome.pairs == [(first, first + 1), (first + 2, first + 3)]


def test_a_ratio_above_one_is_ours() -> None:
    pairs = [(2.0, 1.0), (9.0, 3.0), (4.0, 1.0)]
    rates = Outcome(Row("rates", "rec/s", lambda *_: 0.0, goal=1.0), pairs)
    assert (rates.ours, rates.apache, rates.ratios, rates.ratio) == (4, 1, [2, 3, 4], 3)
    times = Outcome(Row("times", "ms", lambda *_: 0.0, lower_is_better=True), pairs)
    assert times.ratio == pytest.approx(1 / 3)
    assert rates.as_json() == {
        "row": "rates",
        "unit": "rec/s",
        "pykbroker": 4,
        "apache": 1,
        "ratio": 3,
        "ratios": [2, 3, 4],
        "goal": 1.0,
    }

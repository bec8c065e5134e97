"""Counters start at zero and are listed by name."""

from __future__ import annotations

from pykbroker.metrics import Counters


def test_all_counters_by_name() -> None:
    counters = Counters()
    assert set(counters.snapshot().values()) == {0}
    counters.messages_in += 3
    counters.connections_lost += 1
    snapshot = counters.snapshot()
    assert (snapshot["messages_in"], snapshot["connections_lost"]) == (3, 1)
    assert snapshot.keys() == set(Counters.__slots__)

"""The parts of the collector; test_endpoint.py has it read a real node."""

from __future__ import annotations

import pytest

from pykbroker.broker.monitoring.collector import IdleShare, slices_of

S = 1_000_000_000


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (3, [3]), (4, [4]), (9, [4, 4, 1])], ids=str)
def test_slices(count: int, sizes: list[int]) -> None:
    everything = list(range(count))
    slices = slices_of(everything, 4)
    assert [len(each) for each in slices] == sizes
    assert [item for each in slices for item in each] == everything


def test_the_idle_share_is_of_the_last_minute() -> None:
    idle = IdleShare(0)
    assert idle.look(0, 0) == 1
    assert idle.look(10 * S, 4 * S) == pytest.approx(0.6)
    for second in range(11, 200):
        idle.look(second * S, 4 * S)  # nothing to do since
    assert idle.look(200 * S, 4 * S) == 1
    assert idle.look(201 * S, 4 * S + 60 * S) == 0  # of a turn that began before
    assert len(idle._looks) < 70

"""One reply out of several."""

from __future__ import annotations

from pykbroker.coordinator.gathering import gather, then
from pykbroker.purgatory import Deferred


def done(value: object) -> Deferred:
    deferred = Deferred()
    deferred.resolve(value)
    return deferred


def test_nothing_to_wait_for() -> None:
    assert gather([], sum) == 0
    assert gather([1, 2], sum) == 3
    assert gather([1, done(2)], sum) == 3


def test_parts_that_come_later_keep_their_order() -> None:
    first, second = Deferred(), Deferred()
    outcome = gather([first, 2, second], tuple)
    assert isinstance(outcome, Deferred)
    second.resolve(3)
    assert not outcome.done
    first.resolve(1)
    assert outcome.value == (1, 2, 3)


def test_then() -> None:
    assert then(1, str) == "1"
    assert then(done(1), str) == "1"
    later = Deferred()
    outcome = then(later, str)
    later.resolve(1)
    assert outcome.value == "1"

"""The purgatory: one completion or one expiry, never both, nothing held for ever."""

from __future__ import annotations

from pykbroker.purgatory import PURGE_AT, DelayedOperation, Purgatory


class Waiter(DelayedOperation):
    def __init__(self) -> None:
        super().__init__()
        self.ready = False
        self.events: list[str] = []

    def try_complete(self) -> bool:
        if self.ready:
            self.events.append("completed")
        return self.ready

    def expire(self) -> None:
        self.events.append("expired")


def test_completes_when_a_watched_key_is_checked() -> None:
    purgatory = Purgatory(0)
    waiter = Waiter()
    purgatory.watch(waiter, ["a", "b"], 100)
    assert purgatory.check("a") == 0
    waiter.ready = True
    assert purgatory.check("b") == 1
    assert purgatory.check("a") == 0
    assert purgatory.advance(200) == 0
    assert waiter.events == ["completed"]
    assert purgatory.watched_keys == 0
    assert len(purgatory) == 0


def test_expires_once_and_cannot_complete_after() -> None:
    purgatory = Purgatory(0)
    waiter = Waiter()
    purgatory.watch(waiter, ["a"], 100)
    assert purgatory.next_deadline_ms() is not None
    assert purgatory.advance(99) == 0
    assert purgatory.advance(100) == 1
    waiter.ready = True
    assert purgatory.check("a") == 0
    assert waiter.events == ["expired"]


def test_no_deadline_waits_for_ever() -> None:
    purgatory = Purgatory(0)
    waiter = Waiter()
    purgatory.watch(waiter, ["a"], None)
    assert purgatory.next_deadline_ms() is None
    assert purgatory.advance(10**9) == 0
    assert purgatory.is_watched("a")


def test_a_cancelled_operation_does_nothing() -> None:
    purgatory = Purgatory(0)
    waiter = Waiter()
    purgatory.watch(waiter, ["a"], 100)
    purgatory.cancel(waiter)
    waiter.ready = True
    assert purgatory.check("a") == 0
    assert purgatory.advance(1_000) == 0
    assert waiter.events == []


def test_an_operation_may_watch_the_same_key_again_while_it_completes() -> None:
    purgatory = Purgatory(0)
    second = Waiter()

    class Chained(Waiter):
        def try_complete(self) -> bool:
            purgatory.watch(second, ["a"], None)
            return True

    purgatory.watch(Chained(), ["a"], None)
    assert purgatory.check("a") == 1
    second.ready = True
    assert purgatory.check("a") == 1


def test_completed_operations_leave_keys_that_nobody_checks() -> None:
    purgatory = Purgatory(0)
    for number in range(PURGE_AT):
        waiter = Waiter()
        purgatory.watch(waiter, [("never checked", number), "checked"], None)
        waiter.ready = True
        purgatory.check("checked")
    assert purgatory.watched_keys == 0

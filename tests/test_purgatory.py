"""The purgatory: one completion or one expiry, never both, nothing held for ever."""

from __future__ import annotations

from pykbroker.purgatory import BASE_EFFORT, PURGE_AT, DelayedOperation, Purgatory


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
    assert list(purgatory.waiting()) == [waiter]
    waiter.ready = True
    assert purgatory.check("b") == 1
    assert purgatory.check("a") == 0
    assert list(purgatory.waiting()) == []
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


def waiters(purgatory: Purgatory, count: int, *keys: str) -> list[Waiter]:
    made = [Waiter() for _ in range(count)]
    for waiter in made:
        waiter.ready = True
        purgatory.watch(waiter, keys, 100)
    return made


def completed(made: list[Waiter]) -> int:
    return sum(waiter.events == ["completed"] for waiter in made)


def test_a_turn_completes_as_many_as_its_effort_allows_and_later_ones_the_rest() -> None:
    purgatory = Purgatory(0, effort=3 * (BASE_EFFORT + 1))
    made = waiters(purgatory, 7, "a")
    others = waiters(purgatory, 1, "b")
    assert purgatory.check("a") == 3
    assert purgatory.check("b") == 0
    assert [waiter.events for waiter in made[:4]] == [["completed"]] * 3 + [[]]  # oldest first
    assert purgatory.begin_turn()
    purgatory.do_rest()
    assert (completed(made), completed(others)) == (6, 0)
    assert purgatory.begin_turn()
    purgatory.do_rest()
    assert (completed(made), completed(others)) == (7, 1)
    assert not purgatory.begin_turn()
    assert purgatory.watched_keys == 0


def test_what_watches_many_keys_costs_more() -> None:
    purgatory = Purgatory(0, effort=2 * (BASE_EFFORT + 1))
    keys = [str(number) for number in range(50)]
    made = waiters(purgatory, 2, *keys)
    assert purgatory.check("7") == 1
    purgatory.begin_turn()
    purgatory.do_rest()
    assert completed(made) == 2


def test_operations_that_are_not_ready_cost_too_and_wait_on() -> None:
    purgatory = Purgatory(0, effort=2 * (BASE_EFFORT + 1))
    made = waiters(purgatory, 3, "a")
    for waiter in made[:2]:
        waiter.ready = False
    assert purgatory.check("a") == 0
    assert purgatory.begin_turn()
    made[0].ready = True
    purgatory.do_rest()  # goes on with the third: it is not tried in vain for ever
    assert [waiter.events for waiter in made] == [[], [], ["completed"]]
    assert not purgatory.begin_turn()
    assert purgatory.check("a") == 1
    assert [waiter.events for waiter in made] == [["completed"], [], ["completed"]]


def test_a_change_while_some_are_untried_has_all_of_them_tried() -> None:
    purgatory = Purgatory(0, effort=2 * (BASE_EFFORT + 1))
    made = waiters(purgatory, 3, "a")
    for waiter in made:
        waiter.ready = False
    purgatory.check("a")
    purgatory.begin_turn()
    for waiter in made:
        waiter.ready = True
    assert purgatory.check("a") == 2
    purgatory.begin_turn()
    purgatory.do_rest()
    assert completed(made) == 3
    assert not purgatory.begin_turn()


def test_a_turn_expires_as_many_as_its_effort_allows() -> None:
    purgatory = Purgatory(0, effort=2 * (BASE_EFFORT + 1))
    made = waiters(purgatory, 5, "a")
    assert purgatory.advance(200) == 2
    made[2].ready = True
    purgatory.cancel(made[3])
    purgatory.begin_turn()
    purgatory.do_rest()
    assert [waiter.events for waiter in made] == [["expired"]] * 3 + [[], ["expired"]]
    assert not purgatory.begin_turn()
    assert purgatory.check("a") == 0


def test_what_is_overdue_may_still_complete() -> None:
    purgatory = Purgatory(0, effort=BASE_EFFORT + 1)
    made = waiters(purgatory, 2, "a")
    assert purgatory.advance(200) == 1
    purgatory.begin_turn()
    assert purgatory.check("a") == 1
    purgatory.begin_turn()
    purgatory.do_rest()
    assert [waiter.events for waiter in made] == [["expired"], ["completed"]]

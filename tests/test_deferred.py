"""Values that come later, combined values, and coroutines without an event loop."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import ref

import pytest

from pykbroker.deferred import (
    Cancelled,
    Deferred,
    Mutex,
    Task,
    chain,
    ended,
    first_of,
    gather,
    resolved,
    spawn,
    then,
)


def done(value: object) -> Deferred:
    deferred = Deferred()
    deferred.resolve(value)
    return deferred


def test_nothing_to_wait_for() -> None:
    assert gather([], sum) == 0
    assert gather([1, 2], sum) == 3
    parts: list[int | Deferred] = [1, done(2)]
    assert gather(parts, total) == 3


def test_parts_that_come_later_keep_their_order() -> None:
    first, second = Deferred(), Deferred()
    outcome = gather([first, 2, second], tuple)
    assert isinstance(outcome, Deferred)
    second.resolve(3)
    assert not outcome.done
    first.resolve(1)
    assert outcome.value == (1, 2, 3)


def test_the_first_of_several() -> None:
    first, second = Deferred(), Deferred()
    outcome = first_of(first, second)
    assert not outcome.done
    second.resolve(2)
    first.resolve(1)
    assert outcome.value == 2
    assert first_of(done(1), Deferred()).value == 1


def total(parts: list[int]) -> int:
    return sum(parts)


def test_then() -> None:
    assert then(1, str) == "1"
    assert then(done(1), str) == "1"
    later = Deferred()
    outcome = then(later, str)
    later.resolve(1)
    assert isinstance(outcome, Deferred)
    assert outcome.value == "1"


def test_chain() -> None:
    assert chain(1, str) == "1"
    assert chain(done(1), str) == "1"
    later, step = Deferred(), Deferred()
    now = chain(later, str)
    later.resolve(1)
    assert isinstance(now, Deferred)
    assert now.value == "1"
    later = Deferred()
    outcome = chain(later, lambda value: step)
    later.resolve(1)
    assert isinstance(outcome, Deferred)
    assert not outcome.done
    step.resolve(2)
    assert outcome.value == 2


def test_a_value_is_assigned_once_and_told_in_place() -> None:
    deferred = Deferred()
    told: list[object] = []
    deferred.on_resolved(told.append)
    with pytest.raises(RuntimeError):
        deferred.on_resolved(told.append)
    deferred.resolve(1)
    assert told == [1]
    with pytest.raises(RuntimeError):
        deferred.resolve(2)
    resolved(3).on_resolved(told.append)
    assert told == [1, 3]


def test_a_coroutine_runs_in_place_and_waits_for_what_is_missing() -> None:
    missing = Deferred()
    steps: list[object] = []

    async def work() -> str:
        steps.append(await resolved("first"))
        steps.append(await missing)
        return "done"

    task = spawn(work())
    assert steps == ["first"]
    missing.resolve("second")
    assert steps == ["first", "second"]
    assert task.value == "done"


def test_a_failure_is_raised_at_the_await_and_is_the_value_of_the_task() -> None:
    missing = Deferred()

    async def work() -> None:
        await missing

    task = spawn(work())
    seen: list[object] = []
    task.on_resolved(seen.append)
    failure = OSError("gone")
    missing.resolve(failure)
    assert seen == [failure]


@contextmanager
def without_collector() -> Iterator[None]:
    """Cyclic garbage stays."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Gone(Exception):
    """A failure that weak references may follow."""


def test_a_failure_that_was_awaited_is_in_no_cycle() -> None:
    async def failing() -> None:
        await resolved(Gone())

    freed: list[ref[Gone]] = []

    async def work() -> None:
        try:
            await failing()
        except Gone as failure:
            freed.append(ref(failure))

    with without_collector():
        spawn(work())
        assert [at() for at in freed] == [None]


def test_a_failure_without_a_listener_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ValueError("a bug")

    task = spawn(work())
    assert isinstance(task.value, ValueError)
    assert "a task failed" in caplog.text


def test_cancelling_raises_at_the_await_and_lets_the_task_clean_up() -> None:
    missing, cleaned = Deferred(), Deferred()
    steps: list[str] = []

    async def work() -> None:
        try:
            await missing
        except Cancelled:
            steps.append("cleaning")
            await cleaned
            steps.append("clean")
            raise

    task = spawn(work())
    task.cancel()
    assert steps == ["cleaning"]
    missing.resolve(None)  # nothing waits for it any more
    assert not task.done
    cleaned.resolve(None)
    assert steps == ["cleaning", "clean"]
    assert isinstance(task.value, Cancelled)
    task.cancel()  # harmless


def test_a_running_task_cannot_cancel_itself() -> None:
    tasks: list[Task] = []
    gate = Deferred()

    async def work() -> None:
        await gate
        tasks[0].cancel()

    tasks.append(spawn(work()))
    seen: list[object] = []
    tasks[0].on_resolved(seen.append)
    gate.resolve(None)
    assert isinstance(seen[0], RuntimeError)


def test_ended_waits_for_all_however_they_end(caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = Deferred(), Deferred(), Deferred()

    async def wait_for(deferred: Deferred) -> None:
        await deferred

    tasks = [spawn(wait_for(each)) for each in (first, second, third)]
    ending = spawn(ended(tasks))
    tasks[0].cancel()
    second.resolve(ValueError("no"))
    assert (ending.done,) == (False,)
    third.resolve(None)
    assert ending.done
    assert "no" in caplog.text


def test_a_mutex_lets_one_in_at_a_time_in_order() -> None:
    mutex = Mutex()
    gates = [Deferred() for _ in range(4)]
    order: list[str] = []

    async def section(number: int) -> None:
        async with mutex:
            order.append(f"in {number}")
            await gates[number]
            order.append(f"out {number}")

    tasks = [spawn(section(number)) for number in range(4)]
    assert order == ["in 0"]
    tasks[1].cancel()
    gates[0].resolve(None)
    gates[2].resolve(None)
    gates[3].resolve(None)
    assert order == ["in 0", "out 0", "in 2", "out 2", "in 3", "out 3"]
    assert isinstance(tasks[1].value, Cancelled)

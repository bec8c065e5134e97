"""What drivers rely on, of the real and of the simulated scheduler, clock and threads alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from pykbroker.deferred import spawn
from tests.environment.both_worlds import Bench, open_bench, value_of


@pytest.fixture(params=["real", "simulated"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with open_bench(request.param) as opened:
        yield opened


def test_calls_of_later_turns_keep_their_order(bench: Bench) -> None:
    scheduler = bench.environment.scheduler
    calls: list[int] = []
    for number in range(5):
        scheduler.call_soon(calls.append, number)
    cancelled = scheduler.call_soon(calls.append, 99)
    scheduler.call_soon(calls.append, 5)
    cancelled.cancel()
    assert calls == []
    bench.run_until(lambda: len(calls) == 6)
    assert calls == [0, 1, 2, 3, 4, 5]


def test_timers_come_when_the_clock_says_so(bench: Bench) -> None:
    clock, scheduler = bench.environment.clock, bench.environment.scheduler
    began_ms = clock.now_ms()
    came: list[tuple[str, int]] = []
    for name, delay_ms in (("late", 30), ("soon", 10), ("now", -5)):
        scheduler.call_later(delay_ms, lambda name=name: came.append((name, clock.now_ms())))
    never = scheduler.call_later(15, lambda: came.append(("never", 0)))
    never.cancel()
    never.cancel()
    bench.run_until(lambda: len(came) == 3)
    assert [name for name, _ in came] == ["now", "soon", "late"]
    for (_, at_ms), delay_ms in zip(came, (0, 10, 30), strict=True):
        assert at_ms - began_ms >= delay_ms - 1


def test_a_coroutine_sleeps(bench: Bench) -> None:
    environment = bench.environment

    async def nap() -> list[int]:
        times = [environment.clock.now_ms()]
        for delay_ms in (5, 0, 5):
            await environment.scheduler.sleep(delay_ms)
            times.append(environment.clock.now_ms())
        return times

    times = value_of(bench, spawn(nap()))
    assert times == sorted(times)
    assert times[-1] - times[0] >= 9


def test_jobs_of_one_thread_keep_their_order(bench: Bench) -> None:
    threads = bench.environment.background.threads("one")
    ran: list[int] = []

    def note(number: int) -> int:
        ran.append(number)
        return number

    outcomes = [threads.run(partial(note, number)) for number in (1, 2)]
    failing = threads.run(lambda: 1 // 0)
    assert not failing.done
    assert isinstance(value_of(bench, failing), ZeroDivisionError)
    assert ran == [1, 2]
    assert [outcome.value for outcome in outcomes] == [1, 2]
    threads.close()


def test_nothing_is_resolved_after_close(bench: Bench) -> None:
    threads = bench.environment.background.threads("some", 2)
    outcomes = [threads.run(lambda: 1) for _ in range(5)]
    threads.close()
    done: list[bool] = []
    bench.environment.scheduler.call_later(20, lambda: done.append(True))
    bench.run_until(lambda: bool(done))
    assert not any(outcome.done for outcome in outcomes)


def test_parallel_jobs_are_done_when_it_returns(bench: Bench) -> None:
    background = bench.environment.background
    ran: list[int] = []
    background.run_parallel([partial(ran.append, number) for number in range(5)], 3)
    assert sorted(ran) == [0, 1, 2, 3, 4]
    with pytest.raises(ZeroDivisionError):
        background.run_parallel([lambda: 1 // 0], 3)
    assert background.processors >= 1


def test_identifiers_and_choices(bench: Bench) -> None:
    random = bench.environment.random
    ids = {random.new_uuid() for _ in range(200)}
    assert len(ids) == 200
    assert {len(each) for each in ids} == {16}
    assert not any(each[0] >> 2 == 62 for each in ids)
    assert {random.randrange(3) for _ in range(200)} == {0, 1, 2}
    assert {random.randrange(5, 7) for _ in range(200)} == {5, 6}
    order = list(range(50))
    random.shuffle(order)
    assert order != sorted(order)
    assert sorted(order) == list(range(50))

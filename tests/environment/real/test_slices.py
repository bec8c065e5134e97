"""Jobs that run in lock step with the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from pykbroker.environment.loop_time import MS, LoopTime
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.slices import MOST_THREADS, SLICE_NS, RealSlices
from pykbroker.environment.real.timed_calls import TimedCalls


class World:
    """Slices on a real loop, with a clock that only moves when a job works."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.now_ns = 0
        self.loop_time = LoopTime()
        timed = TimedCalls(self.loop_time, self.monotonic_ns)
        self.slices = RealSlices(loop, timed, self.monotonic_ns)
        self.events: list[str] = []

    def monotonic_ns(self) -> int:
        return self.now_ns

    def work(self, name: str, slices: int) -> str:
        """Use up `slices` slices, and breathe after each."""
        for number in range(slices):
            self.events.append(f"{name}{number}")
            self.now_ns += SLICE_NS
            self.slices.breathe()
        return name


def run(scenario: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        world = World(asyncio.get_running_loop())
        try:
            await scenario(world)
        finally:
            world.slices.close()

    asyncio.run(whole())


def test_the_loop_has_a_turn_after_each_slice() -> None:
    async def scenario(world: World) -> None:
        def tick(left: int) -> None:
            world.events.append("turn")
            if left:
                world.loop.call_soon(tick, left - 1)

        job = world.slices.run("job", lambda: world.work("a", 3))
        world.loop.call_soon(tick, 3)
        assert not world.events
        assert await in_asyncio(job) == "a"
        assert world.events[:6] == ["a0", "turn", "a1", "turn", "a2", "turn"]

    run(scenario)


def test_jobs_take_turns() -> None:
    async def scenario(world: World) -> None:
        jobs = [world.slices.run("job", lambda name=name: world.work(name, 2)) for name in "abc"]  # type: ignore[misc]
        for job in jobs:
            await in_asyncio(job)
        assert world.events == ["a0", "b0", "c0", "a1", "b1", "c1"]

    run(scenario)


def test_a_slice_that_is_not_used_up_goes_on() -> None:
    async def scenario(world: World) -> None:
        def job() -> None:
            for number in range(3):
                world.events.append(str(number))
                world.slices.breathe()

        world.loop.call_soon(world.events.append, "turn")
        await in_asyncio(world.slices.run("job", job))
        assert world.events == ["turn", "0", "1", "2"]

    run(scenario)


def test_only_one_runs_at_any_time_and_breathing_outside_of_a_job_is_nothing() -> None:
    async def scenario(world: World) -> None:
        loop_thread = threading.current_thread()
        inside: list[bool] = []

        def job() -> None:
            inside.append(threading.current_thread() is not loop_thread)

        world.now_ns = SLICE_NS * 9
        world.slices.breathe()
        await in_asyncio(world.slices.run("job", job))
        assert inside == [True]

    run(scenario)


def test_what_a_job_raises_is_its_outcome_and_its_thread_serves_the_next_one() -> None:
    async def scenario(world: World) -> None:
        threads: list[str] = []

        def failing() -> None:
            threads.append(str(threading.get_ident()))
            raise ValueError("no")

        for _ in range(3):
            job = world.slices.run("job", failing)
            arrived = asyncio.Event()
            job.on_resolved(lambda _, arrived=arrived: arrived.set())  # type: ignore[misc]
            await arrived.wait()
            assert isinstance(job.value, ValueError)
        assert len(set(threads)) == 1

    run(scenario)


def test_slices_are_recorded_under_the_name_of_the_job() -> None:
    async def scenario(world: World) -> None:
        await in_asyncio(world.slices.run("Metadata", lambda: world.work("a", 2)))
        times = world.loop_time.by_unit["Metadata"]
        assert (sum(times.counts), times.longest_ns // MS) == (2, SLICE_NS // MS)

    run(scenario)


def test_a_job_that_nobody_wants_any_more_is_not_resumed() -> None:
    async def scenario(world: World) -> None:
        unwound: list[str] = []

        def job() -> None:
            try:
                world.work("a", 5)
            finally:
                unwound.append("a")

        dropped = world.slices.run("a", job, lambda: len(world.events) < 3)
        await in_asyncio(world.slices.run("b", lambda: world.work("b", 3)))
        assert world.events == ["a0", "b0", "a1", "b1", "b2"]
        assert unwound == ["a"]
        assert not dropped.done

    run(scenario)


def test_more_jobs_than_threads_wait_for_their_first_slice() -> None:
    async def scenario(world: World) -> None:
        count = MOST_THREADS + 4
        jobs = [
            world.slices.run("job", lambda name=f"{number}.": world.work(name, 2))  # type: ignore[misc]
            for number in range(count)
        ]
        for job in jobs:
            await in_asyncio(job)
        begun = world.events[:MOST_THREADS]
        assert begun == [f"{number}.0" for number in range(MOST_THREADS)]
        assert len(world.events) == 2 * count

    run(scenario)


def test_closing_unwinds_what_is_in_the_middle() -> None:
    unwound: list[str] = []

    async def scenario(world: World) -> None:
        def job() -> None:
            try:
                world.work("a", 5)
            finally:
                unwound.append("a")

        world.slices.run("a", job)
        world.slices.run("b", job)
        while not world.events:
            await asyncio.sleep(0)
        world.slices.close()
        assert unwound == ["a"]  # the other one was not begun

    before = threading.enumerate()
    run(scenario)
    assert set(threading.enumerate()) <= set(before)


def test_the_loop_runs_beside_what_is_apart() -> None:
    async def scenario(world: World) -> None:
        may_end = threading.Event()

        def job() -> str:
            world.slices.apart(lambda: may_end.wait(60))
            world.events.append("after")
            return world.work("a", 1)

        apart = world.slices.run("apart", job)
        other = world.slices.run("other", lambda: world.work("b", 2))
        assert await in_asyncio(other) == "b"
        assert not apart.done
        may_end.set()
        assert await in_asyncio(apart) == "a"
        assert world.events == ["b0", "b1", "after", "a0"]

    run(scenario)


def test_what_is_raised_apart_is_raised_in_the_job() -> None:
    async def scenario(world: World) -> None:
        def fail() -> None:
            raise ImportError("no such module")

        def job() -> str:
            try:
                world.slices.apart(fail)
            except ImportError as failure:
                return f"{failure}, {world.slices.is_running}"
            return ""

        assert await in_asyncio(world.slices.run("job", job)) == "no such module, True"

    run(scenario)


def test_outside_a_job_nothing_is_apart() -> None:
    async def scenario(world: World) -> None:
        threads: list[threading.Thread] = []
        world.slices.apart(lambda: threads.append(threading.current_thread()))
        assert threads == [threading.current_thread()]

    run(scenario)


def test_closing_waits_for_what_is_apart_and_unwinds_its_job() -> None:
    async def scenario(world: World) -> None:
        begun = asyncio.Event()

        def apart() -> None:
            world.loop.call_soon_threadsafe(begun.set)
            world.events.append("apart")

        def job() -> None:
            try:
                world.slices.apart(apart)
            finally:
                world.events.append("unwound")

        world.slices.run("job", job)
        await begun.wait()
        world.slices.close()
        assert world.events == ["apart", "unwound"]
        await asyncio.sleep(0)  # the call that its thread has left on the loop

    before = threading.enumerate()
    run(scenario)
    assert set(threading.enumerate()) <= set(before)

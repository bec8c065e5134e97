"""The timer: set for the first deadline, set again for an earlier one, and what a bug does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pykbroker.broker.purgatory_timer import PurgatoryTimer
from pykbroker.environment.real.scheduler import LoopScheduler
from pykbroker.purgatory import BASE_EFFORT, DelayedOperation, Purgatory


class Waiting(DelayedOperation):
    """Says when its time is up."""

    def __init__(self, expired: list[Waiting]) -> None:
        super().__init__()
        self._expired = expired

    def try_complete(self) -> bool:
        return False

    def expire(self) -> None:
        self._expired.append(self)


class Node:
    """A purgatory on the clock of an event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.purgatory = Purgatory(self.now_ms())
        self.expired: list[Waiting] = []
        self.woken = asyncio.Event()
        self.halted: list[BaseException] = []
        self.timer = PurgatoryTimer(
            LoopScheduler(self.loop),
            self.purgatory,
            now_ms=self.now_ms,
            wake=self.woken.set,
            halt=self.halt,
        )

    def now_ms(self) -> int:
        return int(self.loop.time() * 1000)

    def halt(self, failure: BaseException) -> None:
        self.halted.append(failure)
        self.woken.set()

    def watch(self, after_ms: int) -> Waiting:
        waiting = Waiting(self.expired)
        self.purgatory.watch(waiting, [], self.now_ms() + after_ms)
        self.timer.arm()
        return waiting


def run(script: Callable[[Node], Awaitable[None]]) -> None:
    async def main() -> None:
        node = Node()
        try:
            await asyncio.wait_for(script(node), 120)
        finally:
            node.timer.cancel()

    asyncio.run(main())


def test_an_earlier_deadline_comes_first() -> None:
    async def script(node: Node) -> None:
        node.watch(60_000)
        soon = node.watch(2)
        await node.woken.wait()
        assert node.expired == [soon]
        assert node.purgatory.next_deadline_ms() is not None

    run(script)


def test_without_deadlines_there_is_no_timer() -> None:
    async def script(node: Node) -> None:
        node.timer.arm()
        assert node.timer._timer is None
        node.watch(60_000)
        set_first = node.timer._timer
        node.watch(120_000)
        assert node.timer._timer is set_first
        node.timer.cancel()
        assert node.timer._timer is None

    run(script)


def test_a_bug_is_told() -> None:
    async def script(node: Node) -> None:
        broken = node.watch(1)
        del broken._expired
        await node.woken.wait()
        assert isinstance(node.halted[0], AttributeError)

    run(script)


def test_what_a_turn_had_no_time_for_is_done_in_a_later_one() -> None:
    async def script(node: Node) -> None:
        node.purgatory = node.timer._purgatory = Purgatory(node.now_ms(), effort=2 * BASE_EFFORT)
        for _ in range(5):
            node.watch(1)
        turns = 0
        while len(node.expired) < 5:
            await node.woken.wait()
            node.woken.clear()
            turns += 1
            assert len(node.expired) <= 2 * turns
            node.timer.arm()
        assert turns >= 3
        assert node.timer._rest is None

    run(script)


def test_the_rest_of_a_turn_that_is_cancelled_is_not_done() -> None:
    async def script(node: Node) -> None:
        node.purgatory = node.timer._purgatory = Purgatory(node.now_ms(), effort=BASE_EFFORT)
        for _ in range(2):
            node.watch(1)
        await node.woken.wait()
        node.timer.arm()
        node.timer.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(node.expired) == 1

    run(script)

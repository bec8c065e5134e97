"""The threads that check big batches: results come back on the loop, and not after `stop`."""

from __future__ import annotations

import asyncio
import threading

from pykbroker.broker.requests.validation_pool import ValidationPool
from pykbroker.environment.real.background import RealBackground
from pykbroker.log.validation.validation_rules import ValidationOutcome


def outcome(code: int) -> ValidationOutcome:
    return ValidationOutcome(code)


def test_results_come_on_the_loop_in_the_order_of_the_work() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        halted: list[BaseException] = []
        pool = ValidationPool(RealBackground(loop), halted.append)
        answered: asyncio.Future[list[ValidationOutcome]] = loop.create_future()
        threads: list[int] = []

        def work(code: int) -> ValidationOutcome:
            threads.append(threading.get_ident())
            return outcome(code)

        pool.check([lambda: work(1), lambda: work(2)], answered.set_result)
        assert [each.error for each in await answered] == [1, 2]
        assert threading.get_ident() not in threads
        pool.stop()
        assert halted == []

    asyncio.run(run())


def test_a_bug_in_a_thread_ends_the_node() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        halted: asyncio.Future[BaseException] = loop.create_future()
        pool = ValidationPool(RealBackground(loop), halted.set_result)

        def bug() -> ValidationOutcome:
            raise ZeroDivisionError

        pool.check([bug], lambda outcomes: None)
        assert isinstance(await halted, ZeroDivisionError)
        pool.stop()

    asyncio.run(run())


def test_nothing_is_told_after_stop() -> None:
    async def run() -> None:
        told: list[object] = []
        pool = ValidationPool(RealBackground(asyncio.get_running_loop()), told.append)
        gate = threading.Event()

        def work() -> ValidationOutcome:
            gate.wait(10)
            return outcome(0)

        pool.check([work], told.append)
        gate.set()
        pool.stop()
        await asyncio.sleep(0)
        assert told == []
        assert pool.is_stopped

    asyncio.run(run())

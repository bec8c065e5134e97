"""The scheduler on an asyncio event loop."""

from __future__ import annotations

import asyncio

import pytest

from pykbroker.deferred import Deferred, resolved, spawn
from pykbroker.environment.real.scheduler import LoopScheduler, in_asyncio


def test_calls_come_in_order_and_can_be_cancelled() -> None:
    async def main() -> list[str]:
        scheduler = LoopScheduler(asyncio.get_running_loop())
        calls: list[str] = []
        scheduler.call_later(30, calls.append, "late")
        scheduler.call_later(10, calls.append, "early")
        scheduler.call_soon(calls.append, "soon")
        scheduler.call_later(5, calls.append, "never").cancel()
        scheduler.call_later(-5, calls.append, "at once")
        await in_asyncio(scheduler.sleep(60))
        return calls

    assert asyncio.run(main()) == ["soon", "at once", "early", "late"]


def test_a_coroutine_sleeps() -> None:
    async def main() -> object:
        scheduler = LoopScheduler(asyncio.get_running_loop())

        async def work() -> str:
            await scheduler.sleep(1)
            await scheduler.sleep(0)
            return "done"

        return await in_asyncio(spawn(work()))

    assert asyncio.run(main()) == "done"


def test_in_asyncio_raises_failures_and_can_be_abandoned() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="no"):
            await in_asyncio(resolved(ValueError("no")))
        deferred = Deferred()
        waiting = asyncio.ensure_future(in_asyncio(deferred))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        deferred.resolve(1)  # harmless

    asyncio.run(main())

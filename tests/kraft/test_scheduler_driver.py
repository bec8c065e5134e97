"""The event loop as the drivers' time and thread."""

from __future__ import annotations

import asyncio
import threading

from pykbroker.kraft.scheduler_driver import LoopScheduler


def test_jobs_run_in_a_thread_and_end_on_the_loop() -> None:
    async def main() -> list[object]:
        loop = asyncio.get_running_loop()
        scheduler = LoopScheduler(loop)
        ended: asyncio.Future[None] = loop.create_future()
        seen: list[object] = []

        def job() -> None:
            seen.append(threading.current_thread() is threading.main_thread())

        def broken() -> None:
            raise OSError(5, "bad disk")

        def last(failure: BaseException | None) -> None:
            seen.append(failure)
            ended.set_result(None)

        scheduler.run_blocking(job, seen.append)
        scheduler.run_blocking(broken, last)
        await ended
        scheduler.close()
        scheduler.close()
        return seen

    in_main, first, second = asyncio.run(main())
    assert in_main is False
    assert first is None
    assert isinstance(second, OSError)


def test_timers() -> None:
    async def main() -> list[str]:
        scheduler = LoopScheduler(asyncio.get_running_loop())
        seen: list[str] = []
        done = asyncio.Event()
        scheduler.call_later(0, lambda: seen.append("never")).cancel()
        scheduler.call_later(-5, done.set)
        await done.wait()
        return seen

    assert asyncio.run(main()) == []

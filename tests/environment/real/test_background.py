"""Threads and worker processes of the real environment."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial

import pytest

from pykbroker.environment.real.background import RealBackground
from pykbroker.environment.real.scheduler import in_asyncio


def test_a_thread_answers_on_the_loop() -> None:
    async def main() -> None:
        threads = RealBackground(asyncio.get_running_loop()).threads("test")
        loop_thread = threading.get_ident()
        deferred = threads.run(threading.get_ident)
        delivered: list[int] = []
        deferred.on_resolved(lambda _: delivered.append(threading.get_ident()))
        while not delivered:
            await asyncio.sleep(0.001)
        assert delivered == [loop_thread]
        assert deferred.value != loop_thread
        threads.close()

    asyncio.run(main())


def test_a_failure_is_the_value() -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        threads = RealBackground(asyncio.get_running_loop()).threads("test")
        with pytest.raises(OSError, match="No space left"):
            await in_asyncio(threads.run(fail))
        threads.close()

    asyncio.run(main())


def test_one_thread_keeps_the_order() -> None:
    order: list[int] = []

    async def main() -> None:
        threads = RealBackground(asyncio.get_running_loop()).threads("test")
        for number in range(20):
            threads.run(partial(order.append, number))
        await in_asyncio(threads.run(lambda: None))
        threads.close()

    asyncio.run(main())
    assert order == list(range(20))


def test_nothing_is_resolved_after_close() -> None:
    started = threading.Event()
    release = threading.Event()

    def job() -> None:
        started.set()
        release.wait(60)

    async def main() -> None:
        threads = RealBackground(asyncio.get_running_loop()).threads("test")
        running, waiting = threads.run(job), threads.run(job)
        started.wait(60)
        threading.Timer(0.05, release.set).start()
        threads.close()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not running.done
        assert not waiting.done

    asyncio.run(main())


def test_run_parallel_waits_and_raises() -> None:
    async def main() -> None:
        background = RealBackground(asyncio.get_running_loop())
        done: list[int] = []
        background.run_parallel([partial(done.append, n) for n in range(8)], 4)
        assert sorted(done) == list(range(8))
        background.run_parallel([], 4)

        def fail() -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            background.run_parallel([fail], 1)

    asyncio.run(main())


def test_a_worker_process_is_ended() -> None:
    async def main() -> None:
        process = RealBackground(asyncio.get_running_loop()).process(
            "pykbroker.log.recovery.recovery_process"
        )
        await in_asyncio(process.send_line("[]"))
        answer = await in_asyncio(process.receive_line())
        assert isinstance(answer, str)
        assert "failed" in answer
        began = time.monotonic()
        process.end()
        assert time.monotonic() - began < 60

    asyncio.run(main())

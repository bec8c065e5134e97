"""The worker process as the node sees it; whole rounds are in test_cleaner_driver."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from pykbroker.environment.real.background import RealBackground, RealProcess
from pykbroker.log.compaction.compaction_worker_driver import CompactionWorker
from pykbroker.log.compaction.round import CompactionJob
from tests.harness.environments import run


def job(directory: Path) -> CompactionJob:
    """Of a log without segments."""
    return CompactionJob(
        directory=str(directory),
        segments=(),
        first_dirty_offset=0,
        first_uncleanable_offset=0,
        high_watermark=0,
        now_ms=0,
        delete_retention_ms=0,
        segment_bytes=1000,
        segment_index_bytes=1000,
        index_interval_bytes=100,
        map_bytes=1000,
        io_buffer_bytes=1000,
        aborted=(),
        last_records=(),
    )


def kill(worker: RealProcess) -> None:
    process = worker._process
    assert process is not None
    process.kill()
    process.wait()


def test_jobs_one_after_the_other_in_one_process(tmp_path: Path) -> None:
    async def main() -> None:
        worker = CompactionWorker(RealBackground(asyncio.get_running_loop()))
        try:
            assert await worker.receive() is None  # nothing was asked for
            seen = set()
            for _ in range(2):
                await worker.send(job(tmp_path), 1e9)
                message = await worker.receive()
                assert message is not None
                assert message["done"]["end_offset"] == 0
                assert isinstance(worker.process, RealProcess)
                seen.add(worker.process.pid)
            assert len(seen) == 1
        finally:
            worker.close()
        assert worker.process is None

    run(main)


def test_a_process_that_ended_says_nothing_and_the_next_order_starts_another(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        worker = CompactionWorker(RealBackground(asyncio.get_running_loop()))
        try:
            await worker.send(job(tmp_path), 1e9)
            first = worker.process
            assert isinstance(first, RealProcess)
            assert await worker.receive() is not None
            kill(first)
            assert await worker.receive() is None
            await worker.send(job(tmp_path), 1e9)
            second = worker.process
            assert isinstance(second, RealProcess)
            assert second is not first
            assert await worker.receive() is not None
            kill(second)
            await worker.send(job(tmp_path), 1e9)
            assert worker.process is not second
            assert await worker.receive() is not None
        finally:
            worker.close()

    run(main)


def test_calls_that_may_wait_run_in_its_thread() -> None:
    async def main() -> None:
        worker = CompactionWorker(RealBackground(asyncio.get_running_loop()))
        try:
            assert await worker.in_thread(threading.get_ident) != threading.get_ident()
        finally:
            worker.close()

    run(main)

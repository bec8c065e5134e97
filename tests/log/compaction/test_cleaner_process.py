"""pykbroker.log.compaction.cleaner_process: the worker's side of the pipe, without a process."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import pytest

from pykbroker.log.compaction import cleaner_process
from pykbroker.log.compaction.cleaner_process import Throttle, run_job, serve
from pykbroker.log.compaction.cleaner_state import CleanerState, make_job
from pykbroker.log.compaction.round import CompactionJob
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.background import SleeplessClock
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.compaction.compaction_makers import NOW, Writer, open_accounts


def dirty() -> tuple[PartitionLog, CompactionJob]:
    files = MemoryFiles()
    files.mkdir("/d")
    log = open_accounts(files, segment_bytes=300)
    writer = Writer(log)
    for number in range(20):
        writer.put([(b"k%d" % (number % 3), b"%d" % number)])
    chosen = CleanerState().examine(log, log.log_end_offset, NOW)
    return log, make_job(chosen, 0, NOW, map_bytes=1 << 20, io_buffer_bytes=4096)[0]


def told(log: PartitionLog, *jobs: CompactionJob) -> list[dict[str, Any]]:
    lines = [json.dumps({"job": job.to_json(), "bytes_per_second": 1e12}) + "\n" for job in jobs]
    out = io.StringIO()
    serve(log.files, SleeplessClock(), io.StringIO("".join(lines)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_jobs_one_after_the_other() -> None:
    log, job = dirty()
    messages = told(log, job, job)
    kinds = [next(iter(message)) for message in messages]
    assert kinds.count("done") == 2
    assert kinds[-1] == "done"
    assert messages[-1]["done"]["end_offset"] == log.active.base_offset
    groups = [message["group"] for message in messages[: kinds.index("done")]]
    assert [base for group in groups for base in group["old"]] == [
        segment.base_offset for segment in job.segments
    ]


def test_how_a_job_fails() -> None:
    log, job = dirty()
    content = bytearray(log.segments[0].file.pread(300, 0))
    content[-1] ^= 1
    log.segments[0].file.pwritev([content], 0)
    (message,) = told(log, job)
    assert message["failed"] == "corrupt"
    assert "00000000000000000000.log" in message["message"]

    log, job = dirty()
    log.files.unlink(log.segments[1].file.path)
    assert told(log, job)[-1]["failed"] == "gone"

    log, job = dirty()
    assert isinstance(log.files, MemoryFiles)
    log.files.fail = lambda name, path: (
        OSError(28, "no space") if name == "write" and ".cleaned" in path else None
    )
    message = told(log, job)[-1]
    assert (message["failed"], message["errno"]) == ("io", 28)


def test_a_bug_marks_the_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    log, job = dirty()

    def broken(*arguments: object) -> object:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(cleaner_process, "compact", broken)
    assert told(log, job) == [{"failed": "corrupt", "message": "ZeroDivisionError: oops"}]


def test_it_ends_in_silence_when_the_node_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(Exception):
        pass

    def end(code: int) -> None:
        raise Ended(code)

    class Broken(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    log, job = dirty()
    monkeypatch.setattr(os, "_exit", end)
    line = json.dumps({"job": job.to_json(), "bytes_per_second": 1e12})
    with pytest.raises(Ended):
        serve(log.files, SleeplessClock(), io.StringIO(line), Broken())


def test_it_stops_when_nobody_wants_the_result() -> None:
    log, job = dirty()
    messages: list[dict[str, Any]] = []
    steps = iter([True, True, False])
    run_job(log.files, job, Throttle(1e12, SleeplessClock()), messages.append, lambda: next(steps))
    assert messages == []


def test_the_throttle_keeps_the_rate() -> None:
    clock = SleeplessClock()
    throttle = Throttle(1000, clock)
    throttle.spent(5)
    assert clock.monotonic_s() == 0  # too short to sleep for
    for _ in range(20):
        throttle.spent(1000)
    assert clock.monotonic_s() == pytest.approx(20, abs=0.1)
    clock.sleep(1000)
    throttle.spent(1000)
    throttle.spent(1000)
    # Time that was not used is not caught up with.
    assert clock.monotonic_s() == pytest.approx(1021, abs=0.1)

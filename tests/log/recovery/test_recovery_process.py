"""The worker process of recovery, without a process."""

from __future__ import annotations

import io
import json

from pykbroker.log.recovery.recovery_process import serve
from pykbroker.testing.world.background import SleeplessClock
from tests.log.log_makers import DIRECTORY, append, memory_disk, open_orders
from tests.log.recovery.test_recovery_driver import task_of


def test_a_worker_recovers_and_closes() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    append(log, b"b")
    size = log.size_bytes
    log.active.file.pwritev([b"torn"], size)
    answers = io.StringIO()
    lines = io.StringIO(json.dumps(task_of(DIRECTORY)) + "\n" + json.dumps(["bad"]) + "\n")
    serve(files, SleeplessClock(), lines, answers)
    first, second = map(json.loads, answers.getvalue().splitlines())
    assert first == {"end_offset": 2}
    assert "failed" in second
    assert files.size(f"{DIRECTORY}/{0:020d}.log") == size
    assert open_orders(files, is_clean=True, recovery_point=2).log_end_offset == 2

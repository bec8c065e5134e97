"""The worker process that recovers logs with much unflushed data after a crash.

    in    a RecoveryTask as a JSON array                one per line, on its standard input
    out   {"end_offset": 42} | {"failed": "message"}    one per line, on its standard output

State   none between tasks. The process ends at the end of its input, which is also reached when its
        parent is gone (after the current task).
Run     by environment/real/worker_process.py, for recovery_driver.py
"""

from __future__ import annotations

import json
from typing import TextIO

from pykbroker.environment.clock import WorkerClock
from pykbroker.environment.files import Files
from pykbroker.log.recovery.opening import RecoveryTask, recover_and_close


def serve(files: Files, _: WorkerClock, lines: TextIO, out: TextIO) -> None:
    """Run the tasks of `lines` until the end of input."""
    for line in lines:
        try:
            answer: dict[str, object] = {
                "end_offset": recover_and_close(files, RecoveryTask(*json.loads(line)))
            }
        except Exception as fault:  # the parent retries, and reports the failure with more context
            answer = {"failed": f"{type(fault).__name__}: {fault}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()

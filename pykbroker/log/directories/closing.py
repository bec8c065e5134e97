"""Closing the logs of a directory when the node stops.

The clean shutdown file is written after the logs were flushed and closed and the checkpoints were
written. In a running node, threads wait for the fsyncs, and between two logs the event loop may
get a turn (`rest`), because other nodes of the quorum must hear from this one, however many logs
it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.background import Threads
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.directory_loader import rest_in_turns
from pykbroker.log.directories.log_directory import LogDirectory
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.values import NamedTuple

LOGS_CLOSED_AT_ONCE = 256
FLUSH_THREADS = 16  # the file system commits together what is flushed at once

Job = Callable[[], object]


class Closing(NamedTuple):
    """What a running node provides for the closing of its logs.

    `run_jobs` runs jobs that wait for the disk, in any order; its Deferred is resolved when none
    runs any more, with None or the exception of one that failed; others may then not have run.
    `rest` is called between two logs and returns a Deferred to wait for, or None to continue
    immediately. While `is_in_doubt` returns True (after a bug), no directory is marked as clean.
    """

    run_jobs: Callable[[Sequence[Job]], Deferred]
    rest: Callable[[], Deferred | None]
    is_in_doubt: Callable[[], bool] = lambda: False


def closing_in(
    environment: Environment, threads: Threads, is_in_doubt: Callable[[], bool]
) -> Closing:
    """Return what a node provides: a thread of `threads` waits for up to FLUSH_THREADS more, which
    run the jobs, and the event loop gets turns for other work.
    """
    run_parallel = environment.background.run_parallel
    return Closing(
        lambda jobs: threads.run(partial(run_parallel, jobs, FLUSH_THREADS)),
        rest_in_turns(environment),
        is_in_doubt,
    )


async def close_directory(
    directory: LogDirectory,
    logs: Sequence[PartitionLog],
    checkpoints: Sequence[Callable[[LogDirectory], None]],
    broker_epoch: int,
    closing: Closing,
) -> None:
    """Flush and close the logs of a directory, then call `checkpoints`, then mark it as clean
    unless it is in doubt. Raises LogDirFailure.
    """
    await _close_logs(directory, logs, closing)
    await closing.run_jobs([partial(checkpoint, directory) for checkpoint in checkpoints])
    if closing.is_in_doubt():
        return
    await closing.run_jobs([partial(directory.write_clean_shutdown, broker_epoch)])


async def _close_logs(
    directory: LogDirectory, logs: Sequence[PartitionLog], closing: Closing
) -> None:
    """Flush and close the logs. The log directory itself is synced with the clean shutdown file."""
    for start in range(0, len(logs), LOGS_CLOSED_AT_ONCE):
        prepared: list[tuple[PartitionLog, FlushJob | None]] = []
        for log in logs[start : start + LOGS_CLOSED_AT_ONCE]:
            prepared.append((log, log.prepare_close(with_parent=False)))
            await _rest(closing)
        try:
            await closing.run_jobs([job.run for _, job in prepared if job is not None])
        except OSError as error:
            raise LogDirFailure(directory.path, "closing", error) from error
        for log, job in prepared:
            log.finish_close(job)
            await _rest(closing)


async def _rest(closing: Closing) -> None:
    resting = closing.rest()
    if resting is not None:
        await resting


def run_in_place(jobs: Sequence[Job]) -> Deferred:
    """Run the jobs one by one, now, up to the first that fails."""
    done = Deferred()
    try:
        for job in jobs:
            job()
    except Exception as failure:
        done.resolve(failure)
    else:
        done.resolve(None)
    return done


IN_ONE_GO = Closing(run_in_place, lambda: None)

"""Closing many logs of a directory at once: threads may do their syncs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.log_directory import LogDirectory
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.partition_log import PartitionLog


def close_logs(
    directory: LogDirectory,
    logs: Sequence[PartitionLog],
    run_jobs: Callable[[Sequence[FlushJob]], None],
) -> None:
    """Close some logs of a directory; the directory itself is synced with the
    clean shutdown file.
    """
    jobs = [log.prepare_close(with_parent=False) for log in logs]
    try:
        run_jobs([job for job in jobs if job is not None])
    except OSError as error:
        raise LogDirFailure(directory.path, "closing", error) from error
    for log, job in zip(logs, jobs, strict=True):
        log.finish_close(job)


def run_in_order(jobs: Sequence[FlushJob]) -> None:
    for job in jobs:
        job.run()

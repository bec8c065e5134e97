"""The facts that DescribeLogDirs returns: sizes, lags of copies, space on the volume."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.slices import Breathe, paced
from pykbroker.errors import ErrorCode
from pykbroker.log.directories.log_directory import LogDirectory
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

UNKNOWN = -1


def absolute_path(path: str) -> str:
    """Return the path, from the working directory if it is relative, without `.` components; links
    and `..` are kept.
    """
    steps = os.path.join(os.getcwd(), path).split("/")
    return "/".join(step for step in steps if step != ".")


class LogReport(NamedTuple):
    """One log; `offset_lag` is how far a future log is behind the current one (-1: there is none),
    0 for a current log.
    """

    topic_partition: TopicPartition
    size_bytes: int
    offset_lag: int
    is_future: bool


Wanted = Callable[[TopicPartition], bool] | None


class DirectoryReport(NamedTuple):
    """One directory; `error` is KAFKA_STORAGE_ERROR, and the volume's sizes are -1, if it is
    offline or the sizes cannot be read.
    """

    path: str
    error: int
    total_bytes: int
    usable_bytes: int
    logs: list[LogReport]


def report_directory(
    directory: LogDirectory,
    current: Mapping[TopicPartition, PartitionLog],
    future: Mapping[TopicPartition, PartitionLog],
    wanted: Wanted,
    breathe: Breathe,
) -> DirectoryReport:
    """Report on a directory and its logs; `wanted` selects the logs, None means all.

    `breathe` paces the walks over the logs (`environment/slices.py`).
    """
    offline = DirectoryReport(directory.path, ErrorCode.KAFKA_STORAGE_ERROR, UNKNOWN, UNKNOWN, [])
    if not directory.is_online:
        return offline
    try:
        total, usable = directory.usage()
    except LogDirFailure:
        return offline
    logs = []
    for topic_partition, log in paced(list(current.items()), breathe):
        if log.log_directory == directory.path and (wanted is None or wanted(topic_partition)):
            logs.append(LogReport(topic_partition, log.size_bytes, 0, False))
    for topic_partition, log in paced(list(future.items()), breathe):
        if log.log_directory == directory.path and (wanted is None or wanted(topic_partition)):
            leader = current.get(topic_partition)
            lag = UNKNOWN  # the directory of the current log has failed
            if leader is not None:
                lag = max(leader.log_end_offset - log.log_end_offset, 0)
            logs.append(LogReport(topic_partition, log.size_bytes, lag, True))
    return DirectoryReport(directory.path, ErrorCode.NONE, total, usable, logs)

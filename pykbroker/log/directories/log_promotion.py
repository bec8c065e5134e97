"""Puts the complete copy of a log, in another log directory, in the place of the log.

    /a/orders-0                 the log    -> /a/orders-0.<id>-delete
    /b/orders-0.<id>-future     its copy   -> /b/orders-0

There are never two logs of a partition, unless the copy was renamed, and its directory failed
before it was synced or renamed back. If the copy cannot take its place, the log is renamed back
(unless its own directory fails), because what has a name with `-delete` is deleted at the next
start.

Source: Kafka's LogManager.replaceCurrentWithFutureLog, which renames the copy first.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pykbroker.environment.files import LogDirFailure

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog


def put_in_place(log: PartitionLog, aside: str, copy: PartitionLog) -> None:
    """Rename `log` to `aside`, and `copy` to the name that a log of the partition has, durably.
    Raises LogDirFailure.
    """
    home, copied = log.directory, copy.directory
    log.move_to(f"{log.log_directory}/{aside}")
    place = f"{copy.log_directory}/{copy.topic_partition}"
    try:
        copy.move_to(place)
    except LogDirFailure:
        with contextlib.suppress(OSError):  # it has been renamed if only the sync failed
            copy.files.rename(place, copied)
        log.move_to(home)
        raise

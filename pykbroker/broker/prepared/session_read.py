"""Reads a few records of the only partition that has news for a consumer's fetch session.

    session -> the only partition that has changed -> its records, read once, in memory

In      a session that has taken in what its request names, and the request's parameters.
Out     the partition with its numbers and records; None leaves the request to `Fetching`, which
        also waits and reports errors. A read here changes nothing.
Invariant: what is found is what `fetch_reader` would find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.environment.files import Buffer
from pykbroker.replication.fetch_reader import is_unchanged
from pykbroker.replication.partition import READ_COMMITTED

if TYPE_CHECKING:
    from pykbroker.broker.requests.session_shard import FetchSession
    from pykbroker.replication.fetch_request import FetchParams, FetchPartition

MOST_PARTITIONS = 16

Found = tuple["FetchPartition", tuple[int, int, int], Buffer]
"""The partition; its high watermark, last stable offset and log start; the records."""


def read_little(session: FetchSession, params: FetchParams) -> Found | None:
    """Return the only partition that has changed, with its records; see the module."""
    asked = _changed(session)
    if asked is None:
        return None
    partition = asked.partition
    if (
        partition is None
        or not partition.hosted
        or partition.check_epoch(asked.current_leader_epoch, params.leader_only)
    ):
        return None
    last_epoch = asked.last_fetched_epoch
    if last_epoch >= 0 and not (last_epoch == partition.leader_epoch and partition.is_leader):
        return None  # its log may diverge
    log = partition.log
    high_watermark = partition.high_watermark
    last_stable_offset = log.last_stable_offset(high_watermark)
    committed_only = params.isolation == READ_COMMITTED
    bound = last_stable_offset if committed_only else high_watermark
    offset = asked.fetch_offset
    if offset >= bound:
        return None
    limit = asked.max_bytes if asked.max_bytes < params.max_bytes else params.max_bytes
    records = log.read_small(offset, limit, bound, True, committed_only)
    if not records or len(records) < params.min_bytes:
        return None
    return asked, (high_watermark, last_stable_offset, log.local.log_start_offset), records


def _changed(session: FetchSession) -> FetchPartition | None:
    """Return the partition that may have something to tell; None if several have, or none has, or
    the session has more than MOST_PARTITIONS.
    """
    partitions = session.partitions
    if len(partitions) > MOST_PARTITIONS:
        return None
    changed = None
    for asked in partitions.values():
        partition = asked.partition
        if partition is not None and partition.hosted and is_unchanged(partition, asked):
            continue
        if changed is not None:
            return None
        changed = asked
    return changed

"""The changes of a follower to its replica: append fetched batches, truncate, take over offsets.

Invariants: batches keep the leader's offsets and epochs; the high watermark is at most the log end;
the log start only grows, except by a cut.
Source: `ReplicaFetcherThread.processPartitionData`, `Partition.truncateTo`,
`Partition.appendRecordsToFollowerOrFutureReplica`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pykbroker.environment.files import Buffer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.holes import first_hole
from pykbroker.protocol.stored_batch import read_stored_header
from pykbroker.replication.high_watermark import within

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import AppendOutcome
    from pykbroker.protocol.messages.fetch_response import PartitionData
    from pykbroker.replication.partition import Partition

UNEXPECTED_OFFSET = int(ErrorCode.OFFSET_OUT_OF_RANGE)

_log = logging.getLogger(__name__)


class OffsetMismatch(Exception):
    """The log does not end where the follower fetched, which is a bug: the partition stops."""


def start_offset(partition: Partition) -> int:
    """Return where a follower begins to fetch: without any epoch in its log, only records below the
    high watermark are certain to be those of the leader.
    """
    log = partition.log
    return log.log_end_offset if latest_epoch(partition) is not None else partition.high_watermark


def latest_epoch(partition: Partition) -> int | None:
    """Return the latest leader epoch that the log knows, which may have no batch; None without
    one.
    """
    return partition.log.leader_epochs.latest_epoch


def append_fetched(
    partition: Partition, fetch_offset: int, leader_epoch: int, entry: PartitionData, now_ms: int
) -> bool:
    """Append the batches of an answer and take over its offsets; return True
    if the high watermark moved.

    Raises KafkaError(CORRUPT_MESSAGE) for damaged batches or a damaged log, another KafkaError for
    batches that do not fit, CorruptBatch for an unreadable transaction marker, OffsetMismatch if
    the log does not end at `fetch_offset`, and LogDirFailure.
    """
    log = partition.log
    if fetch_offset != log.log_end_offset:
        raise OffsetMismatch(
            f"{partition.topic_partition}: fetched offset {fetch_offset},"
            f" but the log ends at {log.log_end_offset}"
        )
    records: Buffer | None = entry.records  # type: ignore[assignment]
    if records:
        outcome = log.append_as_follower(records, now_ms, leader_epoch)
        if outcome.error == UNEXPECTED_OFFSET and _begins_below(partition, records):
            outcome = _begin_lower(partition, records, leader_epoch, now_ms)
        if outcome.error:
            raise KafkaError(outcome.error, outcome.error_message)
        log.write_pending()
    return take_over(partition, entry.high_watermark, entry.log_start_offset)


def take_over(partition: Partition, high_watermark: int, log_start_offset: int) -> bool:
    """Take over the leader's high watermark, as far as the log reaches, and a log start up to
    there; return True if the high watermark moved.
    """
    log = partition.log
    before = partition.high_watermark
    partition.high_watermark = within(log, high_watermark)
    if log.log_start_offset < log_start_offset <= partition.high_watermark:
        log.advance_log_start_offset(log_start_offset)
    return partition.high_watermark != before


def truncate(partition: Partition, offset: int, now_ms: int) -> None:
    """Truncate the replica at `offset`."""
    if offset < partition.high_watermark:
        _log.warning(
            "%s: truncating to offset %d, below the high watermark %d",
            partition.topic_partition,
            offset,
            partition.high_watermark,
        )
    partition.log.truncate_to(offset, now_ms)
    partition.high_watermark = min(partition.high_watermark, partition.log.log_end_offset)


def cut_at_hole(partition: Partition, now_ms: int) -> bool:
    """Truncate the log at a hole that a power failure left, so that the lost records are fetched
    again; return False if the log is too damaged for that. Raises LogDirFailure, and KafkaError if
    the log is too damaged to look for holes.

    Kafka does not check for holes; such a replica gets in sync, and may lead, without these
    records.
    """
    hole = first_hole(partition.log)
    if hole is not None:
        _log.warning(
            "%s: offsets from %d on are missing in the middle of the log: fetching them again",
            partition.topic_partition,
            hole,
        )
        try:
            truncate(partition, hole, now_ms)
        except KafkaError as error:
            _log.error("%s: cannot be truncated: %s", partition, error)
            return False
    partition.log.local.unsynced_from = None
    return True


def truncate_fully(partition: Partition, offset: int, now_ms: int) -> None:
    """Delete everything and continue at `offset`."""
    partition.log.truncate_fully_and_start_at(offset, now_ms)
    partition.high_watermark = offset


def _begins_below(partition: Partition, records: Buffer) -> bool:
    """Return whether the first batch contains the log start of an empty log.

    After DeleteRecords the leader's log start may be inside a batch, which is sent complete.
    """
    log = partition.log
    header = read_stored_header(memoryview(records))
    return (
        log.log_start_offset == log.log_end_offset
        and header.base_offset < log.log_end_offset <= header.last_offset
    )


def _begin_lower(
    partition: Partition, records: Buffer, leader_epoch: int, now_ms: int
) -> AppendOutcome:
    first_offset = read_stored_header(memoryview(records)).base_offset
    _log.info(
        "%s: the log begins at offset %d, with the batch that holds the leader's log start",
        partition.topic_partition,
        first_offset,
    )
    truncate_fully(partition, first_offset, now_ms)
    return partition.log.append_as_follower(records, now_ms, leader_epoch)

"""Deleting the records of a partition up to an offset, as its leader is asked to (DeleteRecords).

The followers learn of the new log start with the next answer to a fetch of theirs.
Source: `Partition.deleteRecordsOnLeader`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pykbroker.replication.partition import Partition

TO_HIGH_WATERMARK = -1


def delete_records(partition: Partition, offset: int) -> int:
    """Move the log start up to `offset` (-1: the high watermark); return that offset, even if the
    log starts later.

    KafkaError: NOT_LEADER_OR_FOLLOWER, POLICY_VIOLATION (compacted only), OFFSET_OUT_OF_RANGE.
    LogDirFailure.
    """
    if not partition.is_leader:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    log = partition.log
    if log.config.compact and not log.config.delete:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"Records of {partition.topic_partition} cannot be deleted: its cleanup.policy is"
            " compact only.",
        )
    if offset == TO_HIGH_WATERMARK:
        offset = partition.high_watermark
    if offset < 0 or offset > partition.high_watermark:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Offset {offset} of {partition.topic_partition} is above the high watermark"
            f" {partition.high_watermark} or negative.",
        )
    if offset > log.log_start_offset:
        log.advance_log_start_offset(offset)
    return offset

"""The records of `__consumer_offsets` that classic groups and offsets write, in Kafka's versions.

Versions as `GroupCoordinatorRecordHelpers.java` of 4.4 writes them: group metadata 3, offset
commits 4, and 1 when a client asked for a retention of its own (only version 1 has the field).
"""

from __future__ import annotations

from pykbroker.decision import CoordinatorRecord
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.group_metadata_value import GroupMetadataValue
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue

GROUP_METADATA_VALUE_VERSION = 3
OFFSET_COMMIT_VALUE_VERSION = 4
OFFSET_COMMIT_EXPIRING_VALUE_VERSION = 1


def group_metadata_record(group_id: str, value: GroupMetadataValue) -> CoordinatorRecord:
    """A generation of a group."""
    return CoordinatorRecord(GroupMetadataKey(group=group_id), value, GROUP_METADATA_VALUE_VERSION)


def new_group_record(group_id: str, now_ms: int) -> CoordinatorRecord:
    """A group after its first join, without a generation yet."""
    value = GroupMetadataValue(
        protocol_type="",
        generation=0,
        protocol=None,
        leader=None,
        current_state_timestamp=now_ms,
        members=[],
    )
    return group_metadata_record(group_id, value)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """A group is deleted."""
    return CoordinatorRecord(GroupMetadataKey(group=group_id), None)


def offset_commit_record(
    group_id: str, topic: str, partition: int, value: OffsetCommitValue
) -> CoordinatorRecord:
    """A committed offset."""
    version = (
        OFFSET_COMMIT_VALUE_VERSION
        if value.expire_timestamp == -1
        else OFFSET_COMMIT_EXPIRING_VALUE_VERSION
    )
    key = OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    return CoordinatorRecord(key, value, version)


def offset_tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """A committed offset is deleted."""
    return CoordinatorRecord(
        OffsetCommitKey(group=group_id, topic=topic, partition=partition), None
    )

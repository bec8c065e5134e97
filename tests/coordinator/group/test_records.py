"""The records that groups and offsets write, in the versions of Kafka 4.4."""

from __future__ import annotations

from pykbroker.coordinator.group import records
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue


def test_a_new_group() -> None:
    record = records.new_group_record("g", 7)
    assert record.key == GroupMetadataKey(group="g")
    assert record.value_version == 3
    value = record.value
    assert value is not None
    assert (value.protocol_type, value.protocol, value.generation) == ("", None, 0)
    assert (value.leader, value.members, value.current_state_timestamp) == (None, [], 7)


def test_offset_commits() -> None:
    plain = records.offset_commit_record("g", "t", 3, OffsetCommitValue(offset=5))
    assert plain.key == OffsetCommitKey(group="g", topic="t", partition=3)
    assert plain.value_version == 4
    expiring = OffsetCommitValue(offset=5, expire_timestamp=9)
    assert records.offset_commit_record("g", "t", 3, expiring).value_version == 1


def test_tombstones() -> None:
    assert records.group_tombstone("g").value is None
    tombstone = records.offset_tombstone("g", "t", 3)
    assert (tombstone.key, tombstone.value) == (
        OffsetCommitKey(group="g", topic="t", partition=3),
        None,
    )

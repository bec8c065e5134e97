"""Coordinator records as bytes."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.records import (
    group_tombstone,
    new_group_record,
    offset_commit_record,
    offset_tombstone,
)
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.decision import CoordinatorRecord
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.primitives import DecodeError

CODEC = RecordCodec(GROUP_RECORD_TYPES)
PLAIN = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7, topic_id=b"\1" * 16)
EXPIRING = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7, expire_timestamp=8)

RECORDS = [
    new_group_record("g", 7),
    group_tombstone("g"),
    offset_commit_record("g", "t", 3, PLAIN),
    offset_commit_record("g", "t", 3, EXPIRING),
    offset_tombstone("g", "t", 3),
]


@pytest.mark.parametrize("record", RECORDS)
def test_there_and_back(record: CoordinatorRecord) -> None:
    key, value = CODEC.encode(record)
    assert CODEC.decode(key, value) == record
    assert CODEC.decode(memoryview(key), None if value is None else memoryview(value)) == record


def test_the_bytes() -> None:
    key, value = CODEC.encode(offset_commit_record("g", "t", 3, EXPIRING))
    assert key == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert value == (b"\0\1\0\0\0\0\0\0\0\5\0\1m\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\10")
    _, value = CODEC.encode(offset_commit_record("g", "t", 3, PLAIN))
    assert value is not None
    assert value[:2] == b"\0\4"


def test_what_a_newer_release_wrote_is_skipped() -> None:
    assert CODEC.decode(b"\0\x7fanything", b"\0\0") is None
    key, _ = CODEC.encode(group_tombstone("g"))
    assert CODEC.decode(key, b"\0\x63anything") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", None),
        (b"\0", None),
        (b"\0\2\0\5g", None),
        (b"\0\2\0\1g", b"\0"),
        (b"\0\2\0\1g", b"\0\3"),
    ],
)
def test_broken_bytes(key: bytes, value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        CODEC.decode(key, value)

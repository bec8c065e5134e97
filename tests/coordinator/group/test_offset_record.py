"""Records of committed offsets that are patched are those that the general codec encodes."""

from __future__ import annotations

import random

import pytest

from pykbroker.coordinator.group import offset_record
from pykbroker.coordinator.group.offset_record import GroupRecordCodec
from pykbroker.coordinator.group.records import (
    group_tombstone,
    new_group_record,
    offset_commit_record,
    offset_tombstone,
)
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.decision import CoordinatorRecord
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.primitives import ZERO_UUID, EncodeError

GENERAL = RecordCodec(GROUP_RECORD_TYPES)


def random_commit(chance: random.Random) -> CoordinatorRecord:
    """Mostly of a few partitions; some with metadata or an expiry."""
    expires = chance.choice((-1,) * 9 + (1 << 40,))
    value = OffsetCommitValue(
        offset=chance.choice((0, -1, 127, 1 << 62)),
        leader_epoch=-1 if expires >= 0 else chance.choice((-1, 0, 1 << 30)),
        metadata=chance.choice(("",) * 9 + ("m" * 200,)),
        commit_timestamp=chance.choice((0, -1, 1_700_000_000_000)),
        expire_timestamp=expires,
        topic_id=ZERO_UUID if expires >= 0 else chance.choice((ZERO_UUID, b"i" * 16)),
    )
    group = chance.choice(("", "g", "ü" * 40, "g" * 9000))
    return offset_commit_record(group, chance.choice(("t", "t" * 249)), chance.randrange(3), value)


def test_the_bytes_are_those_of_the_general_codec() -> None:
    chance = random.Random(1)
    codec = GroupRecordCodec()
    for _ in range(3000):
        record = random_commit(chance)
        delta = chance.choice((0, 0, 1, 63, 64, 5000))
        assert codec.encode_record(record, delta) == GENERAL.encode_record(record, delta)


def test_other_records_are_the_general_codecs() -> None:
    codec = GroupRecordCodec()
    for record in (new_group_record("g", 7), group_tombstone("g"), offset_tombstone("g", "t", 3)):
        for delta in (0, 1):
            assert codec.encode_record(record, delta) == GENERAL.encode_record(record, delta)


def test_tags_of_a_newer_release_are_kept() -> None:
    codec = GroupRecordCodec()
    for tags in (None, {100: b"new"}, None):
        value = OffsetCommitValue(offset=5, unknown_tags=tags)
        record = offset_commit_record("g", "t", 0, value)
        assert codec.encode_record(record, 0) == GENERAL.encode_record(record, 0)


def test_what_cannot_be_encoded_is_refused_each_time() -> None:
    codec = GroupRecordCodec()
    record = offset_commit_record("g" * 40_000, "t", 0, OffsetCommitValue(offset=5))
    for _ in range(2):
        with pytest.raises(EncodeError):
            codec.encode_record(record, 0)


def test_a_bounded_number_of_partitions_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_record, "MOST_KNOWN", 5)
    codec = GroupRecordCodec()
    for index in range(12):
        record = offset_commit_record("g", "t", index, OffsetCommitValue(offset=5))
        codec.encode_record(record, 0)
        assert 0 < len(codec._known) <= 5

"""Kafka's own topics as tables."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from pykbroker.offline import CorruptSegment, cluster_metadata, consumer_offsets, transaction_state
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from pykbroker.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, partition_directory, write_segment


def encoded(message: Message, version: int) -> bytes:
    out: Parts = []
    message.encode(out, version)
    return join_parts(out)


def prefixed(number: int, message: Message, version: int) -> bytes:
    return struct.pack(">h", number) + encoded(message, version)


def write(root: Path, topic: str, rows: Sequence[tuple[bytes | None, bytes | None]]) -> None:
    batch = build_batch([(key, value, BASE_MS, ()) for key, value in rows])
    write_segment(partition_directory(root, topic), [bytes(batch)])


def test_consumer_offsets(tmp_path: Path):
    key = prefixed(1, OffsetCommitKey(group="g", topic="orders", partition=3), 0)
    value = OffsetCommitValue(offset=42, leader_epoch=5, metadata="m", commit_timestamp=BASE_MS)
    rows = [
        (key, prefixed(3, value, 3)),
        (key, None),
        (prefixed(2, GroupMetadataKey(group="g"), 0), None),
        (struct.pack(">h", 99) + b"x", b"\x00\x00"),
        (key, struct.pack(">h", 77) + b"x"),
        (b"\x00", None),
        (key, prefixed(3, value, 3)[:-3]),
    ]
    write(tmp_path, "__consumer_offsets", rows)
    commit, tombstone, group, unknown, newer, short, cut = consumer_offsets(
        str(tmp_path)
    ).to_pylist()
    assert commit["record_type"] == "OffsetCommit"
    assert (commit["group"], commit["topic"], commit["topic_partition"]) == ("g", "orders", 3)
    assert (commit["committed_offset"], commit["committed_leader_epoch"]) == (42, 5)
    assert (commit["metadata"], commit["commit_timestamp_ms"]) == ("m", BASE_MS)
    assert (commit["version"], commit["is_tombstone"], commit["fault"]) == (3, False, None)
    assert json.loads(commit["key_json"]) == {"group": "g", "topic": "orders", "partition": 3}
    assert json.loads(commit["value_json"])["offset"] == 42
    assert (tombstone["is_tombstone"], tombstone["committed_offset"]) == (True, None)
    assert (group["record_type"], group["group"]) == ("GroupMetadata", "g")
    assert unknown["fault"] == "ValueError: unknown record type 99"
    assert "unknown version 77 of OffsetCommitValue" in newer["fault"]
    assert "too short" in short["fault"]
    assert cut["fault"] is not None
    assert cut["group"] is None


def test_the_group_without_a_name(tmp_path: Path):
    key = prefixed(1, OffsetCommitKey(group="", topic="t", partition=1), 0)
    write(tmp_path, "__consumer_offsets", [(key, None)])
    assert consumer_offsets(str(tmp_path))["group"].to_pylist() == [""]


def test_a_commit_as_brokers_before_0_9_wrote_it(tmp_path: Path):
    key = prefixed(0, LegacyOffsetCommitKey(group="g", topic="t", partition=1), 0)
    value = LegacyOffsetCommitValue(offset=42, metadata="m", commit_timestamp=BASE_MS)
    write(tmp_path, "__consumer_offsets", [(key, prefixed(0, value, 0))])
    (row,) = consumer_offsets(str(tmp_path)).to_pylist()
    assert (row["record_type"], row["fault"]) == ("LegacyOffsetCommit", None)
    assert (row["topic_partition"], row["committed_offset"]) == (1, 42)
    assert (row["commit_timestamp_ms"], row["expire_timestamp_ms"]) == (BASE_MS, None)


def test_offsets_of_an_aborted_transaction_do_not_count(tmp_path: Path):
    key = prefixed(1, OffsetCommitKey(group="gtx", topic="orders", partition=0), 0)
    batches = []
    for base, (offset, producer) in enumerate([(500, -1), (900, 7)]):
        value = OffsetCommitValue(offset=offset, metadata="", commit_timestamp=BASE_MS)
        batch = build_batch(
            [(key, prefixed(3, value, 3), BASE_MS, ())],
            base_offset=base,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=0 if producer >= 0 else -1,
            is_transactional=producer >= 0,
        )
        batches.append(bytes(batch))
    marker = build_marker_batch(
        EndTxnMarker(ABORT, 3),
        producer_id=7,
        producer_epoch=0,
        timestamp_ms=BASE_MS,
        base_offset=2,
    )
    write_segment(partition_directory(tmp_path, "__consumer_offsets"), [*batches, bytes(marker)])
    assert consumer_offsets(str(tmp_path))["committed_offset"].to_pylist() == [500]
    every = consumer_offsets(str(tmp_path), isolation="read_uncommitted")
    assert every["committed_offset"].to_pylist() == [500, 900]


def test_transaction_state(tmp_path: Path):
    value = TransactionLogValue(
        producer_id=7,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=4,
        transaction_partitions=[PartitionsSchema(topic="a", partition_ids=[0, 2])],
        transaction_last_update_timestamp_ms=BASE_MS,
        transaction_start_timestamp_ms=BASE_MS - 5,
    )
    key = prefixed(0, TransactionLogKey(transactional_id="loader"), 0)
    write(tmp_path, "__transaction_state", [(key, prefixed(1, value, 1)), (key, None)])
    row, tombstone = transaction_state(str(tmp_path)).to_pylist()
    assert (row["transactional_id"], row["producer_id"], row["producer_epoch"]) == ("loader", 7, 2)
    assert (row["state"], row["timeout_ms"]) == ("CompleteCommit", 60_000)
    assert row["partitions"] == ["a-0", "a-2"]
    assert row["start_timestamp_ms"] == BASE_MS - 5
    assert (tombstone["transactional_id"], tombstone["is_tombstone"]) == ("loader", True)


def test_cluster_metadata_with_the_snapshot_that_it_continues(tmp_path: Path):
    def value(name: str) -> bytes:
        record = TopicRecord(name=name, topic_id=bytes(15) + b"\x01")
        return b"\x01\x02\x00" + encoded(record, 0)

    directory = partition_directory(tmp_path, "__cluster_metadata")
    old = build_batch([(None, value("old"), BASE_MS, ())])
    snapshot = directory / f"{100:020d}-{1:010d}.checkpoint"
    snapshot.write_bytes(old)
    rows = [(None, value("new"), BASE_MS, ()), (None, b"\x01\x7f\x00", BASE_MS, ())]
    write_segment(directory, [bytes(build_batch(rows, base_offset=100))])
    first, second, unknown = cluster_metadata(str(tmp_path)).to_pylist()
    assert (first["source"], second["source"]) == ("snapshot", "log")
    assert (second["record_type"], second["type_id"], second["offset"]) == ("TopicRecord", 2, 100)
    assert [json.loads(row["value_json"])["name"] for row in (first, second)] == ["old", "new"]
    assert unknown["fault"] == "ValueError: unknown record type 127"
    for later in ({"start_offsets": 101}, {"start_timestamp_ms": BASE_MS + 1}):
        assert "snapshot" not in cluster_metadata(str(tmp_path), **later)["source"].to_pylist()
    snapshot.write_bytes(old[:-1] + b"!")
    with pytest.raises(CorruptSegment, match=r"\.checkpoint, position 0: the checksum"):
        cluster_metadata(str(tmp_path))
    assert cluster_metadata(str(tmp_path), mode="PERMISSIVE")["offset"].to_pylist() == [100, 101]

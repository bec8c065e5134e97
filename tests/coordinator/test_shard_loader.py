"""Loading a log into a machine."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.records import offset_commit_record
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.coordinator.shard_loader import STEP_RECORDS, load
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.record_batch import CorruptBatch, build_batch
from tests.coordinator.memory_log import MemoryLog

CODEC = RecordCodec(GROUP_RECORD_TYPES)


def commits(*offsets: int, partition: int = 0) -> list[tuple[bytes, bytes | None, int, tuple[()]]]:
    records = []
    for offset in offsets:
        value = OffsetCommitValue(offset=offset)
        key, encoded = CODEC.encode(offset_commit_record("g", "t", partition, value))
        records.append((key, encoded, 0, ()))
    return records


def loaded(log: MemoryLog, chunk_bytes: int = 1 << 20) -> tuple[GroupShard, int]:
    log.end_turn()
    shard = GroupShard(GroupSettings())
    steps = sum(1 for _ in load(log, 0, shard, CODEC, chunk_bytes))
    return shard, steps


def offset_of(shard: GroupShard, partition: int = 0) -> int | None:
    entry = shard.offsets.get("g", "t", partition)
    return None if entry is None else entry.offset


@pytest.mark.parametrize("chunk_bytes", [1, 150, 1 << 20])
def test_all_records_in_chunks_of_any_size(chunk_bytes: int) -> None:
    log = MemoryLog()
    log.host(0)
    for number in range(20):
        log.append(0, build_batch(commits(number, partition=number)), 0, 0)
    shard, _ = loaded(log, chunk_bytes)
    assert [offset_of(shard, number) for number in range(20)] == list(range(20))


def test_it_stops_now_and_then() -> None:
    log = MemoryLog()
    log.host(0)
    log.append(0, build_batch(commits(*range(5 * STEP_RECORDS))), 0, 0)
    shard, steps = loaded(log)
    assert steps == 6
    assert offset_of(shard) == 5 * STEP_RECORDS - 1


@pytest.mark.parametrize(("control_type", "expected"), [(COMMIT, 5), (ABORT, None)])
def test_transactions_end_at_their_marker(control_type: int, expected: int | None) -> None:
    log = MemoryLog()
    log.host(0)
    batch = build_batch(
        commits(5), producer_id=77, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    log.append(0, batch, 0, 0)
    shard, _ = loaded(log)
    assert offset_of(shard) is None
    assert shard.offsets.is_open("g", "t", 0)
    marker = build_marker_batch(
        EndTxnMarker(control_type, 0), producer_id=77, producer_epoch=0, timestamp_ms=0
    )
    log.append(0, marker, 0, 0)
    shard, _ = loaded(log)
    assert offset_of(shard) == expected
    assert not shard.offsets.is_open("g", "t", 0)


def test_records_without_a_key_and_of_unknown_types_are_skipped() -> None:
    log = MemoryLog()
    log.host(0)
    foreign = [(None, b"x", 0, ()), (b"\0\x7f", b"x", 0, ())]
    log.append(0, build_batch([*foreign, *commits(5)]), 0, 0)
    shard, _ = loaded(log)
    assert offset_of(shard) == 5
    assert len(shard.groups) == 1


@pytest.mark.parametrize("gone", [{0}, {1, 2}, {3}, {0, 3}, {0, 1, 2, 3}])
def test_compaction_leaves_gaps_anywhere(gone: set[int]) -> None:
    log = MemoryLog()
    hosted = log.host(0)
    for number in range(4):
        log.append(0, build_batch(commits(number, partition=number)), 0, 0)
    hosted.batches = [b for number, b in enumerate(hosted.batches) if number not in gone]
    shard, _ = loaded(log)
    found = [offset_of(shard, number) for number in range(4)]
    assert found == [None if number in gone else number for number in range(4)]


def test_what_is_queued_is_waited_for() -> None:
    log = MemoryLog()
    log.host(0)
    log.append(0, build_batch(commits(5)), 0, 0)
    shard = GroupShard(GroupSettings())
    steps = load(log, 0, shard, CODEC, 1 << 20)
    next(steps)
    next(steps)
    assert offset_of(shard) is None
    log.end_turn()
    for _ in steps:
        pass
    assert offset_of(shard) == 5


def test_a_log_that_does_not_go_on_stops_it() -> None:
    log = MemoryLog()
    log.host(0)
    log.append(0, build_batch(commits(5)), 0, 0)
    log.append(0, build_batch(commits(6)), 0, 0)
    log.end_turn()
    log.read = lambda *_: log.partitions[0].batches[0]  # type: ignore[method-assign]
    with pytest.raises(CorruptBatch, match="continues at offset 1"):
        for _ in load(log, 0, GroupShard(GroupSettings()), CODEC, 1 << 20):
            pass


def test_a_broken_batch_stops_it() -> None:
    log = MemoryLog()
    hosted = log.host(0)
    log.append(0, build_batch(commits(5)), 0, 0)
    hosted.batches[0] = hosted.batches[0][:-1] + b"?"
    with pytest.raises(CorruptBatch, match="checksum"):
        loaded(log)

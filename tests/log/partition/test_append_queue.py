"""What one turn sees of itself, when it rolls, what a failure takes back."""

from __future__ import annotations

import errno
import struct

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import KafkaError
from pykbroker.log.partition.append_outcome import AppendOrigin
from pykbroker.log.segments.txn_index import ENTRY_BYTES
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import (
    DIRECTORY,
    NOW_MS,
    append,
    batch_of,
    memory_disk,
    open_orders,
    values_of,
)


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def _abort_of(producer_id: int) -> bytearray:
    return build_marker_batch(
        EndTxnMarker(ABORT, 1), producer_id=producer_id, producer_epoch=0, timestamp_ms=NOW_MS
    )


def test_nothing_is_visible_before_it_is_written(files: MemoryFiles) -> None:
    log = open_orders(files)
    calls = files.calls
    first = log.append_as_leader(batch_of(b"a"), 0, NOW_MS)
    second = log.append_as_leader(batch_of(b"b"), 0, NOW_MS)
    assert (first.base_offset, second.base_offset, log.log_end_offset, log.next_offset) == (
        0,
        1,
        0,
        2,
    )
    assert log.has_pending
    assert log.read(0, 100, log.log_end_offset).slice is None
    writes = []
    files.fail = lambda name, path: writes.append((name, path))
    log.write_pending()
    assert [name for name, path in writes if path.endswith(".log") and name == "write"] == ["write"]
    assert files.calls > calls
    assert log.log_end_offset == 2
    assert not log.has_pending


def test_rolls_by_record_time(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000")
    append(log, b"a", timestamp=NOW_MS)
    append(log, b"b", timestamp=NOW_MS + 1000)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW_MS + 1001)
    assert [s.base_offset for s in log.segments] == [0, 2]


def test_compacted_logs_roll_for_their_compaction_lag(files: MemoryFiles) -> None:
    for policy, segments in (("compact", [0, 1]), ("delete", [0])):
        log = open_orders(
            files,
            f"/d/{policy}-0",
            cleanup_policy=policy,
            segment_ms="100000",
            max_compaction_lag_ms="1000",
        )
        for timestamp in (NOW_MS, NOW_MS + 1001):
            append(log, b"v", timestamp=timestamp)
        assert log.segments.base_offsets == segments


def test_rolls_in_the_middle_of_a_turn(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000")
    for step in range(4):
        log.append_as_leader(batch_of(b"x", timestamp=NOW_MS + 900 * step), 0, NOW_MS)
    log.write_pending()
    assert [s.base_offset for s in log.segments] == [0, 2]
    assert log.log_end_offset == 4


def test_a_failed_write_takes_back_exactly_the_turn(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    log.append_as_leader(batch_of(b"p", producer=(7, 0, 0)), 0, NOW_MS)
    log.write_pending()
    files.fail = lambda name, path: (
        OSError(errno.EIO, "io") if name == "write" and path.endswith(".log") else None
    )
    log.append_as_leader(batch_of(b"q", producer=(7, 0, 1)), 3, NOW_MS)
    log.append_as_leader(batch_of(b"r", producer=(8, 0, 0)), 3, NOW_MS)
    with pytest.raises(LogDirFailure) as caught:
        log.write_pending()
    assert caught.value.directory == "/d"
    assert log.is_offline
    assert (log.log_end_offset, log.next_offset, log.has_pending) == (2, 2, False)
    assert files.size(f"{DIRECTORY}/{0:020d}.log") == log.active.size
    assert log.leader_epochs.latest_epoch == 0
    assert sorted(log.producers.producers) == [7]
    files.fail = None
    assert values_of(log) == [b"a", b"p"]
    assert log.append_as_leader(batch_of(b"q", producer=(7, 0, 1)), 0, NOW_MS).base_offset == 2


def test_a_full_disk_takes_the_turn_back(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    size = log.size_bytes
    files.capacity_bytes = files.used_bytes() + 50
    log.append_as_leader(batch_of(b"b" * 100), 0, NOW_MS)
    with pytest.raises(LogDirFailure):
        log.write_pending()
    assert files.size(f"{DIRECTORY}/{0:020d}.log") == size
    assert log.log_end_offset == 1


def test_a_full_index_rolls(files: MemoryFiles) -> None:
    log = open_orders(files, index_interval_bytes="0", segment_index_bytes="60")
    for step in range(20):
        append(log, b"x", timestamp=NOW_MS + step)
    assert len(log.segments) > 3
    assert all(s.offset_index.index.entry_count <= 7 for s in log.segments)


def test_one_turn_of_many_batches_with_a_small_index(files: MemoryFiles) -> None:
    log = open_orders(files, index_interval_bytes="0", segment_index_bytes="24")
    for step in range(10):
        log.append_as_leader(batch_of(b"x", timestamp=NOW_MS + step), 0, NOW_MS)
    log.write_pending()
    assert len(log.segments) == 1
    append(log, b"y")
    assert len(log.segments) == 2


def test_jitter_is_drawn_for_each_segment(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000", segment_jitter_ms="400")
    log.local.jitter = lambda bound: bound - 100
    log.roll(NOW_MS)
    append(log, b"a")
    log.roll(NOW_MS)
    append(log, b"b", timestamp=NOW_MS)
    assert log.active.roll_jitter_ms == 300
    append(log, b"c", timestamp=NOW_MS + 701)
    assert log.segments.base_offsets[-2:] == [1, 2]


def test_a_failure_while_rolling_takes_the_turn_back(files: MemoryFiles) -> None:
    log = open_orders(files, segment_ms="1000")
    append(log, b"a")
    files.fail = lambda name, path: (
        OSError(errno.ENOSPC, "full") if path.endswith("1.log") else None
    )
    with pytest.raises(LogDirFailure):
        log.append_as_leader(batch_of(b"b", timestamp=NOW_MS + 5000), 0, NOW_MS)
    assert (log.log_end_offset, log.next_offset, log.is_offline) == (1, 1, True)


def test_a_damaged_index_is_rebuilt_when_its_segment_must_be_closed_first(
    files: MemoryFiles,
) -> None:
    log = open_orders(files, index_interval_bytes="1")
    for step in range(3):
        append(log, b"a" * 400_000, timestamp=NOW_MS + step)
    log.close()
    path = f"{DIRECTORY}/{0:020d}.timeindex"
    entries = files.read_file(path)
    files.write_file(path, entries[:-12] + struct.pack(">qi", NOW_MS + 1_000, 2))
    again = open_orders(files, index_interval_bytes="1", segment_bytes="1048576", recovery_point=3)
    assert append(again, b"b", timestamp=NOW_MS + 3) == 3
    assert again.segments.base_offsets == [0, 3]
    assert again.segments[0].time_index.last_entry == (NOW_MS + 2, 2)


def test_a_failed_transaction_index_takes_the_turn_back(files: MemoryFiles) -> None:
    log = open_orders(files)
    log.append_as_leader(batch_of(b"t", producer=(9, 0, 0), is_transactional=True), 0, NOW_MS)
    log.write_pending()
    size = log.size_bytes
    log.append_as_leader(_abort_of(9), 0, NOW_MS, AppendOrigin.COORDINATOR)
    files.fail = lambda name, path: OSError(errno.EIO, "bad") if "txnindex" in path else None
    with pytest.raises(LogDirFailure):
        log.write_pending()
    assert (log.log_end_offset, files.size(f"{DIRECTORY}/{0:020d}.log")) == (1, size)
    assert log.producers.first_unstable_offset() == 0


def test_a_damaged_transaction_index_is_rebuilt_before_an_abort_is_written(
    files: MemoryFiles,
) -> None:
    log = open_orders(files)
    for sequence in range(2):
        batch = batch_of(b"t", producer=(9, 0, sequence), is_transactional=True)
        log.append_as_leader(batch, 0, NOW_MS)
        log.append_as_leader(_abort_of(9), 0, NOW_MS, AppendOrigin.COORDINATOR)
        if sequence:
            files.write_file(log.active.txn_index.path, b"\xff" * 40)
            log.active.txn_index.unload()
        log.write_pending()
    assert log.log_end_offset == 4
    assert log.aborted_transactions(0, 4) == [(9, 0), (9, 2)]
    assert files.size(log.active.txn_index.path) == 2 * ENTRY_BYTES
    assert values_of(log)[::2] == [b"t", b"t"]


def test_an_offline_log_writes_nothing_more(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    size = log.size_bytes
    log.active.hints.clear()
    log.append_as_leader(batch_of(b"b", producer=(7, 0, 0)), 0, NOW_MS)
    files.fail = lambda name, path: OSError(errno.EIO, "bad") if name == "pread" else None
    with pytest.raises(LogDirFailure, match="reading orders-3"):
        log.read(0, 100, 1)
    files.fail = None
    with pytest.raises(LogDirFailure, match="the log is offline"):
        log.write_pending()
    assert (log.log_end_offset, log.next_offset, log.has_pending) == (1, 1, False)
    assert files.size(f"{DIRECTORY}/{0:020d}.log") == size
    assert not log.producers.producers


def test_a_segment_that_cannot_be_opened_for_writing_takes_the_turn_back(
    files: MemoryFiles,
) -> None:
    log = open_orders(files)
    append(log, b"a")
    log.append_as_leader(batch_of(b"b", producer=(7, 0, 0)), 0, NOW_MS)
    segment = log.active
    segment.is_writable = False
    segment.first_timestamp = None
    segment.hints.clear()
    segment.file.pwritev([b"\xff" * segment.size], 0)  # read from offset 0 when it is opened
    with pytest.raises(KafkaError):
        log.write_pending()
    assert (log.log_end_offset, log.next_offset, log.has_pending) == (1, 1, False)
    assert not log.producers.producers

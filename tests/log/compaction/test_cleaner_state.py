"""pykbroker.log.compaction.cleaner_state: which log is due, and from where to where."""

from __future__ import annotations

import logging

import pytest

from pykbroker.log.compaction.cleaner_state import CleanerState, make_job
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.control_records import COMMIT
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.compaction.compaction_makers import DAY, NOW, PARTITION, Writer, clean, open_accounts


@pytest.fixture
def log() -> PartitionLog:
    files = MemoryFiles()
    files.mkdir("/d")
    log = open_accounts(files, segment_bytes=300)
    writer = Writer(log)
    for number in range(20):
        writer.put([(b"k%d" % (number % 3), b"value")], timestamp=NOW - 1000 * (20 - number))
    return log


def test_a_log_without_closed_segments_is_never_due() -> None:
    files = MemoryFiles()
    files.mkdir("/d")
    log = open_accounts(files)
    Writer(log).put([(b"k", b"v")])
    assert CleanerState().consider(log, 1, NOW) is None


def test_everything_is_dirty_at_first(log: PartitionLog) -> None:
    found = CleanerState().consider(log, log.log_end_offset, NOW)
    assert found is not None
    assert (found.first_dirty_offset, found.clean_bytes, found.dirty_ratio) == (0, 0, 1.0)
    assert found.first_uncleanable_offset == log.active.base_offset
    assert found.cleanable_bytes == log.size_bytes - log.active.size


def test_the_ratio(log: PartitionLog) -> None:
    state = CleanerState()
    half = log.segments[len(log.segments) // 2].base_offset
    state.load({PARTITION: half}, [log])
    found = state.examine(log, log.log_end_offset, NOW)
    assert found.clean_bytes == sum(s.size for s in log.segments if s.base_offset < half)
    assert 0.2 < found.dirty_ratio < 0.8
    log.config.min_cleanable_dirty_ratio = 0.9
    assert state.consider(log, log.log_end_offset, NOW) is None
    log.config.max_compaction_lag_ms = 5000
    overdue = state.consider(log, log.log_end_offset, NOW)
    assert overdue is not None
    assert overdue.is_overdue
    log.config.max_compaction_lag_ms = DAY
    assert state.consider(log, log.log_end_offset, NOW) is None


def test_the_last_stable_offset_bounds(log: PartitionLog) -> None:
    state = CleanerState()
    mark = log.segments[2].base_offset + 1
    found = state.examine(log, mark, NOW)
    assert found.first_uncleanable_offset == log.segments[2].base_offset
    writer = Writer(log)
    first = writer.put([(b"t", b"v")], producer=4, transactional=True)
    for _ in range(20):
        writer.put([(b"k", b"v")])
    held = state.examine(log, log.log_end_offset, NOW)
    assert held.first_uncleanable_offset <= first
    writer.end(4, COMMIT)
    free = state.examine(log, log.log_end_offset, NOW)
    assert free.first_uncleanable_offset == log.active.base_offset


def test_min_compaction_lag(log: PartitionLog) -> None:
    state = CleanerState()
    log.config.min_compaction_lag_ms = 10_000
    found = state.examine(log, log.log_end_offset, NOW)
    young = [s for s in log.segments if s.largest_timestamp().timestamp > NOW - 10_000]
    assert found.first_uncleanable_offset == young[0].base_offset
    log.config.min_compaction_lag_ms = DAY
    assert state.consider(log, log.log_end_offset, NOW) is None


def test_what_excludes_a_log(log: PartitionLog) -> None:
    end = log.log_end_offset
    state = CleanerState()
    chosen = state.consider(log, end, NOW)
    assert chosen is not None
    state.begin(chosen)
    assert state.consider(log, end, NOW) is None
    state.aborted(PARTITION)
    assert state.consider(log, end, NOW) is not None
    state.failed(PARTITION)
    assert state.consider(log, end, NOW) is None
    state.removed(PARTITION)
    assert state.consider(log, end, NOW) is not None
    state.finished(PARTITION, log.active.base_offset)
    assert state.consider(log, end, NOW) is None
    log.local.is_offline = True
    assert CleanerState().consider(log, end, NOW) is None


@pytest.mark.parametrize("checkpoint, first_dirty", [(3, 3), (0, 2), (1, 2), (999, 2)])
def test_a_checkpoint_outside_the_log_is_reset(
    log: PartitionLog, checkpoint: int, first_dirty: int, caplog: pytest.LogCaptureFixture
) -> None:
    log.advance_log_start_offset(2)
    state = CleanerState()
    state.load({PARTITION: checkpoint}, [log])
    with caplog.at_level(logging.WARNING):
        found = state.examine(log, log.log_end_offset, NOW)
    assert found.first_dirty_offset == first_dirty
    assert ("is reset" in caplog.text) == (checkpoint != first_dirty)


def test_a_truncated_log_is_dirty_again(log: PartitionLog) -> None:
    state = CleanerState()
    clean(log, state)
    assert state.examine(log, log.log_end_offset, NOW).first_dirty_offset > 0
    log.truncate_to(4, NOW)
    state.truncated(log)
    assert state.examine(log, log.log_end_offset, NOW).first_dirty_offset == log.active.base_offset
    assert log.active.base_offset <= 4


def test_a_topic_made_again_is_dirty_from_its_start(log: PartitionLog) -> None:
    state = CleanerState()
    state.load({PARTITION: 5}, [log])
    assert state.examine(log, log.log_end_offset, NOW).first_dirty_offset == 5
    log.local.identity = object()
    assert state.checkpoint_of([log]) == {}
    assert state.examine(log, log.log_end_offset, NOW).first_dirty_offset == 0


def test_one_made_again_before_it_was_looked_at_is_dirty_too(log: PartitionLog) -> None:
    state = CleanerState()
    state.load({PARTITION: 5}, [log])
    log.local.identity = object()
    assert state.checkpoint_of([log]) == {}
    assert state.examine(log, log.log_end_offset, NOW).first_dirty_offset == 0


def test_the_checkpoint(log: PartitionLog) -> None:
    state = CleanerState()
    assert state.checkpoint_of([log]) == {}
    state.load({PARTITION: 7, TopicPartition("elsewhere", 1): 8}, [log])
    assert state.checkpoint_of([log]) == {PARTITION: 7}


def test_a_job_knows_sizes_times_and_producers(log: PartitionLog) -> None:
    writer = Writer(log)
    writer.put([(b"k", b"v"), (b"l", b"w")], producer=6)
    chosen = CleanerState().examine(log, log.log_end_offset, NOW)
    job, segments = make_job(chosen, 5, NOW, map_bytes=10, io_buffer_bytes=20)
    assert [s.base_offset for s in segments] == [s.base_offset for s in job.segments]
    assert [s.size for s in job.segments] == [s.size for s in segments]
    assert job.last_records == ((6, log.log_end_offset - 1, 0),)
    assert (job.high_watermark, job.map_bytes, job.io_buffer_bytes) == (5, 10, 20)
    log.files.unlink(segments[0].offset_index.path)
    assert make_job(chosen, 5, NOW, map_bytes=1, io_buffer_bytes=1)[0].segments[0].index_bytes == 0


def test_a_log_that_is_compacted_no_more_stays_in_the_checkpoint(log: PartitionLog) -> None:
    state = CleanerState()
    state.load({PARTITION: 7}, [log])
    log.config.compact = False
    assert state.checkpoint_of([log]) == {PARTITION: 7}


def test_a_truncated_log_stays_in_the_checkpoint(log: PartitionLog) -> None:
    state = CleanerState()
    state.truncated(log)
    assert state.first_dirty == {}
    state.load({PARTITION: 7}, [log])
    log.truncate_to(0)
    state.truncated(log)
    assert state.checkpoint_of([log]) == {PARTITION: 0}


def test_a_topic_made_again_is_cleaned_although_the_old_one_could_not_be(
    log: PartitionLog,
) -> None:
    state = CleanerState()
    assert state.consider(log, log.log_end_offset, NOW) is not None
    state.failed(PARTITION)
    assert state.consider(log, log.log_end_offset, NOW) is None
    log.local.identity = object()
    assert state.consider(log, log.log_end_offset, NOW) is not None

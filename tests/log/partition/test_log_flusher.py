"""The recovery point, and what moves it."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import (
    NOW_MS,
    append,
    batch_of,
    memory_disk,
    open_orders,
)


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def test_flush_moves_the_recovery_point(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    assert log.recovery_point == 0
    log.flush(NOW_MS + 5)
    assert (log.recovery_point, log.last_flush_ms) == (1, NOW_MS + 5)
    assert log.prepare_flush() is None
    eager = open_orders(files, "/d/eager-0", flush_messages="2")
    append(eager, b"a")
    assert eager.recovery_point == 0
    append(eager, b"b")
    assert eager.recovery_point == 2


def test_a_duplicate_is_not_acknowledged_before_its_first_copy_is_synced(
    files: MemoryFiles,
) -> None:
    """A kill came between write and sync; the producer asks again after the start."""
    log = open_orders(files, flush_messages="1")
    log.append_as_leader(batch_of(b"a", producer=(9, 0, 0)), 0, NOW_MS)
    log.write_pending()
    log.flusher.end_at(0)  # as recovery leaves it
    again = log.append_as_leader(batch_of(b"a", producer=(9, 0, 0)), 0, NOW_MS)
    assert again.duplicate
    assert log.recovery_point == 1


def test_a_flush_that_ran_while_the_log_was_cut_moves_nothing(files: MemoryFiles) -> None:
    log = open_orders(files)
    for value in (b"a", b"b", b"c"):
        append(log, value)
    job = log.prepare_flush()
    assert job is not None
    job.run()
    log.truncate_to(1)
    append(log, b"d")
    log.complete_flush(job)
    assert log.recovery_point == 0


def test_a_closed_segment_is_a_chore_until_it_is_flushed(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    log.roll(NOW_MS)
    append(log, b"b")
    assert log.chores.take_rolled() == [log.flusher]
    job = log.flusher.prepare_closed()
    assert job is not None
    job.run()
    log.flusher.complete(job)
    assert (log.recovery_point, log.flusher.prepare_closed()) == (1, None)
    log.roll(NOW_MS)
    log.release()
    assert log.chores.take_rolled() == []


def test_a_new_flush_interval_counts_at_once(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    log.update_config(TopicConfig.default(flush_messages="3"))
    append(log, b"b")
    assert log.recovery_point == 0
    append(log, b"c")
    assert log.recovery_point == 3
    log.truncate_to(1)
    assert log.recovery_point == 1
    append(log, b"d")
    append(log, b"e")
    assert log.recovery_point == 1
    append(log, b"f")
    assert log.recovery_point == 4

"""The recovery point, and what moves it."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import (
    NOW_MS,
    NothingUnsynced,
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


@pytest.mark.parametrize(("flush_messages", "is_kept"), [("1", True), ("3", True), ("4", False)])
def test_what_a_kill_left_unsynced_is_synced_before_it_is_read_again(
    files: MemoryFiles, flush_messages: str, *, is_kept: bool
) -> None:
    """A coordinator acts on it, and a producer that repeats it gets its first offset."""
    log = open_orders(files)
    append(log, b"a")
    log.flush()
    for number in range(3):
        log.append_as_leader(batch_of(b"b", producer=(9, 0, number)), 0, NOW_MS)
    log.write_pending()
    log.release()
    again = open_orders(files, is_clean=False, recovery_point=1, flush_messages=flush_messages)
    assert again.recovery_point == (4 if is_kept else 1)
    assert again.append_as_leader(batch_of(b"b", producer=(9, 0, 2)), 0, NOW_MS).duplicate
    files.crash(NothingUnsynced())
    after = open_orders(files, is_clean=False, recovery_point=1)
    assert after.log_end_offset == (4 if is_kept else 1)


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

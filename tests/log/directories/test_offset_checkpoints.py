"""What checkpoints say, and that they say nothing of logs that are no more."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.directories.checkpoints import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    format_offsets,
    parse_offsets,
)
from pykbroker.log.directories.offset_checkpoints import NAMES, OffsetCheckpoints
from pykbroker.log.partition.holes import first_hole
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.directories.test_log_manager import TOPIC_ID, loaded
from tests.log.log_makers import NOW_MS, append

ORDERS, OTHERS = TopicPartition("orders", 0), TopicPartition("others", 1)


@pytest.fixture
def files() -> MemoryFiles:
    made = MemoryFiles()
    made.mkdir("/a")
    return made


def on_disk(files: MemoryFiles, name: str, directory: str = "/a") -> dict[TopicPartition, int]:
    return parse_offsets(files.read_file(f"{directory}/{name}"), name)


def test_they_are_written_only_when_they_change(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.write(RECOVERY_POINT_CHECKPOINT, {ORDERS: 5})
    calls = files.calls
    checkpoints.write(RECOVERY_POINT_CHECKPOINT, {ORDERS: 5})
    assert files.calls == calls
    checkpoints.write(RECOVERY_POINT_CHECKPOINT, {ORDERS: 6})
    checkpoints.write(LOG_START_OFFSET_CHECKPOINT, {})
    checkpoints.write(REPLICATION_OFFSET_CHECKPOINT, {ORDERS: 4})
    again = OffsetCheckpoints(files, "/a")
    again.read(["orders-0"])
    assert [again.offsets(name) for name in NAMES] == [{ORDERS: 6}, {}, {ORDERS: 4}, {}]


def test_a_log_that_is_made_again_is_in_no_file(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    for name in NAMES:
        checkpoints.write(name, {ORDERS: 5, OTHERS: 7})
    checkpoints.forget(ORDERS)
    assert checkpoints.offsets(NAMES[0]) == {OTHERS: 7}
    calls = files.calls
    checkpoints.settle(OTHERS)
    assert files.calls == calls  # nothing is said of an older one
    checkpoints.settle(ORDERS)
    assert [on_disk(files, name) for name in NAMES] == [{OTHERS: 7}] * 4


def test_entries_of_logs_that_were_not_opened_stay(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    for name in NAMES:
        checkpoints.write(name, {ORDERS: 5, OTHERS: 7})
    checkpoints.keep(ORDERS)
    for name in NAMES:
        checkpoints.write(name, {OTHERS: 8})
    assert [on_disk(files, name) for name in NAMES] == [{ORDERS: 5, OTHERS: 8}] * 4
    checkpoints.forget(ORDERS)
    checkpoints.write(NAMES[0], {OTHERS: 9})
    assert on_disk(files, NAMES[0]) == {OTHERS: 9}


def test_a_log_that_was_not_opened_has_a_recovery_point(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.keep(ORDERS)
    checkpoints.write(RECOVERY_POINT_CHECKPOINT, {OTHERS: 8})
    assert on_disk(files, RECOVERY_POINT_CHECKPOINT) == {ORDERS: 0, OTHERS: 8}


def test_entries_of_logs_that_are_not_there_are_not_believed(files: MemoryFiles) -> None:
    for name in NAMES:
        files.write_file(f"/a/{name}", format_offsets({ORDERS: 5, OTHERS: 7}))
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.read(["others-1", "orders-0.aaaa-delete"])
    assert [checkpoints.offsets(name) for name in NAMES] == [{OTHERS: 7}] * 4
    checkpoints.settle(ORDERS)
    assert [on_disk(files, name) for name in NAMES] == [{OTHERS: 7}] * 4


@pytest.mark.parametrize("when", ["before it runs", "before it ends"])
def test_a_write_under_way_is_done_again_without_what_went(files: MemoryFiles, when: str) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    write = checkpoints.begin(RECOVERY_POINT_CHECKPOINT, {ORDERS: 5, OTHERS: 7})
    if when == "before it runs":
        checkpoints.forget(ORDERS)
    write.run()
    if when == "before it ends":
        checkpoints.forget(ORDERS)
        checkpoints.settle(ORDERS)
    checkpoints.end(write)
    assert on_disk(files, RECOVERY_POINT_CHECKPOINT) == {OTHERS: 7}
    assert checkpoints.offsets(RECOVERY_POINT_CHECKPOINT) == {OTHERS: 7}


def test_entries_are_copied_only_for_a_thread_that_may_be_reading_them(files: MemoryFiles) -> None:
    """Thousands of partitions may be deleted at once, each from among all others."""
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.write(RECOVERY_POINT_CHECKPOINT, {ORDERS: 5, OTHERS: 7})
    entries = checkpoints.offsets(RECOVERY_POINT_CHECKPOINT)
    checkpoints.forget(ORDERS)
    assert checkpoints.offsets(RECOVERY_POINT_CHECKPOINT) is entries
    assert entries == {OTHERS: 7}
    checkpoints.begin(RECOVERY_POINT_CHECKPOINT, entries)
    checkpoints.forget(OTHERS)
    assert checkpoints.offsets(RECOVERY_POINT_CHECKPOINT) == {}
    assert entries == {OTHERS: 7}


def test_an_entry_is_put_into_a_write_under_way(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.put(CLEANER_OFFSET_CHECKPOINT, ORDERS, 3)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 3}
    write = checkpoints.begin(CLEANER_OFFSET_CHECKPOINT, {ORDERS: 4})
    write.run()
    checkpoints.put(CLEANER_OFFSET_CHECKPOINT, OTHERS, 8)
    checkpoints.end(write)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 4, OTHERS: 8}


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_topic_made_again_keeps_all_its_records_over_a_kill(
    files: MemoryFiles, is_stopped: bool
) -> None:
    """The log start, recovery point and high watermark of the deleted one are not its own."""
    manager = loaded(files)
    log = manager.create(ORDERS, TOPIC_ID, TopicConfig.default())
    for number in range(20):
        append(log, b"%d" % number)
    log.advance_log_start_offset(12)
    (directory,) = manager.directories
    manager.checkpoint_log_start_offsets(directory)
    manager.checkpoint_recovery_points(directory)
    for directory in manager.directories:
        manager.checkpoint_high_watermarks(directory, {ORDERS: 20})
    directory.checkpoints.put(CLEANER_OFFSET_CHECKPOINT, ORDERS, 15)
    manager.delete(ORDERS)
    if is_stopped:
        files.kill()
        manager = loaded(files)
    again = manager.create(ORDERS, b"another topic id", TopicConfig.default())
    assert manager.checkpointed_high_watermark(ORDERS) == 0
    for number in range(30):
        append(again, b"%d" % number)
    files.kill()
    after = loaded(files)
    found = after.get(ORDERS)
    assert found is not None
    assert (found.log_start_offset, found.log_end_offset) == (0, 30)
    assert after.directories[0].was_never_cleaned(ORDERS)


def test_a_log_that_moved_takes_along_that_it_was_compacted(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS, TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"a")
    first, second = manager.directories
    first.checkpoints.put(CLEANER_OFFSET_CHECKPOINT, ORDERS, 1)
    manager.moves.create_copy(ORDERS, "/b")
    manager.moves.promote(ORDERS)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT, "/b") == {ORDERS: 1}
    assert not second.was_never_cleaned(ORDERS)
    assert first.checkpoints.offsets(CLEANER_OFFSET_CHECKPOINT) == {}


def test_a_copy_whose_log_is_gone_keeps_its_entries(files: MemoryFiles) -> None:
    """The node was killed between the two renames that swap them."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS, TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"a", b"b")
    copy = manager.moves.create_copy(ORDERS, "/b")
    append(copy, b"a", b"b")
    copy.flush()
    manager.directories[1].checkpoints.put(CLEANER_OFFSET_CHECKPOINT, ORDERS, 1)
    files.rename("/a/orders-0", f"/a/orders-0.{'1' * 32}-delete")
    files.kill()
    again = loaded(files, "/a", "/b")
    assert again.directories[1].checkpoints.offsets(CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 1}
    found = again.get(ORDERS)
    assert found is not None
    assert (found.log_directory, found.log_end_offset) == ("/b", 2)


def test_an_entry_is_lowered_but_never_added(files: MemoryFiles) -> None:
    checkpoints = OffsetCheckpoints(files, "/a")
    checkpoints.lower(CLEANER_OFFSET_CHECKPOINT, ORDERS, 3)
    assert not files.exists(f"/a/{CLEANER_OFFSET_CHECKPOINT}")
    checkpoints.write(CLEANER_OFFSET_CHECKPOINT, {ORDERS: 7})
    checkpoints.lower(CLEANER_OFFSET_CHECKPOINT, ORDERS, 8)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 7}
    checkpoints.lower(CLEANER_OFFSET_CHECKPOINT, ORDERS, 5)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 5}
    write = checkpoints.begin(CLEANER_OFFSET_CHECKPOINT, {ORDERS: 9})
    write.run()
    checkpoints.lower(CLEANER_OFFSET_CHECKPOINT, ORDERS, 6)
    checkpoints.end(write)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 6}


def test_a_truncation_lowers_what_was_clean(files: MemoryFiles) -> None:
    """Also before the cleaner runs: a follower truncates right after the start."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS, TOPIC_ID, TopicConfig.default(), "/a")
    for value in (b"a", b"b", b"c"):
        append(log, value)
        log.roll(0)
    manager.directories.at("/a").checkpoints.put(CLEANER_OFFSET_CHECKPOINT, ORDERS, 3)
    copy = manager.moves.create_copy(ORDERS, "/b")
    append(copy, b"a")
    copy.truncate_to(0)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 3}
    log.truncate_to(2)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 2}
    log.truncate_fully_and_start_at(0)
    assert on_disk(files, CLEANER_OFFSET_CHECKPOINT) == {ORDERS: 0}


@pytest.mark.parametrize("stop", ["clean", "kill"])
def test_a_hole_is_found_again_until_the_log_has_been_cut_or_leads(
    files: MemoryFiles, stop: str
) -> None:
    """Although what was written after it has been synced meanwhile."""
    log = loaded(files, "/a").create(ORDERS, TOPIC_ID, TopicConfig.default())
    append(log, b"lost")
    log.roll(NOW_MS)
    append(log, b"kept")
    files.kill()
    files.resize(f"/a/{ORDERS}/{0:020}.log", 0)

    def restarted(*, is_settled: bool) -> int | None:
        manager = loaded(files, "/a")
        found = manager.get(ORDERS)
        assert found is not None
        hole = first_hole(found)
        found.flush()
        if is_settled:
            found.local.unsynced_from = None
        if stop == "clean":
            manager.shutdown(NOW_MS)
        else:
            manager.checkpoint_recovery_points(manager.directories[0])
            files.kill()
        return hole

    assert restarted(is_settled=False) == 0
    assert restarted(is_settled=True) == 0
    assert restarted(is_settled=False) is None

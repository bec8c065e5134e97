"""segment_swap: crashes at every disk call, and results that are no longer needed."""

from __future__ import annotations

import random

import pytest

from pykbroker.log.compaction.cleaner_state import CleanerState, make_job
from pykbroker.log.compaction.round import CompactionJob, CompactionResult, Group, compact
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.log.segments.segment import Segment
from pykbroker.log.segments.segment_swap import discard_cleaned, replace_segments
from pykbroker.testing.world.memory_files import MemoryFiles, SimulatedCrash
from tests.log.compaction.compaction_makers import NOW, PARTITION, Writer, open_accounts, records


def written() -> PartitionLog:
    files = MemoryFiles()
    files.mkdir("/d")
    log = open_accounts(files, segment_bytes=300)
    writer = Writer(log)
    for number in range(20):
        writer.put([(b"k%d" % (number % 3), b"%d" % number)], producer=number % 2)
    log.config.segment_bytes = 1000
    log.flush(NOW)
    files.sync_dir("/d")
    files.sync_dir("/")
    return log


def cleaned(log: PartitionLog) -> tuple[CompactionJob, list[Segment], list[Group]]:
    chosen = CleanerState().examine(log, log.log_end_offset, NOW)
    job, segments = make_job(
        chosen, log.log_end_offset, NOW, map_bytes=1 << 20, io_buffer_bytes=4096
    )
    steps = compact(log.files, job, CompactionResult())
    return job, segments, [step for step in steps if isinstance(step, Group)]


def old_of(group: Group, segments: list[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.base_offset in group.old]


def test_a_flush_that_comes_first_makes_the_names_durable() -> None:
    """Else a power failure restores the names of old segments, which were never synced."""
    log = written()
    _, segments, groups = cleaned(log)
    for group in groups:
        assert replace_segments(log.local, old_of(group, segments), group.new, sync=False)
    Writer(log).put([(b"k", b"v")])
    synced: list[str] = []
    log.files.fail = lambda name, path: synced.append(path) if name == "sync" else None  # type: ignore[attr-defined]
    log.flush(NOW)
    assert log.directory in synced
    synced.clear()
    Writer(log).put([(b"k", b"v")])
    log.flush(NOW)
    assert log.directory not in synced


def test_a_node_that_stops_makes_the_names_durable() -> None:
    """It has started the log, appended nothing, and ended the cleaner before its sync."""
    log = written()
    log.close()
    assert log.prepare_close() is None
    _, segments, groups = cleaned(log)
    for group in groups:
        assert replace_segments(log.local, old_of(group, segments), group.new, sync=False)
    synced: list[str] = []
    log.files.fail = lambda name, path: synced.append(path) if name == "sync" else None  # type: ignore[attr-defined]
    log.close()
    assert log.directory in synced


def test_files_and_snapshots_after_a_swap() -> None:
    log = written()
    readers = [segment.file.slice(0, segment.size) for segment in log.segments]
    before = [reader.read() for reader in readers]
    snapshots = set(log.snapshots.offsets)
    _, segments, groups = cleaned(log)
    for group in groups:
        assert replace_segments(log.local, old_of(group, segments), group.new)
    names = log.files.listdir(log.directory)
    assert not [name for name in names if name.endswith((".cleaned", ".swap"))]
    new = {base for group in groups for base in group.new} | {log.active.base_offset}
    assert {int(n[:20]) for n in names if n.endswith(".log")} == new
    deleted = {int(n[:20]) for n in names if n.endswith(".log.deleted")}
    assert deleted == {segment.base_offset for segment in segments}
    gone = {segment.base_offset for segment in segments} - new
    assert set(log.snapshots.offsets) == snapshots - gone
    assert [reader.read() for reader in readers] == before  # readers of old segments go on
    due = log.chores.due_deletions(NOW)
    due += log.chores.due_deletions(NOW + log.config.file_delete_delay_ms + 1)
    assert {path for deletion in due for path in deletion.paths} >= {
        f"{log.directory}/{name}" for name in names if name.endswith(".deleted")
    }


def test_a_result_for_segments_that_are_gone_is_thrown_away() -> None:
    log = written()
    _, segments, groups = cleaned(log)
    log.local.remove_segment(segments[0])
    assert not replace_segments(log.local, old_of(groups[0], segments), groups[0].new)
    other = [base for group in groups[1:] for base in group.new]
    discard_cleaned(log.files, log.directory, other)
    assert not [n for n in log.files.listdir(log.directory) if n.endswith(".cleaned")]
    log.local.is_offline = True
    assert not replace_segments(log.local, [], [0])


@pytest.mark.parametrize("power_fails", [False, True])
def test_a_crash_at_any_call_leaves_the_old_log_or_the_new_one(power_fails: bool) -> None:
    log = written()
    before = [(r.offset, r.key, r.value) for r in records(log)]
    end = log.log_end_offset
    latest = {key: value for _, key, value in before}
    _, segments, groups = cleaned(log)
    for group in groups:
        replace_segments(log.local, old_of(group, segments), group.new)
    after = [(r.offset, r.key, r.value) for r in records(log)]
    assert len(after) < len(before)

    for crash_after in range(1, 1000):
        log = written()
        files = log.files
        assert isinstance(files, MemoryFiles)
        _, segments, groups = cleaned(log)
        files.crash_at = files.calls + crash_after
        crashed = False
        try:
            for group in groups:
                replace_segments(log.local, old_of(group, segments), group.new)
        except SimulatedCrash:
            crashed = True
        if power_fails:
            files.crash(random.Random(crash_after))
        else:
            files.kill()
        again = open_log(
            files,
            log.directory,
            PARTITION,
            log.config,
            now_ms=NOW,
            is_clean=False,
            recovery_point=end,
        )
        found = [(r.offset, r.key, r.value) for r in records(again)]
        assert [offset for offset, _, _ in found] == sorted({offset for offset, _, _ in found})
        assert set(after) <= set(found) <= set(before), crash_after
        assert {key: value for _, key, value in found} == latest, crash_after
        assert again.log_end_offset == end, crash_after
        if not crashed:
            assert crash_after > 5
            return
    raise AssertionError("the swap never ended")

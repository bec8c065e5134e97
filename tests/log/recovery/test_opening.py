"""Opening what a crash, a stop or a stranger left in a partition's directory."""

from __future__ import annotations

import random

import pytest

from pykbroker.config import TopicConfig
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.log.segments.segment import Segment, placed
from pykbroker.protocol.record_batch import assign_offset, iter_batches, read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def path_of(base_offset: int, suffix: str = ".log") -> str:
    return f"{DIRECTORY}/{base_offset:020d}{suffix}"


def offsets_of(log: PartitionLog) -> list[int]:
    found: list[int] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        for header, _ in iter_batches(outcome.slice.read()):
            found.append(header.base_offset)
            offset = header.next_offset
    return found


def three_segments(files: MemoryFiles, close: bool = True) -> PartitionLog:
    """Six batches of one record, two in each segment: 0, 2, 4."""
    log = open_orders(files, segment_ms="1000", index_interval_bytes="0")
    for step in range(6):
        append(log, b"v%d" % step, timestamp=NOW_MS + 600 * step, epoch=step // 2)
    assert log.segments.base_offsets == [0, 2, 4]
    if close:
        log.close()
    return log


def test_a_clean_log_is_not_scanned(files: MemoryFiles) -> None:
    three_segments(files)
    reads: list[str] = []
    files.fail = lambda name, path: reads.append(path) if name == "pread" else None
    log = open_orders(files)
    assert (log.log_end_offset, log.recovery_point) == (6, 6)
    assert {path for path in reads if path.endswith(".log")} == {path_of(4)}
    assert offsets_of(log) == [0, 1, 2, 3, 4, 5]


def test_an_empty_directory_begins_at_the_log_start(files: MemoryFiles) -> None:
    log = open_orders(files, log_start_offset=7)
    assert (log.log_start_offset, log.log_end_offset) == (7, 7)
    assert append(log, b"a") == 7


def test_a_torn_tail_is_cut(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"a")
    size = log.size_bytes
    append(log, b"b")
    files.resize(path_of(0), log.size_bytes - 5)
    again = open_orders(files, is_clean=False)
    assert (again.log_end_offset, again.size_bytes) == (1, size)
    assert files.size(path_of(0)) == size
    assert append(again, b"c") == 1


@pytest.mark.parametrize("place", [20, 65, 100])
def test_a_bad_byte_cuts_the_segment_and_what_follows(
    place: int, files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    log = three_segments(files, close=False)
    first_size = log.segments[0].size // 2
    damage(files, path_of(2), place)
    again = open_orders(files, is_clean=False)
    kept = [0, 1] if place < first_size else [0, 1, 2]
    assert offsets_of(again) == kept
    assert again.log_end_offset == len(kept)
    assert not files.exists(path_of(4))
    assert not files.exists(path_of(4, ".snapshot"))
    epochs = again.leader_epochs.epochs.entries
    assert epochs == [(0, 0)] if len(kept) == 2 else [(0, 0), (1, 2)]
    size = log.segments[2].size
    assert (
        f"deleting {path_of(4)} after the bad bytes of {path_of(2)}: {size} bytes, offset 4 and "
        "up, which begin with an intact batch"
    ) in caplog.text


def test_segments_after_a_bad_byte_do_not_come_back(files: MemoryFiles) -> None:
    """A power failure would make them the end of the log that has begun in their place."""
    three_segments(files)
    files.sync_dir(DIRECTORY)
    damage(files, path_of(0), 30)
    open_orders(files, is_clean=False)
    for seed in range(5):
        files.crash(random.Random(seed), reorder=True)
        assert logs_in(files) == [f"{0:020d}.log"]


def test_a_segment_that_overlaps_the_next_is_left_to_a_person(files: MemoryFiles) -> None:
    log = three_segments(files, close=False)
    content = files.read_file(path_of(2))
    files.write_file(path_of(3), content[len(content) // 2 :])
    before = {name: files.read_file(f"{DIRECTORY}/{name}") for name in logs_in(files)}
    assert len(before) == len(log.segments) + 1
    with pytest.raises(OffsetsOutOfPlace, match="3 to 3 overlap the next segment, 3"):
        open_orders(files, is_clean=False)
    assert before == {name: files.read_file(f"{DIRECTORY}/{name}") for name in logs_in(files)}


def logs_in(files: MemoryFiles) -> list[str]:
    return [name for name in files.listdir(DIRECTORY) if name.endswith(".log")]


def damage(files: MemoryFiles, path: str, place: int) -> None:
    content = bytearray(files.read_file(path))
    content[place] ^= 0x55
    files.write_file(path, content)


def test_flushed_segments_are_not_checked(files: MemoryFiles) -> None:
    three_segments(files)
    damage(files, path_of(0), 65)
    again = open_orders(files, is_clean=False, recovery_point=4)
    assert again.log_end_offset == 6
    assert again.recovery_point == 4


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("base_offset", [0, 4])
@pytest.mark.parametrize("left", [None, 1, 13])
def test_missing_and_odd_sized_indexes_are_built_again(
    suffix: str, base_offset: int, left: int | None, files: MemoryFiles
) -> None:
    three_segments(files)
    path = path_of(base_offset, suffix)
    content = files.read_file(path)
    assert content
    if left is None:
        files.unlink(path)
    else:
        files.resize(path, left)
    log = open_orders(files, index_interval_bytes="0")
    assert files.read_file(path) == content
    assert offsets_of(log) == [0, 1, 2, 3, 4, 5]
    assert log.offset_for_timestamp(NOW_MS + 601) == (2, NOW_MS + 1200, 1)


def test_garbage_in_the_index_of_the_last_segment(files: MemoryFiles) -> None:
    three_segments(files)
    files.write_file(path_of(4, ".index"), b"\x00\x00\x00\x01\x00\x00\x00\x07" * 2)
    log = open_orders(files, index_interval_bytes="0")
    assert log.log_end_offset == 6
    assert offsets_of(log) == [0, 1, 2, 3, 4, 5]


def test_garbage_found_by_a_read_is_mended(files: MemoryFiles) -> None:
    three_segments(files)
    files.write_file(path_of(0, ".index"), b"\x00\x00\x00\x01\x00\x00\x00\x07")
    files.write_file(path_of(2, ".timeindex"), b"\x7f" * 24)
    log = open_orders(files, index_interval_bytes="0")
    assert log.read(1, 1, 6).position > 0
    assert log.offset_for_timestamp(NOW_MS + 601) == (2, NOW_MS + 1200, 1)
    assert len(files.read_file(path_of(2, ".timeindex"))) % 12 == 0


def test_orphaned_indexes_and_deleted_files_go(files: MemoryFiles) -> None:
    three_segments(files)
    for name in (
        path_of(9, ".index"),
        path_of(9, ".timeindex"),
        path_of(0) + ".deleted",
        path_of(1, ".snapshot") + ".deleted",
        path_of(2) + ".cleaned",
    ):
        files.write_file(name, b"x" * 24)
    files.write_file(f"{DIRECTORY}/00000000000000000003-0000000001.checkpoint.deleted", b"keep")
    open_orders(files)
    names = files.listdir(DIRECTORY)
    assert [n for n in names if n.startswith("00000000000000000009")] == []
    assert [n for n in names if n.endswith((".deleted", ".cleaned"))] == [
        "00000000000000000003-0000000001.checkpoint.deleted"
    ]


def write_compacted(files: MemoryFiles, suffix: str, base_offset: int = 0) -> None:
    """What a compaction of the first two segments leaves: the records 1 and 3 in one."""
    segment = Segment.create(
        files, DIRECTORY, base_offset, TopicConfig.default(), NOW_MS, suffix=suffix
    )
    for offset in (base_offset + 1, base_offset + 3):
        batch = batch_of(b"kept", timestamp=NOW_MS)
        assign_offset(batch, offset, 0)
        segment.append([batch], [placed(read_header(batch))])
    segment.become_inactive()


def test_a_complete_swap_is_finished(files: MemoryFiles) -> None:
    three_segments(files)
    write_compacted(files, ".swap")
    log = open_orders(files)
    assert log.segments.base_offsets == [0, 4]
    assert offsets_of(log) == [1, 3, 4, 5]
    assert not [name for name in files.listdir(DIRECTORY) if name.endswith(".swap")]


@pytest.mark.parametrize("swapped", [0, 2])
def test_an_incomplete_swap_is_rolled_back(swapped: int, files: MemoryFiles) -> None:
    three_segments(files)
    write_compacted(files, ".swap", swapped)
    write_compacted(files, ".cleaned", 0)
    log = open_orders(files)
    assert offsets_of(log) == [0, 1, 2, 3, 4, 5]
    assert not [n for n in files.listdir(DIRECTORY) if n.endswith((".swap", ".cleaned"))]


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_a_hole_between_segments_takes_nothing_away(
    files: MemoryFiles, is_contiguous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It may be what compaction left, whatever is known of that."""
    log = three_segments(files, close=False)
    files.resize(path_of(2), log.segments[1].size // 2)
    again = open_orders(files, is_clean=False, is_contiguous=is_contiguous)
    assert offsets_of(again) == [0, 1, 2, 4, 5]
    told = f"{path_of(2)} ends at offset 3, the next segment begins at 4"
    assert (told in caplog.text) == is_contiguous


def test_a_log_that_ends_before_its_start(files: MemoryFiles) -> None:
    three_segments(files)
    log = open_orders(files, log_start_offset=50, recovery_point=50)
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (50, 50, 1)
    assert log.leader_epochs.latest_epoch is None


def test_a_log_start_that_cannot_be_takes_nothing_away(
    files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    three_segments(files)
    log = open_orders(files, log_start_offset=50, recovery_point=6)
    assert (log.log_start_offset, log.log_end_offset) == (0, 6)
    assert "log start offset 50 is ignored" in caplog.text


def test_what_is_lost_is_told(files: MemoryFiles, caplog: pytest.LogCaptureFixture) -> None:
    three_segments(files)
    open_orders(files, recovery_point=6)
    assert caplog.text == ""
    files.unlink(path_of(2))
    assert offsets_of(open_orders(files, recovery_point=6)) == [0, 1, 4, 5]
    assert f"{path_of(2)} is missing or empty: offsets 2 to 3 are lost" in caplog.text
    files.unlink(path_of(4))
    assert offsets_of(open_orders(files, recovery_point=6)) == [0, 1]
    assert f"{DIRECTORY} ends at offset 2 but was synced up to 6" in caplog.text


def test_an_emptied_segment_is_told(files: MemoryFiles, caplog: pytest.LogCaptureFixture) -> None:
    three_segments(files)
    files.resize(path_of(2), 0)
    open_orders(files, recovery_point=6)
    assert "offsets 2 to 3 are lost" in caplog.text
    caplog.clear()
    open_orders(files, recovery_point=6, is_contiguous=False)
    assert "lost" not in caplog.text


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("gone", [[0], [0, 2]])
def test_a_lost_first_segment_is_told(
    gone: list[int], is_clean: bool, files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    three_segments(files)
    for base in gone:
        files.unlink(path_of(base))
    log = open_orders(files, is_clean=is_clean, recovery_point=6)
    assert (log.log_start_offset, log.log_end_offset) == (gone[-1] + 2, 6)
    end = gone[-1] + 1
    told = f"the log files before {path_of(end + 1)} are missing: offsets 0 to {end} are lost"
    assert [r.getMessage() for r in caplog.records if r.levelname == "ERROR"] == [
        f"orders-3: {told}"
    ]
    log.close()
    caplog.clear()
    open_orders(files, is_clean=is_clean, recovery_point=6)
    assert caplog.text == ""


def test_a_first_segment_that_is_gone_without_a_trace_is_told(
    files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a log that was stopped cleanly, its leader epochs and its checkpointed start tell."""
    three_segments(files)
    for name in files.listdir(DIRECTORY):
        if name.startswith(f"{0:020d}."):
            files.unlink(f"{DIRECTORY}/{name}")
    epochs = f"{DIRECTORY}/leader-epoch-checkpoint"
    content = files.read_file(epochs)
    open_orders(files, recovery_point=6)
    assert "offsets 0 to 1 are lost" in caplog.text
    caplog.clear()
    files.write_file(epochs, content)
    open_orders(files, recovery_point=6, log_start_offset=1)
    assert "offsets 1 to 1 are lost" in caplog.text
    caplog.clear()
    files.unlink(epochs)
    open_orders(files, recovery_point=6, log_start_offset=1)
    assert "offsets 1 to 1 are lost" in caplog.text


def test_segments_that_were_deleted_are_not_lost(
    files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """Retention renames the log file first: a crash may leave the index under its name."""
    log = three_segments(files, close=False)
    log.advance_log_start_offset(2)
    files.rename(path_of(0), path_of(0) + ".deleted")
    again = open_orders(files, is_clean=False)
    assert again.log_start_offset == 2
    assert "lost" not in caplog.text
    again.advance_log_start_offset(4)
    assert again.delete_old_segments(NOW_MS, 6) == 1
    again.close()
    assert open_orders(files, recovery_point=6).log_start_offset == 4
    assert open_orders(files, recovery_point=6, log_start_offset=5).log_start_offset == 5
    assert "lost" not in caplog.text


@pytest.mark.parametrize("cut", [1, 20, 65])
@pytest.mark.parametrize("has_index", [True, False])
def test_a_closed_segment_cut_short_is_gone_on_behind(
    cut: int, has_index: bool, files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    three_segments(files)
    if not has_index:
        files.unlink(path_of(2, ".timeindex"))
    log = lost_end_of(files, cut)
    before = files.read_file(path_of(2))
    outcome = log.read(3, 1 << 20, 6)
    assert outcome.slice is not None
    assert read_header(outcome.slice.read()).base_offset == 4
    assert offsets_of(log) == [0, 1, 2, 4, 5]
    told = f"{path_of(2)} ends within a batch: offsets 3 to 3 are lost"
    assert caplog.text.count(told) == 1
    assert log.offset_for_timestamp(NOW_MS + 1500) == (4, NOW_MS + 2400, 2)
    assert files.read_file(path_of(2)) == before
    assert append(log, b"new", epoch=2) == 6


def lost_end_of(files: MemoryFiles, cut: int) -> PartitionLog:
    files.resize(path_of(2), files.size(path_of(2)) - cut)
    return open_orders(files, recovery_point=6, index_interval_bytes="0")


def test_garbage_at_the_end_of_a_closed_segment_is_gone_on_behind(files: MemoryFiles) -> None:
    three_segments(files)
    content = files.read_file(path_of(2))
    files.write_file(path_of(2), content[: len(content) // 2] + bytes(500))
    log = open_orders(files, recovery_point=6)
    outcome = log.read(3, 1 << 20, 6)
    assert outcome.slice is not None
    assert read_header(outcome.slice.read()).base_offset == 4
    assert offsets_of(log) == [0, 1, 2, 4, 5]


def test_a_bad_length_before_sound_batches_is_told_to_readers(files: MemoryFiles) -> None:
    """What follows can still be read from where it begins: nothing is passed over in silence."""
    three_segments(files)
    content = bytearray(files.read_file(path_of(2)))
    content[8] = 0x7F
    files.write_file(path_of(2), content)
    log = open_orders(files, recovery_point=6)
    with pytest.raises(KafkaError, match=r"no batch header|ends beyond the file"):
        log.read(2, 1, 6)
    assert log.read(4, 1, 6).position == 0


@pytest.mark.parametrize("place", [8, 65])
@pytest.mark.parametrize("lost", [".timeindex", ".snapshot"])
def test_damage_in_a_cleanly_stopped_log_cuts_nothing(
    lost: str, place: int, files: MemoryFiles, caplog: pytest.LogCaptureFixture
) -> None:
    three_segments(files)
    damage(files, path_of(2), place)
    before = [files.read_file(path_of(base)) for base in (0, 2, 4)]
    for name in files.listdir(DIRECTORY):
        if name.endswith(lost):
            files.unlink(f"{DIRECTORY}/{name}")
    log = open_orders(files, recovery_point=6)
    assert [files.read_file(path_of(base)) for base in (0, 2, 4)] == before
    assert log.log_end_offset == 6
    assert log.read(4, 1 << 20, 6).position == 0
    if lost == ".timeindex":
        assert f"{path_of(2)} is damaged at position 0: it is kept" in caplog.text
    if place == 65:
        assert offsets_of(log) == [0, 1, 2, 3, 4, 5]


def test_log_start_offset_within_a_segment(files: MemoryFiles) -> None:
    three_segments(files)
    log = open_orders(files, log_start_offset=3)
    assert log.log_start_offset == 3
    assert log.leader_epochs.epochs.entries == [(1, 3), (2, 4)]


def test_producers_come_from_the_newest_good_snapshot(files: MemoryFiles) -> None:
    log = open_orders(files)
    for sequence in range(3):
        log.append_as_leader(batch_of(b"x", producer=(7, 0, sequence)), 0, NOW_MS)
    log.roll(NOW_MS)
    log.append_as_leader(batch_of(b"x", producer=(7, 0, 3)), 0, NOW_MS)
    log.close()
    files.write_file(path_of(4, ".snapshot"), b"\x00\x01garbage")
    again = open_orders(files)
    assert again.producers.producers[7].last_sequence == 3
    files.unlink(path_of(3, ".snapshot"))
    files.unlink(path_of(4, ".snapshot"))
    crashed = open_orders(files, is_clean=False)
    assert crashed.producers.producers[7].last_sequence == 3


def test_any_of_the_last_five_batches_may_be_repeated_after_crashes(files: MemoryFiles) -> None:
    batches = [bytes(batch_of(b"x", producer=(7, 0, sequence))) for sequence in range(6)]
    log = open_orders(files)
    for batch in batches:
        log.append_as_leader(bytearray(batch), 0, NOW_MS)
    log.write_pending()
    for _ in range(2):  # the first recovery leaves a snapshot at the log's end
        log = open_orders(files, is_clean=False)
        for offset in range(1, 6):
            outcome = log.append_as_leader(bytearray(batches[offset]), 0, NOW_MS)
            assert (outcome.base_offset, outcome.duplicate) == (offset, True)
        refused = log.append_as_leader(bytearray(batches[0]), 0, NOW_MS)
        assert refused.error == int(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_producer_of_old_records_may_repeat_its_last_batch_after_a_restart(
    files: MemoryFiles, is_clean: bool
) -> None:
    log = open_orders(files)
    batch = bytes(batch_of(b"of 2013", timestamp=1_383_598_800_000, producer=(7, 0, 0)))
    assert log.append_as_leader(bytearray(batch), 0, NOW_MS).queued
    if is_clean:
        log.close()
    else:
        log.write_pending()
    again = open_orders(files, is_clean=is_clean)
    outcome = again.append_as_leader(bytearray(batch), 0, NOW_MS)
    assert (outcome.base_offset, outcome.duplicate, outcome.queued) == (0, True, False)


def test_lost_snapshots_do_not_end_an_open_transaction(files: MemoryFiles) -> None:
    log = open_orders(files)
    append(log, b"before")
    open_batch = batch_of(b"open", producer=(7, 0, 0), is_transactional=True)
    log.append_as_leader(open_batch, 0, NOW_MS)
    log.roll(NOW_MS)
    append(log, b"after")
    log.close()
    for offset in log.snapshots.offsets:
        files.unlink(path_of(offset, ".snapshot"))
    assert open_orders(files).last_stable_offset(3) == 1


def test_a_bad_epoch_checkpoint_is_built_again_by_recovery(files: MemoryFiles) -> None:
    three_segments(files)
    files.write_file(f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n1\nnonsense\n")
    log = open_orders(files, is_clean=False)
    assert log.leader_epochs.epochs.entries == [(0, 0), (1, 2), (2, 4)]


def test_foreign_files_are_left_alone(files: MemoryFiles) -> None:
    three_segments(files)
    beyond = f"{1 << 63}"
    names = (f"0{beyond}.log", f"9{beyond}.log", f"0{beyond}.snapshot", "\N{SUPERSCRIPT TWO}" * 20)
    for name in ("README", "notes.log", "123.index", *names, f"{names[-1]}.log"):
        files.write_file(f"{DIRECTORY}/{name}", b"mine")
    end = open_orders(files, is_clean=False).log_end_offset
    assert open_orders(files).log_end_offset == end < 1 << 32
    assert files.read_file(f"{DIRECTORY}/notes.log") == b"mine"
    assert files.read_file(f"{DIRECTORY}/123.index") == b"mine"

"""Damage in the middle of the metadata log forbids a start; the torn end of it does not."""

from __future__ import annotations

import pytest

from pykbroker.kraft.metadata_log_check import CorruptMetadataLog, check_metadata_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.memory_files import MemoryFiles

DIRECTORY = "/d"
FIRST = f"{DIRECTORY}/{0:020d}.log"


def batch(offset: int, epoch: int = 1, count: int = 2, size: int = 9) -> bytes:
    values = [(None, b"x" * size, 1000, ()) for _ in range(count)]
    return bytes(build_batch(values, base_offset=offset, leader_epoch=epoch))


def log_of(*batches: bytes, base: int = 0, files: MemoryFiles | None = None) -> MemoryFiles:
    files = MemoryFiles() if files is None else files
    files.mkdir(DIRECTORY)
    files.write_file(f"{DIRECTORY}/{base:020d}.log", b"".join(batches))
    return files


def check(files: MemoryFiles, snapshot_offset: int = 0, *, is_clean: bool = False) -> None:
    check_metadata_log(files, DIRECTORY, snapshot_offset, is_clean=is_clean)


def flipped(content: bytes, position: int, mask: int = 0x40) -> bytes:
    return content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :]


FOUR = [batch(0), batch(2, 1), batch(4, 3), batch(6, 3)]
SIZE = len(FOUR[0])


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_sound_log_and_none_at_all(is_clean: bool) -> None:
    check(MemoryFiles(), is_clean=is_clean)
    check(log_of(), is_clean=is_clean)
    check(log_of(*FOUR), is_clean=is_clean)
    check(log_of(batch(8), base=8, files=log_of(*FOUR[:2], batch(4), batch(6))))
    big = batch(8, 3, count=2000, size=1000)  # more than one look into the file
    check(log_of(*FOUR, big, batch(2008, 3)), is_clean=is_clean)


@pytest.mark.parametrize("position", range(SIZE))
def test_any_byte_of_a_batch_in_the_middle(position: int) -> None:
    for mask in (0x01, 0x80):
        content = b"".join(FOUR)
        files = log_of(flipped(content, SIZE + position, mask))
        with pytest.raises(CorruptMetadataLog) as caught:
            check(files)
        assert str(caught.value).startswith(f"{FIRST}: the batch at position ")
        assert "committed records follow from offset" in str(caught.value)


def test_what_is_said() -> None:
    files = log_of(flipped(b"".join(FOUR), SIZE + 70))
    with pytest.raises(CorruptMetadataLog) as caught:
        check(files)
    assert str(caught.value) == (
        f"{FIRST}: the batch at position {SIZE} (offset 2) is damaged, but committed records "
        f"follow from offset 4 on (position {2 * SIZE} of {FIRST}): restore the file from a copy; "
        f"truncating it at position {SIZE} discards those records"
    )


@pytest.mark.parametrize("kept", range(0, SIZE, 7))
def test_a_torn_end_is_left_to_recovery(kept: int) -> None:
    check(log_of(*FOUR[:3], FOUR[3][:kept]))
    check(log_of(*FOUR[:3], flipped(FOUR[3], 62 + kept % 20)[:kept]))
    check(log_of(*FOUR, bytes(kept)))


def test_the_last_batch_damaged_is_a_torn_end() -> None:
    check(log_of(*FOUR[:3], flipped(FOUR[3], 70)))


def test_the_records_behind_it_are_in_the_next_segment() -> None:
    files = log_of(*FOUR[:3], flipped(FOUR[3], 70))
    log_of(batch(8, 3), base=8, files=files)
    with pytest.raises(
        CorruptMetadataLog, match=rf"follow from offset 8 on .position 0 of .*{8:020d}"
    ):
        check(files)


def test_the_same_epoch_behind_it_counts() -> None:
    with pytest.raises(CorruptMetadataLog, match="follow from offset 6 on"):
        check(log_of(batch(0), batch(2), flipped(batch(4), 70), batch(6)))


def test_a_batch_inside_of_a_torn_record_counts_for_nothing() -> None:
    values = [(None, bytes(batch(0)), 1000, ())]
    torn = bytes(build_batch(values, base_offset=4, leader_epoch=1))[:-1]
    check(log_of(batch(0), batch(2), torn))


def test_an_older_epoch_behind_it_counts_for_nothing() -> None:
    check(log_of(FOUR[0], batch(2, 5), batch(4, 5), flipped(batch(6, 5), 70), batch(8, 4)))


def test_a_hole_that_a_power_failure_left_is_left_to_recovery() -> None:
    check(log_of(FOUR[0], bytes(SIZE), *FOUR[2:]))
    large = batch(2, 1, count=1, size=3000)
    torn = large[:700] + bytes(1500) + large[2200:]
    check(log_of(FOUR[0], torn, batch(3, 1)))
    with pytest.raises(CorruptMetadataLog):
        check(log_of(FOUR[0], large[:700] + bytes(100) + large[800:], batch(3, 1)))
    files = log_of(*FOUR[:3], bytes(SIZE))
    log_of(batch(8, 3), base=8, files=files)
    check(files)


def test_a_frame_that_does_not_parse_is_looked_behind() -> None:
    large = batch(2, 1, count=3, size=500_000)
    for damaged in (b"\xff" * 40 + large[40:], large[:8] + b"\x7f" + large[9:]):
        with pytest.raises(CorruptMetadataLog, match="follow from offset 5 on"):
            check(log_of(FOUR[0], damaged, batch(5, 1)))


@pytest.mark.parametrize("before", [5, 17, 60, 61, 62])
def test_a_batch_across_two_looks_into_the_file(before: int) -> None:
    damaged = b"\xff" * ((1 << 20) - before)
    with pytest.raises(CorruptMetadataLog, match="follow from offset 5 on"):
        check(log_of(FOUR[0], damaged, batch(5)))


@pytest.mark.parametrize(("snapshot", "is_refused"), [(4, True), (7, True), (8, False), (9, False)])
def test_what_a_snapshot_holds_may_be_lost(snapshot: int, is_refused: bool) -> None:
    files = log_of(flipped(b"".join(FOUR), SIZE + 70))
    if not is_refused:
        check(files, snapshot)
        return
    with pytest.raises(CorruptMetadataLog):
        check(files, snapshot)


def test_segments_before_the_snapshot_are_not_read() -> None:
    files = log_of(flipped(b"".join(FOUR), 70))
    log_of(batch(8, 3), batch(10, 3), base=8, files=files)
    check(files, 9)
    check(files, 8)
    with pytest.raises(CorruptMetadataLog):
        check(files, 7)


def test_behind_a_clean_stop_the_check_begins_where_the_index_says() -> None:
    content = flipped(b"".join(FOUR), 70)
    files = log_of(content, batch(8, 3), batch(10, 3))
    index = (5).to_bytes(4, "big") + (2 * SIZE).to_bytes(4, "big") + bytes(8)
    files.write_file(f"{DIRECTORY}/{0:020d}.index", index)
    check(files, 6, is_clean=True)  # neither does recovery look there
    with pytest.raises(CorruptMetadataLog):
        check(files, 6, is_clean=False)
    damaged = log_of(flipped(content, 3 * SIZE + 70), batch(8, 3), files=files)
    with pytest.raises(CorruptMetadataLog, match="follow from offset 8"):
        check(damaged, 6, is_clean=True)


def test_an_index_of_garbage_is_not_believed() -> None:
    files = log_of(flipped(b"".join(FOUR), SIZE + 70))
    for position in (3 * SIZE, 17, 10_000):
        entry = (1).to_bytes(4, "big") + position.to_bytes(4, "big")
        files.write_file(f"{DIRECTORY}/{0:020d}.index", entry)
        with pytest.raises(CorruptMetadataLog, match=f"position {SIZE} "):
            check(files, 3, is_clean=True)

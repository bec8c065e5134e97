"""One segment and its files."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import (
    CorruptSegment,
    Segment,
    TimestampOffset,
    placed,
    segment_path,
)
from pykbroker.protocol.record_batch import assign_offset, read_header
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import NOW_MS, batch_of, memory_disk


def new_segment(files: MemoryFiles, base_offset: int = 100, **overrides: str) -> Segment:
    files.mkdir("/d/p-0")
    return Segment.create(files, "/d/p-0", base_offset, TopicConfig.default(**overrides), NOW_MS)


def put(segment: Segment, offset: int, *values: bytes, timestamp: int = NOW_MS) -> int:
    """Append one batch; its size."""
    batch = batch_of(*values, timestamp=timestamp)
    assign_offset(batch, offset, 0)
    segment.append([batch], [placed(read_header(batch))])
    return len(batch)


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def test_files_of_a_new_segment(files: MemoryFiles) -> None:
    new_segment(files)
    assert files.list_sizes("/d/p-0") == {
        "00000000000000000100.index": 10485760,
        "00000000000000000100.log": 0,
        "00000000000000000100.timeindex": 10485756,
    }
    assert segment_path("/d/p-0", 7, ".txnindex") == "/d/p-0/00000000000000000007.txnindex"


def test_preallocated_log_is_cut_when_it_closes(files: MemoryFiles) -> None:
    segment = new_segment(files, preallocate="true", segment_bytes="1048576")
    assert files.size("/d/p-0/00000000000000000100.log") == 1048576
    size = put(segment, 100, b"a")
    assert segment.size == size
    segment.become_inactive()
    assert files.size("/d/p-0/00000000000000000100.log") == size


def test_translate_finds_the_batch_that_holds_an_offset(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0")
    positions = {}
    for offset in range(100, 160, 3):
        positions[offset] = segment.size
        put(segment, offset, b"a", b"b", b"c")
    for offset in range(100, 160):
        segment.hints.clear()
        assert segment.translate(offset) == positions[offset - (offset - 100) % 3]
    assert segment.translate(160) is None
    assert segment.translate(5) == 0
    assert segment.next_offset() == 160


def test_hints_are_bounded_and_right(files: MemoryFiles) -> None:
    segment = new_segment(files)
    for offset in range(100, 400):
        put(segment, offset, b"a")
    for offset in range(100, 400):
        segment.translate(offset)
    assert len(segment.hints) <= 64
    hints = dict(segment.hints)
    segment.hints.clear()
    assert all(segment.translate(offset) == position for offset, position in hints.items())


def test_gaps_left_by_compaction(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0")
    put(segment, 100, b"a")
    second = segment.size
    put(segment, 150, b"b")
    assert segment.translate(120) == second


def test_index_entries_follow_the_interval(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="200")
    for offset in range(100, 110):
        put(segment, offset, b"x" * 100, timestamp=NOW_MS + offset)
    assert segment.offset_index.index.entries() == [
        (102, 342),
        (104, 684),
        (106, 1026),
        (108, 1368),
    ]
    assert segment.time_index.index.entries() == [(NOW_MS + n, n) for n in (102, 104, 106, 108)]
    segment.become_inactive()
    assert segment.time_index.last_entry == (NOW_MS + 109, 109)
    assert files.size("/d/p-0/00000000000000000100.index") == 32
    assert files.size("/d/p-0/00000000000000000100.timeindex") == 60


def test_a_full_index_takes_no_more(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0", segment_index_bytes="24")
    for offset in range(100, 110):
        put(segment, offset, b"x", timestamp=NOW_MS + offset)
    assert segment.index_full
    assert segment.time_index.index.entry_count == 1
    segment.become_inactive()
    assert segment.time_index.last_entry == (NOW_MS + 109, 109)


def test_largest_timestamp_does_not_trust_a_short_index(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0")
    for offset in range(100, 110):
        put(segment, offset, b"x", timestamp=NOW_MS + offset)
    segment.become_inactive()
    path = "/d/p-0/00000000000000000100.timeindex"
    files.resize(path, 24)
    again = Segment(files, "/d/p-0", 100, TopicConfig.default(), NOW_MS)
    assert again.indexed_timestamp() == NOW_MS + 102
    assert again.largest_timestamp() == TimestampOffset(NOW_MS + 109, 109)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("index", bytes([0, 0, 0, 3, 0, 0, 0, 7])),
        ("index", bytes([0, 0, 0, 3, 0, 255, 0, 0])),
        ("timeindex", bytes(range(1, 25))),
        ("timeindex", (NOW_MS + 500).to_bytes(8, "big") + bytes([0, 0, 0, 4])),
    ],
)
def test_an_index_of_garbage_is_noticed(name: str, content: bytes, files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0")
    for offset in range(100, 110):
        put(segment, offset, b"x", timestamp=NOW_MS + offset)
    segment.become_inactive()
    path = f"/d/p-0/00000000000000000100.{name}"
    files.write_file(path, content)
    again = Segment(files, "/d/p-0", 100, TopicConfig.default(), NOW_MS)
    with pytest.raises(CorruptIndex) as caught:
        again.translate(109) if name == "index" else again.largest_timestamp()
    assert caught.value.path == path


def test_bytes_that_are_no_batch_are_noticed(files: MemoryFiles) -> None:
    segment = new_segment(files)
    put(segment, 100, b"x")
    put(segment, 101, b"x")
    size = segment.size
    segment.file.pwritev([b"\xff" * 20], size // 2)
    segment.hints.clear()
    with pytest.raises(CorruptSegment, match=f"position {size // 2}"):
        segment.translate(101)
    with pytest.raises(CorruptSegment):
        list(segment.headers_from(0))


@pytest.mark.parametrize("place, value", [(8, b"\x00\xff"), (0, b"\x00\x01"), (23, b"\xff")])
def test_a_reader_is_not_sent_a_frame_that_cannot_be(
    files: MemoryFiles, place: int, value: bytes
) -> None:
    segment = new_segment(files)
    put(segment, 100, b"x")
    position = segment.size
    put(segment, 101, b"x")
    segment.file.pwritev([value], position + place)  # length, base offset, last offset delta
    segment.hints.clear()
    assert segment.translate(100) == 0
    with pytest.raises(CorruptSegment, match=f"position {position}"):
        segment.translate(101)


def test_truncate_to_an_offset(files: MemoryFiles) -> None:
    segment = new_segment(files, index_interval_bytes="0")
    sizes = [
        put(segment, offset, b"a", b"b", timestamp=NOW_MS + offset) for offset in (100, 102, 104)
    ]
    assert segment.truncate_to(103, NOW_MS) == sizes[1] + sizes[2]
    assert segment.size == sizes[0] == files.size("/d/p-0/00000000000000000100.log")
    assert segment.largest_timestamp() == TimestampOffset(NOW_MS + 100, 101)
    assert segment.truncate_to(200, NOW_MS) == 0
    put(segment, 102, b"new", timestamp=NOW_MS + 1)
    assert segment.next_offset() == 103
    segment.truncate_to(0, NOW_MS + 9)
    assert (segment.size, segment.created_ms, segment.first_timestamp) == (0, NOW_MS + 9, None)


def test_renaming(files: MemoryFiles) -> None:
    segment = new_segment(files)
    put(segment, 100, b"x")
    segment.become_inactive()
    segment.change_suffix("", ".deleted")
    assert sorted(files.listdir("/d/p-0")) == [
        "00000000000000000100.index.deleted",
        "00000000000000000100.log.deleted",
        "00000000000000000100.timeindex.deleted",
    ]
    assert segment.translate(100) == 0

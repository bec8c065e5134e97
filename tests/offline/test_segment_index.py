"""Indexes are believed as far as they can be checked."""

from __future__ import annotations

import itertools
import struct
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pykbroker.offline import open_log, segment_index
from pykbroker.offline.segment_index import (
    KnownBatches,
    aborted_transactions,
    batch_at,
    is_entry_true,
    next_batch,
    offset_entries,
    time_entries,
)
from pykbroker.offline.storage import open_file
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import partition_directory, simple_batches, write_segment

RIGHT = [(105, 0), (110, 5000), (120, 9000)]


def packed(entries: list[tuple[int, int]], base: int = 100) -> bytes:
    return b"".join(struct.pack(">ii", offset - base, position) for offset, position in entries)


@pytest.mark.parametrize(
    "content,kept",
    [
        (packed(RIGHT), 3),
        (packed(RIGHT) + bytes(80), 3),
        (packed(RIGHT)[:-3], 2),
        (packed([*RIGHT, (119, 9500)]), 3),
        (packed([*RIGHT, (130, 8000)]), 3),
        (packed([*RIGHT, (130, 20_000)]), 3),
        (packed([(99, 0), *RIGHT]), 0),
        (bytes(80), 0),
        (b"", 0),
    ],
)
def test_offset_entries(tmp_path: Path, content: bytes, kept: int):
    path = tmp_path / "index"
    path.write_bytes(content)
    assert list(offset_entries(str(path), 100, 10_000)) == RIGHT[:kept]


def test_entries_are_a_sequence_of_pairs(tmp_path: Path):
    path = tmp_path / "index"
    path.write_bytes(packed(RIGHT))
    entries = offset_entries(str(path), 100, 10_000)
    assert len(entries) == 3
    assert entries[-1] == RIGHT[-1]
    assert list(entries[1:]) == RIGHT[1:]
    assert list(reversed(entries)) == RIGHT[::-1]
    assert bisect_right(entries, 6000, key=lambda entry: entry[1]) == 2
    assert all(type(number) is int for entry in entries for number in entry)
    with pytest.raises(IndexError):
        entries[3]


def test_no_index():
    assert not offset_entries(None, 0, 100)
    assert not offset_entries("/nowhere", 0, 100)
    assert not time_entries(None, 0)
    assert aborted_transactions(None, 0) == []


@pytest.mark.parametrize(
    "entries,kept",
    [
        ([(5, 0), (6, 3)], 2),
        ([(5, 0), (6, 3), (0, 0), (0, 0)], 2),
        ([(5, 0), (4, 3)], 1),
        ([(5, 3), (6, 2)], 1),
        ([(0, 0), (0, 0)], 0),
        ([(-1, 0), (5, 2)], 2),
        ([(5, -2)], 0),
    ],
)
def test_time_entries(tmp_path: Path, entries: list[tuple[int, int]], kept: int):
    path = tmp_path / "timeindex"
    path.write_bytes(b"".join(struct.pack(">qi", *entry) for entry in entries) + b"\x00")
    expected = [(timestamp, 100 + offset) for timestamp, offset in entries[:kept]]
    assert list(time_entries(str(path), 100)) == expected


def test_aborted_transactions(tmp_path: Path):
    path = tmp_path / "txnindex"
    entry = struct.pack(">hqqqq", 0, 7, 100, 120, 121)
    path.write_bytes(entry)
    assert aborted_transactions(str(path), 100) == [(7, 100, 120, 121)]
    path.write_bytes(entry + entry[:5])
    assert aborted_transactions(str(path), 100) is None


def test_positions_are_checked_against_the_log(tmp_path: Path):
    batches = simple_batches(30, size=400)
    path = write_segment(tmp_path, batches)
    index = str(path.with_suffix(".index"))
    content = bytearray(path.read_bytes())
    with open_file(str(path)) as opened:
        end = opened.size
        first = offset_entries(index, 0, end)[0]
        assert is_entry_true(opened, first, end)
        assert not is_entry_true(opened, (first[0], first[1] + 1), end)
        assert not is_entry_true(opened, (first[0] - 10, first[1]), end)
        assert batch_at(opened, end - 10, end) is None
        assert KnownBatches(opened, index, 0).after(1, end) == first[1]
        assert KnownBatches(opened, None, 0).after(1, end) == len(batches[0])
        assert KnownBatches(opened, index, 0).after(end - 5, end) == end
    content[first[1] + 80] ^= 1
    path.write_bytes(content)
    with open_file(str(path)) as opened:
        assert KnownBatches(opened, index, 0).after(1, end) == offset_entries(index, 0, end)[1][1]


def test_an_index_that_is_wrong_as_a_whole_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """And not for every batch behind which the next one is looked for."""
    batches = simple_batches(200)
    path = write_segment(tmp_path, batches, index_every=1)
    index = path.with_suffix(".index")
    entries = list(struct.iter_unpack(">ii", index.read_bytes()))
    wrong = [(offset, at + (number % 50 != 49)) for number, (offset, at) in enumerate(entries)]
    index.write_bytes(packed(wrong, 0))
    places = np.cumsum([0, *map(len, batches)]).tolist()
    true = [at for number, (_, at) in enumerate(wrong) if number % 50 == 49]
    asked: list[int] = []

    def counted(opened: Any, entry: tuple[int, int], end: int) -> bool:
        asked.append(entry[1])
        return is_entry_true(opened, entry, end)

    monkeypatch.setattr(segment_index, "is_entry_true", counted)
    with open_file(str(path)) as opened:
        known = KnownBatches(opened, str(index), 0)
        for low, high in [(0, 3), (0, 60), *itertools.pairwise(places)]:
            expected = next((at for at in true if low < at < high), None)
            assert known.between(low, high) == expected
        assert known.between(true[-1], opened.size) is None
        for place in places[:50]:
            assert known.after(place, opened.size) == true[0]
    assert len(asked) < 2 * len(wrong) + 100


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
@pytest.mark.parametrize("length", [b"\x7f\xff\xff\xff", b"\x00\x00\x00\x00"])
def test_without_an_index_reading_goes_on_at_the_next_sound_batch(
    tmp_path: Path, decoder: str, length: bytes
):
    written = simple_batches(8)
    inside = simple_batches(1, base_offset=7)[0]  # in the records of the broken one
    broken = bytes(build_batch([(None, inside, 0, ())] * 10, base_offset=30))
    written[3] = broken
    path = write_segment(partition_directory(tmp_path), written)
    path.with_suffix(".index").unlink()
    written[3] = broken[:8] + length + broken[12:]
    path.write_bytes(b"".join(written))
    log = open_log(str(tmp_path), mode="PERMISSIVE", decoder=decoder, columns=["offset"])
    assert log.read_all()["offset"].to_pylist() == [*range(30), *range(40, 80)]
    assert (log.corrupt_batches, log.corrupt_bytes) == (1, len(broken))


def test_the_next_batch_across_pieces_of_the_file(tmp_path: Path):
    batch = simple_batches(1, base_offset=50)[0]
    for gap in range((1 << 20) - 62, (1 << 20) + 3):
        (tmp_path / "x.log").write_bytes(b"\xff" + bytes(gap) + batch)
        with open_file(str(tmp_path / "x.log")) as opened:
            end = opened.size
            assert next_batch(opened, 0, end, range(100)) == gap + 1
            assert next_batch(opened, 0, end - 1, range(100)) is None
            assert next_batch(opened, 0, end, range(51, 100)) is None


def test_zeros_of_a_preallocated_file_are_stepped_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "log"
    (batch,) = simple_batches(1, base_offset=7)
    zeros = (3 << 20) + 5
    path.write_bytes(b"x" + bytes(zeros) + batch + bytes(3 << 20))
    looked_at: list[int] = []
    real = np.flatnonzero

    def counted(mask: Any) -> Any:
        looked_at.append(mask.size)
        return real(mask)

    monkeypatch.setattr(np, "flatnonzero", counted)
    with open_file(str(path)) as opened:
        assert next_batch(opened, 0, opened.size, range(100)) == 1 + zeros
        assert next_batch(opened, 1 + zeros, opened.size, range(8, 100)) is None
    assert len(looked_at) == 2  # the pieces with the batch in them

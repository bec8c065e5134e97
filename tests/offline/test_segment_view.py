"""Segments from headers and indexes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import CorruptSegment, segments
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment


def test_segments(tmp_path: Path):
    directory = partition_directory(tmp_path)
    first = [*simple_batches(3, codec=4), *simple_batches(2, base_offset=30)]
    write_segment(directory, first, 0)
    write_segment(directory, simple_batches(2, base_offset=50), 50)
    one, two = segments(str(tmp_path), "t").to_pylist()
    assert (one["base_offset"], one["next_offset"], one["is_active"]) == (0, 50, False)
    assert (two["base_offset"], two["next_offset"], two["is_active"]) == (50, 70, True)
    assert one["codecs"] == ["none", "zstd"]
    assert (one["batch_count"], one["compressed_batch_count"]) == (5, 3)
    assert (one["record_count"], one["size_bytes"]) == (50, sum(map(len, first)))
    assert (one["first_timestamp_ms"], one["max_timestamp_ms"]) == (BASE_MS, BASE_MS + 49)
    assert one["time_index_entries"] == 1


def test_what_is_no_batch(tmp_path: Path):
    written = simple_batches(20, size=900)
    path = write_segment(partition_directory(tmp_path), written, index_every=1000)
    at = len(written[0]) * 3
    broken = bytearray(b"".join(written))
    broken[at + 8 : at + 12] = bytes(4)
    path.write_bytes(broken)
    (row,) = segments(str(tmp_path)).to_pylist()
    assert 15 < row["batch_count"] < 20
    assert row["next_offset"] == 200
    with pytest.raises(CorruptSegment, match=f"position {at}: .* less than its header"):
        segments(str(tmp_path), mode="FAILFAST")


def test_an_offset_that_cannot_be(tmp_path: Path):
    path = write_segment(partition_directory(tmp_path), simple_batches(1))
    path.write_bytes((2**63 - 1).to_bytes(8) + path.read_bytes()[8:])
    (row,) = segments(str(tmp_path)).to_pylist()
    assert row["next_offset"] == 2**63 - 1

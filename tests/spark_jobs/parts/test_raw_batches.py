"""Samples of batches, decompressed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import CorruptSegment, ReadOptions, Selection, plan
from spark_jobs.parts.raw_batches import sample_batches, sample_runs
from tests.offline.samples import partition_directory, simple_batches, write_segment

NO_LIMIT = 1 << 40
OPTIONS = ReadOptions(max_decompressed_bytes=1 << 20)


def test_samples(tmp_path: Path):
    plain = simple_batches(20)
    write_segment(partition_directory(tmp_path, "zstd"), simple_batches(20, codec=4))
    (split,) = plan(Selection(paths=(str(tmp_path),))).splits
    found = list(sample_batches(split, 1, NO_LIMIT, OPTIONS))
    assert [each.payload for each in found] == [each[61:] for each in plain]
    assert [each.header.codec for each in found] == [4] * 20
    thinned = list(sample_batches(split, 7, NO_LIMIT, OPTIONS))
    assert [each.header.base_offset for each in thinned] == [0, 70, 140]
    size = len(found[0].stored)
    few = list(sample_batches(split, 1, size + 1, OPTIONS))
    assert [each.header.base_offset for each in few] == [0, 10]


@pytest.mark.parametrize("codec", [0, 4])
def test_a_broken_batch_is_no_sample(tmp_path: Path, codec: int):
    batches = simple_batches(5, codec=codec)
    path = write_segment(partition_directory(tmp_path, "t"), batches)
    payload = bytearray(path.read_bytes())
    payload[len(batches[0]) + 65] ^= 1
    path.write_bytes(payload)
    (split,) = plan(Selection(paths=(str(tmp_path),))).splits
    with pytest.raises(CorruptSegment, match=f"position {len(batches[0])}: the checksum"):
        list(sample_batches(split, 1, NO_LIMIT, OPTIONS))
    left = list(sample_batches(split, 1, NO_LIMIT, ReadOptions(mode="PERMISSIVE")))
    assert [each.header.base_offset for each in left] == [0, 20, 30, 40]


def test_a_file_that_compaction_has_replaced_since_it_was_planned(tmp_path: Path):
    directory = partition_directory(tmp_path)
    parts = [simple_batches(10, base_offset=base) for base in (0, 100, 200)]
    paths = [write_segment(directory, part) for part in parts]
    splits = plan(Selection((str(tmp_path),))).splits
    for path in paths[:2]:
        path.unlink()
    write_segment(directory, [*parts[0], *parts[1]])
    samples = [each for split in splits for each in sample_batches(split, 1, NO_LIMIT, OPTIONS)]
    assert [each.stored for each in samples] == [*parts[0], *parts[1], *parts[2]]


def test_runs_of_neighbours(tmp_path: Path):
    """A run is three batches; of 30, every second run is taken."""
    batches = simple_batches(30)
    size = len(batches[1]) - 61
    write_segment(partition_directory(tmp_path), batches)
    (split,) = plan(Selection((str(tmp_path),))).splits
    runs = list(sample_runs(split, 2, NO_LIMIT, OPTIONS, 2 * size + 1))
    bases = [[each.header.base_offset // 10 for each in run] for run in runs]
    assert bases == [[n, n + 1, n + 2] for n in range(0, 30, 6)]
    few = list(sample_runs(split, 2, 4 * len(batches[1]), OPTIONS, 2 * size + 1))
    assert [len(run) for run in few] == [3, 1]

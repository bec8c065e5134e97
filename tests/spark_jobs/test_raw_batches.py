"""Samples of batches, decompressed."""

from __future__ import annotations

from pathlib import Path

from pykbroker.offline import Selection, plan
from spark_jobs.raw_batches import sample_batches
from tests.offline.samples import partition_directory, simple_batches, write_segment

NO_LIMIT = 1 << 40


def test_samples(tmp_path: Path):
    plain = simple_batches(20)
    write_segment(partition_directory(tmp_path, "zstd"), simple_batches(20, codec=4))
    (split,) = plan(Selection(paths=(str(tmp_path),))).splits
    found = list(sample_batches(split, 1, NO_LIMIT, 1 << 20))
    assert [each.payload for each in found] == [each[61:] for each in plain]
    assert [each.header.codec for each in found] == [4] * 20
    thinned = list(sample_batches(split, 7, NO_LIMIT, 1 << 20))
    assert [each.header.base_offset for each in thinned] == [0, 70, 140]
    size = len(found[0].stored)
    few = list(sample_batches(split, 1, size + 1, 1 << 20))
    assert [each.header.base_offset for each in few] == [0, 10]

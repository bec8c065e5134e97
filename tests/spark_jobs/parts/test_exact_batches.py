"""Batches at the edges of a range describe only the records in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pykbroker.offline import BATCH_SCHEMA, CorruptSegment, ReadOptions, batches, open_log
from pykbroker.offline.planning import plan
from pykbroker.offline.split import Selection
from spark_jobs.parts.exact_batches import cut_batches
from tests.offline.samples import (
    BASE_MS,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)


def rows(root: Path, start: int, end: int, mode: str = "FAILFAST") -> list[dict[str, Any]]:
    planned = plan(Selection((str(root),), start_offsets=start, end_offsets=end))
    options = ReadOptions(mode=mode)
    found = [batch for split in planned.splits for batch in cut_batches(split, options)]
    rows: list[dict[str, Any]]
    rows = pa.Table.from_batches(found, schema=BATCH_SCHEMA).to_pylist()
    return rows


def test_the_edges_are_cut(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(5, codec=4))
    found = {row["base_offset"]: row for row in rows(tmp_path, 13, 38)}
    assert sorted(found) == [13, 20, 30]
    for base, last in ((13, 19), (20, 29), (30, 37)):
        row = found[base]
        assert (row["last_offset"], row["record_count"]) == (last, last - base + 1)
        assert (row["base_timestamp_ms"], row["max_timestamp_ms"]) == (
            BASE_MS + base,
            BASE_MS + last,
        )
    assert found[13]["size_bytes"] == batches(str(tmp_path))["size_bytes"][1].as_py()


def test_a_range_within_one_batch(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(2))
    (row,) = rows(tmp_path, 12, 14)
    assert (row["base_offset"], row["last_offset"], row["record_count"]) == (12, 13, 2)


@pytest.mark.parametrize("seed", range(6))
def test_as_many_as_are_read(tmp_path: Path, seed: int):
    written = odd_batches(seed)
    write_segment(partition_directory(tmp_path), written)
    offsets = open_log(str(tmp_path), columns=["offset"]).read_all()["offset"].to_pylist()
    start, end = offsets[len(offsets) // 3] + 1, offsets[2 * len(offsets) // 3]
    wanted = [offset for offset in offsets if start <= offset < end]
    found = [row for row in rows(tmp_path, start, end) if row["record_count"]]
    assert sum(row["record_count"] for row in found) == len(wanted)
    assert min(row["base_offset"] for row in found) >= start
    assert max(row["last_offset"] for row in found) < end


def test_an_edge_that_is_broken(tmp_path: Path):
    path = write_segment(partition_directory(tmp_path), simple_batches(3))
    payload = bytearray(path.read_bytes())
    payload[100] ^= 1
    path.write_bytes(payload)
    with pytest.raises(CorruptSegment):
        rows(tmp_path, 3, 30)
    assert [row["base_offset"] for row in rows(tmp_path, 3, 30, "PERMISSIVE")] == [10, 20]


def test_a_file_that_compaction_has_replaced_since_it_was_planned(tmp_path: Path):
    directory = partition_directory(tmp_path)
    parts = [simple_batches(10, base_offset=base) for base in (0, 100, 200)]
    paths = [write_segment(directory, part) for part in parts]
    planned = plan(Selection((str(tmp_path),), start_offsets=105, end_offsets=195))
    for path in paths[:2]:
        path.unlink()
    write_segment(directory, [*parts[0], *parts[1]])
    found = [batch for split in planned.splits for batch in cut_batches(split, ReadOptions())]
    rows = pa.Table.from_batches(found, schema=BATCH_SCHEMA)
    assert sum(rows["record_count"].to_pylist()) == 90
    assert sorted(rows["base_offset"].to_pylist()) == [105, *range(110, 200, 10)]

"""Splits: cut where a batch begins, and each record in exactly one."""

from __future__ import annotations

import itertools
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import (
    BadOption,
    OffsetsGone,
    ReadOptions,
    SegmentGone,
    Selection,
    open_log,
    pack_splits,
    plan,
    read_split,
)
from tests.offline.samples import (
    offsets_of,
    partition_directory,
    simple_batches,
    write_segment,
)

COUNT = 400


@pytest.mark.parametrize("seed", range(10))
def test_any_range_in_any_pieces(log: Path, seed: int):
    chance = random.Random(seed)
    low, high = sorted(chance.choices(range(COUNT + 1), k=2))
    chosen = Selection((str(log),), start_offsets=low, end_offsets=high)
    splits = plan(chosen, split_bytes=chance.choice([1, 6000, 20_000, 10**9])).splits
    assert offsets_of(splits) == list(range(low, high))
    for before, after in itertools.pairwise(splits):
        assert before.end_position == after.start_position
    if high - low < 20 and splits:
        assert sum(split.size_bytes for split in splits) < 60_000


def test_without_an_index_what_is_before_the_start_is_not_read(tmp_path: Path):
    """However the log is cut: damage there is nobody's."""
    batches = simple_batches(40)
    batches[3] = batches[3][:-1] + b"!"
    path = write_segment(partition_directory(tmp_path), batches)
    path.with_suffix(".index").unlink()
    for split_bytes in (1, 2000, 10**9):
        found = open_log(tmp_path, start_offsets=305, split_bytes=split_bytes).read_all()
        assert found["offset"].to_pylist() == list(range(305, 400))
    assert len(open_log(tmp_path, start_offsets=305, split_bytes=1).splits) == 10


def test_splits_travel(log: Path):
    planned = plan(Selection((str(log),)), split_bytes=50_000)
    assert pickle.loads(pickle.dumps(planned)) == planned
    options = ReadOptions(columns=("offset",))
    assert pickle.loads(pickle.dumps(options)) == options


def test_packing(log: Path):
    splits = plan(Selection((str(log),)), split_bytes=6000).splits
    total = sum(split.size_bytes for split in splits)
    tasks = pack_splits(splits, 50_000)
    assert [split for task in tasks for split in task] == splits
    assert all(sum(split.size_bytes for split in task) <= 50_000 for task in tasks)
    assert len(tasks) <= total // 50_000 + 2
    assert len(pack_splits(splits, 10**9)) == 1
    assert len(pack_splits(splits, 10**9, at_least=4)) >= 4
    assert pack_splits([], 10) == []


def test_tasks_end_together(log: Path):
    splits = plan(Selection((str(log),)), split_bytes=6000).splits
    total = sum(split.size_bytes for split in splits)
    for workers in (1, 2, 3):
        tasks = pack_splits(splits, total * 2 // 5, at_least=workers)
        assert [split for task in tasks for split in task] == splits
        assert len(tasks) % workers == 0
        sizes = [sum(split.size_bytes for split in task) for task in tasks]
        assert max(sizes) - min(sizes) <= 2 * max(split.size_bytes for split in splits)


def test_a_log_that_is_cut_after_planning_is_not_just_shorter(log: Path):
    splits = plan(Selection((str(log),))).splits
    path = log / "t-0" / f"{0:020d}.log"
    batches = simple_batches(40, size=480)
    path.write_bytes(b"".join(batches[:-1]))
    for decoder in ("numpy", "plain"):
        options = ReadOptions(columns=("offset",), decoder=decoder)
        with pytest.raises(SegmentGone, match="the log was truncated, it ends at 390 now"):
            list(read_split(splits[-1], options))


def test_ranges_that_run_backwards_are_refused(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(5))
    for start, end in ((7, 3), (400, -1)):
        bounds: dict[str, Any] = {"start_offsets": start, "end_offsets": end}
        with pytest.raises(OffsetsGone, match="is after the end offset"):
            open_log(str(tmp_path), fail_on_data_loss=False, **bounds)
    with pytest.raises(BadOption, match="start_offsets must be an offset"):
        open_log(str(tmp_path), start_offsets=True)

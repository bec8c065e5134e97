"""Splits: cut where a batch begins, whatever the indexes say, and each record in exactly one."""

from __future__ import annotations

import itertools
import pickle
import random
import struct
from pathlib import Path

import pytest

from pykbroker.offline import (
    BadOption,
    CorruptSegment,
    OffsetsGone,
    ReadOptions,
    SegmentGone,
    Selection,
    Split,
    UnknownTopic,
    log_ends,
    open_log,
    pack_splits,
    plan,
    planning,
    read_split,
)
from pykbroker.types import TopicPartition
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment

COUNT = 400


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """One segment of 40 batches of about 5 KB, and its directory's root."""
    write_segment(partition_directory(tmp_path), simple_batches(40, size=480))
    return tmp_path


def offsets_of(splits: list[Split]) -> list[int]:
    options = ReadOptions(columns=("offset",))
    return [
        offset
        for split in splits
        for batch in read_split(split, options)
        for offset in batch.column("offset").to_pylist()
    ]


def lying_indexes() -> dict[str, bytes | None]:
    right = [(n * 10 + 9, n * 4983) for n in range(1, 40, 2)]
    chance = random.Random(1)
    return {
        "missing": None,
        "empty": b"",
        "cut off": b"\x00\x00\x00",
        "zeros": bytes(800),
        "noise": chance.randbytes(801),
        "negative": struct.pack(">ii", -5, -5) * 10,
        "behind the end": struct.pack(">iiii", 9, 10**9, 19, 2 * 10**9),
        "not a batch": b"".join(struct.pack(">ii", n, at + 7) for n, at in right),
        "wrong offsets": b"".join(struct.pack(">ii", n - 200 + 399, at) for n, at in right),
        "descending": b"".join(struct.pack(">ii", n, at) for n, at in reversed(right)),
    }


@pytest.mark.parametrize("lie", lying_indexes())
def test_an_index_that_lies_loses_nothing(log: Path, lie: str):
    content = lying_indexes()[lie]
    index = log / "t-0" / f"{0:020d}.index"
    if content is None:
        index.unlink()
    else:
        index.write_bytes(content)
    splits = plan(Selection((str(log),)), split_bytes=20_000).splits
    assert offsets_of(splits) == list(range(COUNT))
    some = Selection((str(log),), start_offsets=123, end_offsets=277)
    assert offsets_of(plan(some, split_bytes=20_000).splits) == list(range(123, 277))


@pytest.mark.parametrize("lie", ["missing", "empty", "zeros", "noise", "descending"])
def test_a_time_index_that_is_visibly_wrong_loses_nothing(log: Path, lie: str):
    write_segment(log / "t-0", simple_batches(10, base_offset=400, size=480), 400)
    times = log / "t-0" / f"{0:020d}.timeindex"
    wrong: dict[str, bytes] = {
        "empty": b"",
        "zeros": bytes(240),
        "noise": random.Random(2).randbytes(240),
        "descending": struct.pack(">qiqi", BASE_MS + 10**9, 3, BASE_MS, 9),
    }
    if lie == "missing":
        times.unlink()
    else:
        times.write_bytes(wrong[lie])
    chosen = Selection((str(log),), start_timestamp_ms=BASE_MS + 350)
    assert offsets_of(plan(chosen).splits) == list(range(350, 500))


def test_a_time_index_that_was_not_finished(log: Path):
    """Killed before the segment was closed: entries for the last records are not there."""
    write_segment(log / "t-0", simple_batches(10, base_offset=400, size=480), 400)
    times = log / "t-0" / f"{0:020d}.timeindex"
    times.write_bytes(times.read_bytes()[:24])
    chosen = Selection((str(log),), start_timestamp_ms=BASE_MS + 350)
    assert offsets_of(plan(chosen).splits) == list(range(350, 500))


def test_a_damaged_time_hides_no_segment(log: Path):
    """The last batch of a closed segment seems to be old: its checksum does not fit."""
    write_segment(log / "t-0", simple_batches(10, base_offset=400, size=480), 400)
    times = log / "t-0" / f"{0:020d}.timeindex"
    times.write_bytes(times.read_bytes()[:-12])
    segment = log / "t-0" / f"{0:020d}.log"
    content = bytearray(segment.read_bytes())
    last = len(content) - len(simple_batches(40, size=480)[-1])
    content[last + 35 : last + 43] = bytes(8)
    segment.write_bytes(content)
    with pytest.raises(CorruptSegment, match="the checksum does not fit"):
        open_log(str(log), start_timestamp_ms=BASE_MS + 395).read_all()


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


def test_timestamps_out_of_order(tmp_path: Path):
    """A late record far behind: the time index may not hide it."""
    from pykbroker.protocol.record_batch import build_batch

    chance = random.Random(3)
    times = [BASE_MS + n + chance.choice([0, 0, -500, 900]) for n in range(600)]
    batches = [
        bytes(build_batch([(None, bytes(900), t, ()) for t in times[n : n + 5]], base_offset=n))
        for n in range(0, 600, 5)
    ]
    directory = partition_directory(tmp_path)
    write_segment(directory, batches[:60], 0)
    write_segment(directory, batches[60:], 300)
    for low in range(BASE_MS - 500, BASE_MS + 1500, 97):
        log = open_log(str(tmp_path), start_timestamp_ms=low, columns=["offset"])
        wanted = [n for n, time in enumerate(times) if time >= low]
        assert log.read_all()["offset"].to_pylist() == wanted


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


def test_an_index_with_shifted_offsets_does_not_end_the_reading_early(log: Path):
    index = log / "t-0" / f"{0:020d}.index"
    table = [(n + 150, at) for n, at in struct.iter_unpack(">ii", index.read_bytes())]
    index.write_bytes(b"".join(struct.pack(">ii", *entry) for entry in table))
    for end in (50, 100, 399):
        splits = plan(Selection((str(log),), end_offsets=end)).splits
        assert offsets_of(splits) == list(range(end))


def test_a_log_that_is_cut_after_planning_is_not_just_shorter(log: Path):
    splits = plan(Selection((str(log),))).splits
    path = log / "t-0" / f"{0:020d}.log"
    batches = simple_batches(40, size=480)
    path.write_bytes(b"".join(batches[:-1]))
    for decoder in ("numpy", "plain"):
        options = ReadOptions(columns=("offset",), decoder=decoder)
        with pytest.raises(SegmentGone, match="the log was truncated, it ends at 390 now"):
            list(read_split(splits[-1], options))


def test_files_that_compaction_takes_while_planning_are_listed_again(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    real = planning.freeze
    calls: list[object] = []

    def gone_at_first(files: object) -> object:
        calls.append(files)
        if len(calls) < 3:
            raise FileNotFoundError("0.log.deleted")
        return real(files)  # type: ignore[arg-type]

    monkeypatch.setattr(planning, "freeze", gone_at_first)
    assert len(plan(Selection((str(log),))).partitions) == 1
    assert len(calls) == 3


def test_ends_are_listed_again_and_what_never_stands_still_is_told(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    chosen = Selection((str(log),))
    expected = planning.log_ends(chosen)
    real = planning.freeze
    calls: list[object] = []

    def gone_at_first(files: object) -> object:
        calls.append(files)
        if len(calls) < 3:
            raise FileNotFoundError("0.log.deleted")
        return real(files)  # type: ignore[arg-type]

    def gone(files: object) -> object:
        raise FileNotFoundError("0.log.deleted")

    monkeypatch.setattr(planning, "freeze", gone_at_first)
    assert planning.log_ends(chosen) == expected
    monkeypatch.setattr(planning, "freeze", gone)
    with pytest.raises(OffsetsGone, match="faster than they can be listed"):
        plan(chosen)


def test_ranges_that_run_backwards_are_refused(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(5))
    for start, end in ((7, 3), (400, -1)):
        bounds = {"start_offsets": start, "end_offsets": end}
        with pytest.raises(OffsetsGone, match="is behind the end offset"):
            open_log(str(tmp_path), fail_on_data_loss=False, **bounds)
    with pytest.raises(BadOption, match="start_offsets must be an offset"):
        open_log(str(tmp_path), start_offsets=True)


def test_topics_of_people_may_begin_as_those_of_kafka(tmp_path: Path):
    for topic in ("__debezium-heartbeat.pg", "__consumer_offsets", "orders"):
        write_segment(partition_directory(tmp_path, topic), simple_batches(1))
    names = {each.topic for each in open_log(str(tmp_path)).partitions}
    assert names == {"__debezium-heartbeat.pg", "orders"}


def test_partitions_one_by_one(tmp_path: Path):
    for topic, partition in (("a", 0), ("a", 1), ("b", 0), ("__consumer_offsets", 3)):
        write_segment(partition_directory(tmp_path, topic, partition), simple_batches(1))
    paths = (str(tmp_path),)
    only = frozenset({TopicPartition("a", 1), TopicPartition("__consumer_offsets", 3)})
    assert log_ends(Selection(paths, only=only)) == dict.fromkeys(only, (0, 10))
    assert len(plan(Selection(paths, only=only)).splits) == 2
    for wrong in ({"only": only | {TopicPartition("b", 1)}}, {"start_offsets": {"b": {1: 0}}}):
        with pytest.raises(UnknownTopic, match="no partition b-1 in"):
            plan(Selection(paths, **wrong))


def test_an_index_that_cannot_be_read_only_makes_reading_slower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_segment(partition_directory(tmp_path), simple_batches(50, size=300))

    def refused(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("pykbroker.offline.segment_index.open_file", refused)
    log = open_log(str(tmp_path), start_offsets=300, start_timestamp_ms=BASE_MS + 320)
    assert log.read_all()["offset"].to_pylist() == list(range(320, 500))

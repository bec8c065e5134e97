"""Indexes, whatever they say, only make reading faster: no record is lost by one."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

from pykbroker.offline import (
    CorruptSegment,
    Selection,
    open_log,
    plan,
)
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import (
    BASE_MS,
    offsets_of,
    partition_directory,
    simple_batches,
    write_segment,
)

COUNT = 400


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
    with pytest.raises(CorruptSegment, match="the checksum does not match"):
        open_log(str(log), start_timestamp_ms=BASE_MS + 395).read_all()


def test_timestamps_out_of_order(tmp_path: Path):
    """A late record far behind: the time index may not hide it."""
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


def test_an_index_with_shifted_offsets_does_not_end_the_reading_early(log: Path):
    index = log / "t-0" / f"{0:020d}.index"
    table = [(n + 150, at) for n, at in struct.iter_unpack(">ii", index.read_bytes())]
    index.write_bytes(b"".join(struct.pack(">ii", *entry) for entry in table))
    for end in (50, 100, 399):
        splits = plan(Selection((str(log),), end_offsets=end)).splits
        assert offsets_of(splits) == list(range(end))


def test_an_index_that_cannot_be_read_only_makes_reading_slower(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_segment(partition_directory(tmp_path), simple_batches(50, size=300))

    def refused(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("pykbroker.offline.segment_index.open_file", refused)
    log = open_log(str(tmp_path), start_offsets=300, start_timestamp_ms=BASE_MS + 320)
    assert log.read_all()["offset"].to_pylist() == list(range(320, 500))


@pytest.mark.parametrize("with_index", [True, False])
@pytest.mark.parametrize("base", [39, 35, 31])
@pytest.mark.parametrize("split_bytes", [1, 10**9])
def test_a_damaged_offset_is_seen_however_the_log_is_cut(
    tmp_path: Path, base: int, with_index: bool, split_bytes: int
):
    """No checksum covers it: the batch before tells."""
    batches = simple_batches(8)
    path = write_segment(partition_directory(tmp_path), batches, index_every=1)
    batches[4] = base.to_bytes(8) + batches[4][8:]
    path.write_bytes(b"".join(batches))
    if not with_index:
        path.with_suffix(".index").unlink()
    for decoder in ("numpy", "plain"):
        with pytest.raises(CorruptSegment, match=f"base offset {base} after offset 39"):
            open_log(tmp_path, split_bytes=split_bytes, decoder=decoder).read_all()
        scan = open_log(
            tmp_path, split_bytes=split_bytes, decoder=decoder, mode="PERMISSIVE", columns="offset"
        )
        assert scan.read_all()["offset"].to_pylist() == [*range(40), *range(50, 80)]


@pytest.mark.parametrize("base", [15, 18, 19])
def test_an_entry_of_a_batch_whose_offset_is_damaged(tmp_path: Path, base: int):
    batches = simple_batches(4)
    path = write_segment(partition_directory(tmp_path), batches, index_every=1)
    path.write_bytes(b"".join([*batches[:2], base.to_bytes(8) + batches[2][8:], batches[3]]))
    with pytest.raises(CorruptSegment, match=f"base offset {base} after offset 19"):
        open_log(tmp_path, start_offsets=29).read_all()


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_a_pipe_in_place_of_an_index(log: Path, suffix: str):
    index = log / "t-0" / f"{0:020d}{suffix}"
    index.unlink()
    os.mkfifo(index)
    found = open_log(log, start_offsets=100, start_timestamp_ms=BASE_MS + 150, columns="offset")
    assert found.read_all()["offset"].to_pylist() == list(range(150, COUNT))

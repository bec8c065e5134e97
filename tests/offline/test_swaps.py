"""Directories in which compaction swaps segments: nothing is lost, nothing read twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import open_log, partition_listing
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.storage import Listing, list_directory
from pykbroker.offline.swaps import next_offset_of, with_swaps
from pykbroker.protocol.compression import GZIP, NONE
from tests.harness.old_messages import old_segment
from tests.offline.samples import partition_directory, simple_batches, write_segment

BATCHES = simple_batches(12)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three segments of 40 records each."""
    made = partition_directory(tmp_path)
    for start in (0, 4, 8):
        write_segment(made, BATCHES[start : start + 4], index_every=100)
    return made


def offsets(directory: Path) -> list[int]:
    table = open_log(str(directory.parent), columns=["offset"]).read_all()
    found: list[int] = table["offset"].to_pylist()
    return found


def swap_in(directory: Path, batches: list[bytes], base: int, suffix: str = ".swap") -> None:
    """What a round of compaction made of the segments from `base` on."""
    aside = directory.parent / "aside-0"
    aside.mkdir()
    for path in write_segment(aside, batches, base).parent.iterdir():
        os.rename(path, directory / (path.name + suffix))
    aside.rmdir()


def move_away(directory: Path, *bases: int) -> None:
    for base in bases:
        for path in directory.glob(f"{base:020d}.*"):
            if not path.name.endswith((".swap", ".cleaned")):
                os.rename(path, f"{path}.deleted")


@pytest.mark.parametrize("gone", [(), (0,), (0, 40)])
def test_a_swap_stands_for_what_it_replaces(directory: Path, gone: tuple[int, ...]):
    swap_in(directory, [BATCHES[1], BATCHES[6]], 0)
    move_away(directory, *gone)
    assert offsets(directory) == [*range(10, 20), *range(60, 70), *range(80, 120)]


def test_one_segment_under_its_swap_name(directory: Path):
    for path in directory.glob(f"{40:020d}.*"):
        os.rename(path, f"{path}.swap")
    assert offsets(directory) == list(range(120))


def test_a_swap_that_is_not_complete_replaces_nothing(directory: Path):
    swap_in(directory, [BATCHES[5]], 40)
    (directory / f"{0:020d}.log.cleaned").write_bytes(BATCHES[0])
    assert offsets(directory) == list(range(120))


def test_how_far_a_swap_reaches(tmp_path: Path):
    path = tmp_path / "s.log"
    path.write_bytes(b"")
    assert next_offset_of(str(path), 7) == 7
    path.write_bytes(BATCHES[0] + BATCHES[1] + BATCHES[2][:-1])
    assert next_offset_of(str(path), 0) == 20
    path.write_bytes(BATCHES[0] + bytes(100))
    assert next_offset_of(str(path), 0) == 10
    path.write_bytes(old_segment(1, GZIP, 0, 20))
    assert next_offset_of(str(path), 0) == 20
    path.write_bytes(old_segment(0, NONE, 0, 7) + simple_batches(1, base_offset=7)[0])
    assert next_offset_of(str(path), 0) == 17


def test_a_listing_that_saw_half_a_swap_is_made_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
):
    real = list_directory
    whole = real(str(directory))
    assert whole is not None
    merged = dict(whole.files)
    merged[f"{0:020d}.log"] = 12345  # already the merged one, and the second is still listed
    after = {name: size for name, size in merged.items() if not name.startswith(f"{40:020d}")}
    seen = [Listing(merged, [], []), Listing(after, [], [])]

    def changing(path: str) -> object:
        if path != str(directory):
            return real(path)
        return seen.pop(0) if len(seen) > 1 else seen[0]

    monkeypatch.setattr(partition_listing, "list_directory", changing)
    (files,) = read_partitions([str(directory.parent)])
    assert [segment.base_offset for segment in files.segments] == [0, 80]


def test_a_swap_that_ends_after_it_was_listed(directory: Path, monkeypatch: pytest.MonkeyPatch):
    for path in directory.glob(f"{40:020d}.*"):
        os.rename(path, f"{path}.swap")
    real = with_swaps

    def ends_first(*arguments: Any) -> Any:
        for path in directory.glob("*.swap"):
            os.rename(path, str(path).removesuffix(".swap"))
        return real(*arguments)

    monkeypatch.setattr(partition_listing, "with_swaps", ends_first)
    assert offsets(directory) == list(range(120))

"""Entries that are right and wrong, those of older brokers among them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from pykbroker.offline.index_checks import Batches, check_offset_index, check_time_index
from pykbroker.offline.partition_files import SegmentFiles

BASE = 1000
#: Three batches of 100 bytes and ten records; the second is the latest.
BATCHES = Batches(
    np.array([0, 100, 200]),
    np.array([1000, 1010, 1020]),
    np.array([1009, 1019, 1029]),
    np.array([50, 90, 70]),
)


def segment(root: Path, suffix: str, payload: bytes) -> SegmentFiles:
    path = root / f"{BASE:020d}{suffix}"
    path.write_bytes(payload)
    paths = {".index": None, ".timeindex": None} | {suffix: str(path)}
    log = str(path.with_suffix(".log"))
    return SegmentFiles(BASE, log, 300, paths[".index"], paths[".timeindex"], None)


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([(19, 100), (29, 200)], []),
        # Of a follower before 4.0, which appended the batches at 0 and 100 at once.
        ([(19, 0), (29, 200)], []),
        ([(9, 100)], ["entry 0: the batch at 100 does not hold offset 1009"]),
        ([(25, 100), (29, 200)], ["entry 0: the batch at 100 does not hold offset 1025"]),
        ([(30, 200)], ["entry 0: the batch at 200 does not hold offset 1030"]),
        ([(19, 101)], ["entry 0: no batch begins at 101"]),
        ([(29, 200), (19, 100)], ["entry 1: it does not ascend"]),
    ],
)
def test_offset_index(tmp_path: Path, entries: list[tuple[int, int]], expected: list[str]):
    payload = b"".join(struct.pack(">ii", *entry) for entry in entries)
    found = check_offset_index(segment(tmp_path, ".index", payload), BATCHES, is_last=False)
    assert [each.detail for each in found] == expected


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([(50, 9), (90, 19)], []),
        ([(90, 29)], []),
        ([(70, 29)], ["entry 0: 70, but the largest up to there is 90"]),
        ([(90, 40)], ["entry 0: no batch holds offset 1040"]),
        ([(90, 19), (50, 9)], ["entry 1: it does not ascend"]),
    ],
)
def test_time_index(tmp_path: Path, entries: list[tuple[int, int]], expected: list[str]):
    payload = b"".join(struct.pack(">qi", *entry) for entry in entries)
    found = check_time_index(segment(tmp_path, ".timeindex", payload), BATCHES, is_last=False)
    assert [each.detail for each in found] == expected


@pytest.mark.parametrize("is_last", [True, False])
def test_bytes_behind_the_last_entry(tmp_path: Path, is_last: bool):
    offsets = segment(tmp_path, ".index", struct.pack(">ii", 19, 100) + b"123")
    times = segment(tmp_path, ".timeindex", struct.pack(">qi", 90, 19) + b"1")
    found = [*check_offset_index(offsets, BATCHES, is_last)]
    found += check_time_index(times, BATCHES, is_last)
    expected = [] if is_last else [("WARNING", "index", 8), ("WARNING", "time index", 12)]
    assert [(each.severity.upper(), each.check, each.position) for each in found] == expected


def test_a_missing_index_of_a_closed_segment(tmp_path: Path):
    (found,) = check_offset_index(segment(tmp_path, ".timeindex", b""), BATCHES, is_last=False)
    assert (found.severity, found.detail) == ("warning", "there is no offset index")

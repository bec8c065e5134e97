"""Where records begin: in lock-step, by guesses, and by walking, always the same places."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pykbroker.offline.boundaries import find_records
from pykbroker.offline.varints import PADDING_BYTES, Doubt, words_of
from pykbroker.protocol.record_batch import encode_record


def batches_of(sizes: list[list[int]]) -> tuple[bytearray, np.ndarray, np.ndarray, list[int]]:
    """(area, starts, ends, positions of all records); sizes of the values of each batch."""
    area = bytearray(b"between")
    starts, ends, positions = [], [], []
    for batch in sizes:
        starts.append(len(area))
        for delta, size in enumerate(batch):
            positions.append(len(area))
            area += encode_record(delta, delta // 3, b"key", b"\x00\x02" * (size // 2))
        ends.append(len(area))
        area += b"gap"
    return area + bytes(PADDING_BYTES), np.array(starts), np.array(ends), positions


SHAPES = {
    "one record": [[3]],
    "even": [[100] * 50] * 60,
    "one big": [[90] * 5000],
    "few and big": [[70] * 2000, [900] * 700, [5] * 3000],
    "long beside short": [[10] * 4000, *[[10]] * 500],
    "records of 8 KiB and more": [[100, 9000, 50], [20_000] * 5, [8180, 8190, 8200] * 60],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_all_are_found(shape: str):
    sizes = SHAPES[shape]
    area, starts, ends, positions = batches_of(sizes)
    counts = np.array([len(batch) for batch in sizes])
    assert find_records(area, words_of(area), starts, ends, counts).positions.tolist() == positions


@pytest.mark.parametrize("seed", range(5))
def test_random_shapes(seed: int):
    chance = random.Random(seed)
    sizes = [
        [chance.choice([0, 4, 60, 700, 9000]) for _ in range(chance.choice([1, 3, 400]))]
        for _ in range(chance.choice([1, 5, 70]))
    ]
    area, starts, ends, positions = batches_of(sizes)
    counts = np.array([len(batch) for batch in sizes])
    assert find_records(area, words_of(area), starts, ends, counts).positions.tolist() == positions


@pytest.mark.parametrize("change", [-1, 1, 100])
def test_counts_that_lie_are_doubted(change: int):
    area, starts, ends, _ = batches_of([[100] * 300] * 3)
    counts = np.array([300, 300 + change, 300])
    with pytest.raises(Doubt):
        find_records(area, words_of(area), starts, ends, counts)


@pytest.mark.parametrize("shape", ["one record", "even", "one big"])
def test_broken_lengths_are_doubted(shape: str):
    area, starts, ends, positions = batches_of(SHAPES[shape])
    counts = np.array([len(batch) for batch in SHAPES[shape]])
    area[positions[len(positions) // 2]] ^= 0x40
    with pytest.raises(Doubt):
        find_records(area, words_of(area), starts, ends, counts)


def test_a_record_that_claims_to_go_beyond_the_area():
    area, starts, ends, positions = batches_of([[100] * 3])
    area[positions[2] : positions[2] + 2] = b"\xfe\x7f"
    with pytest.raises(Doubt):
        find_records(area, words_of(area), starts, ends, np.array([3]))

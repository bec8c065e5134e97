"""The varints in front of records are read as one alone would be."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pykbroker.offline.record_front import RecordFront
from pykbroker.offline.varints import MOST_SHORT, PADDING_BYTES, Doubt
from pykbroker.protocol.record import encode_varint, read_varint

EDGES = [0, -1, 1, 63, -64, 64, -65, 8191, -8192, 8192, -8193, 2**31 - 1, -(2**31)]
WIDE = [*EDGES, 2**63 - 1, -(2**63), 2**40]


def laid_out(rows: list[list[bytes]]) -> tuple[bytearray, np.ndarray]:
    """An area of rows, and where each begins."""
    area = bytearray()
    positions = []
    for row in rows:
        positions.append(len(area))
        area += b"".join(row)
    return area + bytes(PADDING_BYTES), np.array(positions)


@pytest.mark.parametrize("edges", [EDGES[:3], EDGES[:9], EDGES, WIDE])
@pytest.mark.parametrize("seed", range(3))
def test_one_behind_the_other(edges: list[int], seed: int):
    """Some are read, some stepped over, with single bytes between."""
    chance = random.Random(seed)
    rows = [[chance.choice(edges) for _ in range(6)] for _ in range(200)]
    area, positions = laid_out([[*map(encode_varint, row), b"!"] for row in rows])
    front = RecordFront(area, positions)
    for column in range(6):
        if chance.random() < 0.5:
            assert front.varint().tolist() == [row[column] for row in rows]
        else:
            front.skip_varint()
    behind = positions + [sum(len(encode_varint(value)) for value in row) for row in rows]
    assert front.at.tolist() == behind.tolist()
    assert {int(word) & 255 for word in front.words()} == {ord("!")}


def test_values_that_are_known_are_stepped_over():
    values = np.array([*range(0, MOST_SHORT + 1, 13), 63, 64, MOST_SHORT])
    rows = [[encode_varint(value), b"!"] for value in values.tolist()]
    area, positions = laid_out(rows)
    front = RecordFront(area, positions)
    assert front.skip_values(values)
    assert {int(word) & 255 for word in front.words()} == {ord("!")}
    assert front.at.tolist() == [at + len(row[0]) for at, row in zip(positions, rows, strict=True)]


@pytest.mark.parametrize(
    "there", [encode_varint(6), encode_varint(-7), encode_varint(71), b"\x8e\x00", b"\x8e\x80\x00"]
)
def test_other_values_are_not_stepped_over(there: bytes):
    area, positions = laid_out([[encode_varint(500)], [there]])
    front = RecordFront(area, positions)
    assert not front.skip_values(np.array([500, 7]))
    assert front.at.tolist() == positions.tolist()
    assert front.varint().tolist() == [500, read_varint(there, 0)[0]]


@pytest.mark.parametrize("width", [1, 2])
def test_bytes_are_stepped_over(width: int):
    rows = [[b"x" * width, encode_varint(n * 7)] for n in range(50)]
    front = RecordFront(*laid_out([5 * row for row in rows]))
    for _ in range(5):
        front.skip(width)
        assert front.varint().tolist() == [n * 7 for n in range(50)]


@pytest.mark.parametrize("raw", [b"\x80\x00", b"\xff\x80\x00", b"\x80\x80\x80\x80\x00"])
def test_more_bytes_than_it_takes(raw: bytes):
    front = RecordFront(*laid_out([[raw]]))
    value = front.varint()[0]
    assert (value, front.at[0]) == read_varint(raw, 0)


def test_more_than_64_bits_are_doubted():
    with pytest.raises(Doubt):
        RecordFront(*laid_out([[b"\xff" * 9, b"\x02"]])).varint()


def test_behind_the_end_of_the_area():
    with pytest.raises(IndexError):
        RecordFront(bytearray(8), np.array([2]))

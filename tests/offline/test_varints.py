"""Varints of many records at once decode as one alone does, or are doubted."""

from __future__ import annotations

import numpy as np
import pytest

from pykbroker.offline import varints
from pykbroker.protocol.record import encode_varint

EDGES = [0, -1, 1, 63, -64, 64, -65, 8191, -8192, 8192, -8193, 2**31 - 1, -(2**31)]


def area_of(values: list[int]) -> tuple[bytearray, np.ndarray]:
    area = bytearray()
    positions = []
    for value in values:
        positions.append(len(area))
        area += encode_varint(value)
    return area + bytes(varints.PADDING_BYTES), np.array(positions)


@pytest.mark.parametrize("values", [EDGES, [5, -3, 0], EDGES[:9]])
def test_lengths(values: list[int]):
    area, positions = area_of(values)
    decoded, widths = varints.decode(np.frombuffer(area, np.uint8), positions)
    assert decoded.tolist() == values
    expected = [len(encode_varint(value)) for value in values]
    assert (np.zeros(len(values), int) + widths).tolist() == expected


def test_a_length_beyond_32_bits_is_doubted():
    area, positions = area_of([2**31])
    with pytest.raises(varints.Doubt):
        varints.decode(np.frombuffer(area, np.uint8), positions)


def test_more_than_64_bits_are_doubted():
    area = bytearray(b"\xff" * 9 + b"\x02" + bytes(varints.PADDING_BYTES))
    with pytest.raises(varints.Doubt):
        varints.decode_long(np.frombuffer(area, np.uint8), np.array([0]))


def test_behind_the_end_of_the_area():
    area = bytearray(b"\xff" * 8)
    with pytest.raises(IndexError):
        varints.decode(np.frombuffer(area, np.uint8), np.array([8]))


def test_the_table_of_advances():
    for value in (0, 1, 63, 64, 8191):
        raw = encode_varint(value).ljust(2, b"\x07")
        word = int.from_bytes(raw[:2], "little")
        assert varints.ADVANCE[word] == value + len(encode_varint(value))
    for raw in (encode_varint(-1) + b"\x00", encode_varint(8192)[:2]):
        assert varints.ADVANCE[int.from_bytes(raw, "little")] == 0

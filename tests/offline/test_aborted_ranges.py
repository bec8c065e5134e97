"""Aborted transactions are found like by asking each of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pykbroker.offline.aborted_ranges import AbortedByOffset, AbortedByProducer
from pykbroker.offline.batch_headers import HEADER_DTYPE, header_at
from pykbroker.offline.split import AbortedRange


def some_ranges(chance: random.Random, count: int) -> list[AbortedRange]:
    """Of few producers, also some that overlap, in any order."""
    firsts = [chance.randrange(500) for _ in range(count)]
    return [
        AbortedRange(chance.choice([-1, 0, 3, 2**62]), first, first + chance.choice([0, 1, 7, 90]))
        for first in firsts
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 40])
@pytest.mark.parametrize("seed", range(5))
def test_batches(seed: int, count: int):
    chance = random.Random(seed)
    ranges = some_ranges(chance, count)
    table = np.zeros(300, HEADER_DTYPE)
    table["base_offset"] = [chance.randrange(-5, 620) for _ in range(300)]
    table["producer_id"] = [chance.choice([-1, 0, 1, 3, 2**62, 2**63 - 1]) for _ in range(300)]
    table["attributes"] = [chance.choice([0, 16, 16, 48]) for _ in range(300)]
    headers = [header_at(table, index) for index in range(300)]
    expected = [
        header.is_transactional
        and any(
            each.producer_id == header.producer_id
            and each.first_offset <= header.base_offset <= each.last_offset
            for each in ranges
        )
        for header in headers
    ]
    asked = AbortedByProducer(ranges)
    assert asked.of_table(table).tolist() == expected
    assert [asked.has(header) for header in headers] == expected


@pytest.mark.parametrize("seed", range(5))
def test_segments(seed: int):
    chance = random.Random(seed)
    ranges = some_ranges(chance, 40)
    asked = AbortedByOffset(ranges)
    for low in range(-10, 620, 7):
        behind = low + chance.choice([0, 1, 5, 200])
        found = asked.within(low, behind)
        expected = [
            each for each in ranges if each.last_offset >= low and each.first_offset < behind
        ]
        assert sorted(found) == sorted(expected)
    assert AbortedByOffset([]).within(0, 100) == ()

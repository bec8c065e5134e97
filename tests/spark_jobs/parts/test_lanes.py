"""Partitions dealt out to producers."""

from __future__ import annotations

from pykbroker.offline import Split
from spark_jobs.parts.lanes import Lane, shared


def lane(number: int, *sizes: int) -> Lane:
    splits = tuple(Split("f", "t", number, at, 0, size) for at, size in enumerate(sizes))
    return Lane("t", number, splits)


def test_the_largest_first_each_to_who_has_the_least():
    lanes = [lane(0, 10), lane(1, 50, 50), lane(2, 30, 30), lane(3, 70), lane(4, 10)]
    hands = shared(lanes, 2)
    assert [[each.partition for each in hand] for hand in hands] == [[1, 0, 4], [3, 2]]
    assert sorted(map(len, shared(lanes, 7))) == [0, 0, 1, 1, 1, 1, 1]

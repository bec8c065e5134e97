"""Where the records of each partition are in a Produce request, if nothing is unusual about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.broker.prepared.produce_entries import (
    MOST_PARTITIONS,
    fixed_entries,
    flexible_entries,
)
from tests.broker.prepared.test_produce import produce
from tests.replication.node import batch

FIRST_FLEXIBLE = 9
ANY = [(fixed_entries, 7), (flexible_entries, 9)]


def after_topic(frame: bytes) -> int:
    """Where the partitions begin: behind the name "t"."""
    return frame.index(b"t", frame.index(b"app") + 3) + 1


@pytest.mark.parametrize(("entries_of", "version"), ANY)
@pytest.mark.parametrize("count", [1, 2, MOST_PARTITIONS])
def test_the_records_of_each_partition(
    entries_of: Callable[..., Any], version: int, count: int
) -> None:
    frame = produce(version, *range(count))
    entries, behind = entries_of(frame, after_topic(frame), len(frame))
    assert [index for index, _, _ in entries] == [*range(count)]
    assert {frame[begin:stop] for _, begin, stop in entries} == {bytes(batch(b"value"))}
    assert frame[behind:] == (b"" if version < FIRST_FLEXIBLE else b"\0\0")


@pytest.mark.parametrize(("entries_of", "version"), ANY)
@pytest.mark.parametrize("count", [0, MOST_PARTITIONS + 1])
def test_none_and_very_many_are_left_to_the_decoder(
    entries_of: Callable[..., Any], version: int, count: int
) -> None:
    frame = produce(version, *range(count))
    assert entries_of(frame, after_topic(frame), len(frame)) is None


@pytest.mark.parametrize("entries_of", [fixed_entries, flexible_entries])
def test_cut_and_odd_entries_are_nothing(entries_of: Callable[..., Any]) -> None:
    for version in (7, 9):
        frame = produce(version, 0, 1)
        for end in range(len(frame)):
            for position in (0, 20, 27, 30, end):
                found = entries_of(frame[:end], position, end)
                if found is not None:
                    entries, behind = found
                    assert all(begin <= stop <= behind <= end for _, begin, stop in entries)

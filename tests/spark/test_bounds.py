"""Starts and ends of reads, and the JSON of offsets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.offline import OffsetsGone
from pykbroker.spark import OptionError
from pykbroker.spark.bounds import (
    Bound,
    by_topic,
    clamp,
    from_node,
    limited,
    parse_offsets,
    parse_partition_values,
    resolve,
    to_node,
)
from pykbroker.types import TopicPartition

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
ENDS = {A0: (0, 100), A1: (50, 60), B0: (7, 7)}


def never(partition: TopicPartition, timestamp_ms: int) -> int | None:
    raise AssertionError(f"no time was given: {partition} {timestamp_ms}")


def test_one_for_all() -> None:
    earliest = parse_offsets("startingOffsets", "Earliest")
    assert resolve(earliest, ENDS, never, False) == {A0: 0, A1: 50, B0: 7}
    latest = parse_offsets("endingOffsets", "latest")
    assert latest.is_latest
    assert resolve(latest, ENDS, never, False) == {A0: 100, A1: 60, B0: 7}


def test_an_error_names_all_that_is_allowed() -> None:
    allowed = (
        r'must be earliest, latest, or JSON such as \{"topicA":\{"0":23,"1":-1\}\}, not \'now\''
    )
    for option in ("startingOffsets", "endingOffsets"):
        with pytest.raises(OptionError, match=f"^option {option}: {allowed}$"):
            parse_offsets(option, "now")
    with pytest.raises(OptionError, match=r"^option startingOffsetsByTimestamp: must be JSON such"):
        parse_partition_values("startingOffsetsByTimestamp", "now")


def test_offsets_by_partition() -> None:
    bound = parse_offsets("startingOffsets", '{"a":{"0":5,"1":-2},"b":{"0":-1}}')
    assert resolve(bound, ENDS, never, False) == {A0: 5, A1: 50, B0: 7}


@pytest.mark.parametrize(
    "text, named", [('{"a":{"0":5}}', "a-1, b-0"), ('{"a":{"0":5,"1":5,"2":5},"b":{"0":1}}', "a-2")]
)
def test_all_partitions_must_be_named(text: str, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        resolve(parse_offsets("startingOffsets", text), ENDS, never, False)


def test_times_become_offsets() -> None:
    asked: list[tuple[TopicPartition, int]] = []

    def offset_at(partition: TopicPartition, timestamp_ms: int) -> int | None:
        asked.append((partition, timestamp_ms))
        return None if partition == A1 else 42

    bound = Bound("endingTimestamp", all_at=1000, is_time=True)
    assert resolve(bound, {A0: (0, 100), A1: (50, 60)}, offset_at, True) == {A0: 42, A1: 60}
    assert asked == [(A0, 1000), (A1, 1000)]
    with pytest.raises(OptionError, match="a-1"):
        resolve(bound, {A0: (0, 100), A1: (50, 60)}, offset_at, False)


def test_offsets_that_are_gone() -> None:
    assert clamp({A0: 100, A1: 50}, ENDS, "start", True) == {A0: 100, A1: 50}
    with pytest.raises(OffsetsGone, match="start offset 49 of a-1"):
        clamp({A1: 49}, ENDS, "start", True)
    with pytest.raises(OffsetsGone, match="end offset 101 of a-0"):
        clamp({A0: 101}, ENDS, "end", True)
    assert clamp({A0: 101, A1: 49}, ENDS, "end", False) == {A0: 100, A1: 50}


def test_equal_offsets_are_equal_text() -> None:
    node = to_node({B0: 1, A1: 2, A0: 3})
    assert json.dumps(node) == '{"a": {"0": 3, "1": 2}, "b": {"0": 1}}'
    assert from_node(json.loads(json.dumps(node))) == {A0: 3, A1: 2, B0: 1}
    assert by_topic({A0: 3, A1: 2, B0: 1}) == {"a": {0: 3, 1: 2}, "b": {0: 1}}


def test_a_limit_is_shared_by_backlog() -> None:
    start = {A0: 0, A1: 0, B0: 5}
    assert limited(start, {A0: 900, A1: 100, B0: 5}, 100) == {A0: 90, A1: 10, B0: 5}
    assert limited(start, {A0: 900, A1: 100, B0: 5}, 1000) == {A0: 900, A1: 100, B0: 5}
    # A small partition beside a large one does not starve.
    assert limited(start, {A0: 1_000_000, A1: 1, B0: 5}, 10) == {A0: 9, A1: 1, B0: 5}


@given(sizes=st.lists(st.integers(0, 10_000), min_size=1, max_size=8), limit=st.integers(1, 20_000))
def test_a_limit_always_ends(sizes: list[int], limit: int) -> None:
    start = {TopicPartition("t", n): n * 7 for n in range(len(sizes))}
    end = {each: start[each] + size for each, size in zip(start, sizes, strict=True)}
    steps = 0
    while start != end:
        nearer = limited(start, end, limit)
        taken = sum(nearer[each] - start[each] for each in end)
        assert 0 < taken <= limit + len(sizes)
        assert all(start[each] <= nearer[each] <= end[each] for each in end)
        start = nearer
        steps += 1
    assert steps <= sum(sizes) + 1

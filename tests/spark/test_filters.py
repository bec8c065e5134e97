"""Pushed-down filters: accepted ones exclude exactly the rows that SQL excludes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

from pykbroker.offline import KAFKA_COLUMNS
from pykbroker.offline.columns import MAX_MS
from pykbroker.spark.filters import Pushdown, keep_rows

COLUMNS = (*KAFKA_COLUMNS, "headers", "producer_id", "is_transactional", "codec")
ROWS = pa.RecordBatch.from_pydict(
    {
        "key": pa.array([b"a", b"b", None, b""], pa.binary()),
        "producer_id": pa.array([1, None, 3, 4], pa.int64()),
        "codec": pa.array(["none", "zstd", None, "lz4"], pa.string()),
    }
)


def push(*filters: Filter) -> tuple[Pushdown, list[Filter]]:
    pushed = Pushdown()
    return pushed, list(pushed.push(filters, COLUMNS))


def test_topics_and_partitions_choose_directories() -> None:
    pushed, left = push(
        IsNotNull(("topic",)),
        EqualTo(("topic",), "t"),
        IsNotNull(("partition",)),
        In(("partition",), (1, 2, None)),
        EqualTo(("partition",), 2),
    )
    assert left == []
    assert pushed.topics == frozenset({"t"})
    assert pushed.partitions == frozenset({2})
    assert pushed.rows == []


@pytest.mark.parametrize(
    "filters, low, high",
    [
        ([GreaterThan(("offset",), 5)], 6, None),
        ([GreaterThanOrEqual(("offset",), 5), LessThan(("offset",), 9)], 5, 9),
        ([LessThanOrEqual(("offset",), 9), LessThan(("offset",), 12)], None, 10),
        ([EqualTo(("offset",), 7)], 7, 8),
        ([EqualTo(("offset",), 7), EqualTo(("offset",), 9)], 9, 8),
    ],
)
def test_offsets_are_a_range(filters: list[Filter], low: int | None, high: int | None) -> None:
    pushed, left = push(*filters)
    assert left == []
    assert (pushed.low_offset, pushed.high_offset) == (low, high)
    assert pushed.rows == []


def test_chosen_offsets_narrow_and_are_looked_at_in_the_worker() -> None:
    chosen = In(("offset",), (5, 9))
    pushed, left = push(chosen)
    assert left == []
    assert (pushed.low_offset, pushed.high_offset) == (5, 10)
    assert pushed.rows == [chosen]


def at(microseconds: int, zone: timezone = UTC) -> datetime:
    moment = datetime(2023, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return moment.astimezone(zone)


BASE_MS = 1_672_531_200_000


@pytest.mark.parametrize(
    "each, low, high",
    [
        (GreaterThanOrEqual(("timestamp",), at(1000)), 1, None),
        (GreaterThanOrEqual(("timestamp",), at(1001)), 2, None),
        (GreaterThan(("timestamp",), at(1000)), 2, None),
        (LessThan(("timestamp",), at(1000)), None, 1),
        (LessThan(("timestamp",), at(1001)), None, 2),
        (LessThanOrEqual(("timestamp",), at(1000)), None, 2),
        (EqualTo(("timestamp",), at(1000, timezone(timedelta(hours=5)))), 1, 2),
    ],
)
def test_times_narrow_but_spark_looks_again(
    each: Filter, low: int | None, high: int | None
) -> None:
    pushed, left = push(each)
    assert left == [each]
    # Open ends: what microseconds cannot hold is null, and compares with nothing.
    assert pushed.start_timestamp_ms == (-MAX_MS if low is None else BASE_MS + low)
    assert pushed.end_timestamp_ms == (MAX_MS + 1 if high is None else BASE_MS + high)


def test_chosen_times_narrow_and_are_looked_at_in_the_worker() -> None:
    chosen = In(("timestamp",), (at(1000), at(3000, timezone(timedelta(hours=5)))))
    pushed, left = push(chosen, Not(EqualTo(("timestamp",), at(1000))))
    assert left == []
    assert (pushed.start_timestamp_ms, pushed.end_timestamp_ms) == (BASE_MS + 1, BASE_MS + 4)
    assert pushed.rows == [chosen, Not(EqualTo(("timestamp",), at(1000)))]


@pytest.mark.parametrize(
    "each, rows",
    [
        (EqualTo(("key",), b"a"), [0]),
        (EqualTo(("key",), bytearray(b"a")), [0]),
        (Not(EqualTo(("key",), b"a")), [1, 3]),
        (GreaterThan(("key",), b"a"), [1]),
        (LessThanOrEqual(("key",), b"a"), [0, 3]),
        (In(("key",), (b"a", b"", None)), [0, 3]),
        (Not(In(("key",), (b"a", b"zz"))), [1, 3]),
        (IsNull(("key",)), [2]),
        (Not(IsNull(("key",))), [0, 1, 3]),
        (IsNotNull(("key",)), [0, 1, 3]),
        (EqualNullSafe(("key",), None), [2]),
        (EqualNullSafe(("key",), b"b"), [1]),
        (Not(EqualNullSafe(("key",), b"b")), [0, 2, 3]),
        (GreaterThanOrEqual(("producer_id",), 3), [2, 3]),
        (Not(EqualTo(("producer_id",), 3)), [0, 3]),
        (StringStartsWith(("codec",), "z"), [1]),
        (StringEndsWith(("codec",), "4"), [3]),
        (Not(StringContains(("codec",), "n")), [1, 3]),
    ],
)
def test_rows_are_kept_as_sql_says(each: Filter, rows: list[int]) -> None:
    pushed, left = push(each)
    assert left == []
    assert keep_rows(ROWS, pushed.rows).to_pylist() == [ROWS.to_pylist()[row] for row in rows]


@pytest.mark.parametrize(
    "each",
    [
        EqualTo(("headers",), []),
        IsNull(("headers",)),
        EqualTo(("nosuch",), 1),
        EqualTo(("a", "b"), 1),
        EqualTo(("key",), None),
        EqualTo(("key",), "text"),
        EqualTo(("is_transactional",), 1),
        Not(In(("key",), (b"a", None))),
        StringContains(("key",), "text"),
        EqualTo(("producer_id",), True),
        In(("timestamp",), (datetime(2023, 1, 1),)),
        Not(EqualTo(("timestamp",), 5)),
    ],
)
def test_what_is_not_understood_goes_back_to_spark(each: Filter) -> None:
    pushed, left = push(each)
    assert left == [each]
    assert pushed == Pushdown()


def test_filters_follow_one_another() -> None:
    pushed, _ = push(IsNotNull(("key",)), GreaterThan(("producer_id",), 1))
    kept: Any = keep_rows(ROWS, pushed.rows)
    assert kept.column("producer_id").to_pylist() == [4]

"""The option `where`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
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

from pykbroker.offline import ALL_COLUMNS
from pykbroker.spark import OptionError
from pykbroker.spark.where import parse_where

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text, filters",
    [
        ("topic = 'a'", [EqualTo(("topic",), "a")]),
        ("TOPIC='it''s' AND Partition IN (1,-2)", [
            EqualTo(("topic",), "it's"), In(("partition",), (1, -2))
        ]),
        ("timestampType <> 1", [Not(EqualTo(("timestampType",), 1))]),
        ("offset between 5 and 9 and offset != 7", [
            GreaterThanOrEqual(("offset",), 5),
            LessThanOrEqual(("offset",), 9),
            Not(EqualTo(("offset",), 7)),
        ]),
        ("offset>5 and offset<9", [GreaterThan(("offset",), 5), LessThan(("offset",), 9)]),
        ("key = 'é' and value = X'00fF'", [
            EqualTo(("key",), "é".encode()), EqualTo(("value",), b"\x00\xff")
        ]),
        ("key is null and value is not null", [IsNull(("key",)), IsNotNull(("value",))]),
        ("key not in ('a', 'b')", [Not(In(("key",), (b"a", b"b")))]),
        ("key like 'u-%'", [StringStartsWith(("key",), b"u-")]),
        ("codec like '%4' and topic not like '%x%'", [
            StringEndsWith(("codec",), "4"), Not(StringContains(("topic",), "x"))
        ]),
        ("key like 'whole'", [EqualTo(("key",), b"whole")]),
        ("is_transactional = true", [EqualTo(("is_transactional",), True)]),
        ("timestamp >= '2024-05-01T12:00:00Z'", [GreaterThanOrEqual(("timestamp",), NOON)]),
        ("timestamp < '2024-05-01 12:00:00'", [LessThan(("timestamp",), NOON)]),
        ("timestamp = '2024-05-01T14:00:00+02:00'", [
            EqualTo(("timestamp",), NOON.astimezone(timezone(timedelta(hours=2))))
        ]),
        ("timestamp <> '2024-05-01T12:00Z'", [Not(EqualTo(("timestamp",), NOON))]),
        ("timestamp in ('2024-05-01T12:00Z')", [In(("timestamp",), (NOON,))]),
        ("timestamp is null", [IsNull(("timestamp",))]),
    ],
)  # fmt: skip
def test_conditions(text: str, filters: list[Filter]) -> None:
    assert list(parse_where(text)) == filters


@pytest.mark.parametrize("name", [name for name in ALL_COLUMNS if name != "headers"])
def test_every_column_takes_every_comparison(name: str) -> None:
    column = ALL_COLUMNS[name]
    value = "'2024-05-01'"
    if pa.types.is_integer(column):
        value = "7"
    elif pa.types.is_boolean(column):
        value = "true"
    for sign in ("=", "<>", "!=", "<", "<=", ">", ">="):
        assert len(parse_where(f"{name} {sign} {value}")) == 1
    for behind in (f"in ({value})", f"not in ({value})", "is null", "is not null"):
        assert len(parse_where(f"{name} {behind}")) == 1
    assert len(parse_where(f"{name} between {value} and {value}")) == 2


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "ends too early"),
        ("key", "ends too early"),
        ("nosuch = 1", "unknown column 'nosuch'"),
        ("headers is null", "unknown column 'headers'"),
        ("key = 1", "1 is not a value for key"),
        ("offset = 'x'", "'x' is not a value for offset"),
        ("offset = 1 or offset = 2", "expected 'and'"),
        ("offset = 1 offset", "expected 'and'"),
        ("offset in 5", "expected '\\('"),
        ("offset in (5", "ends too early|expected"),
        ("offset is 5", "expected 'null'"),
        ("key like 'a_c%'", "like accepts"),
        ("key like '%'", "like accepts"),
        ("timestamp > 'noon'", "not an ISO 8601"),
        ("timestamp <> 'noon'", "not an ISO 8601"),
        ("timestamp like '2024%'", "like applies to text, but timestamp is timestamp"),
        ("partition like '1%'", "like applies to text, but partition is int32"),
        ("offset not = 3", "not after offset"),
        ("offset not < 3", "not after offset"),
        ("offset not between 3 and 4", "not after offset"),
        ("offset = 1;", "cannot read ';'"),
        ("key = 'open", "cannot read"),
        ("key + 1", "cannot read"),
        ("producer_epoch = 99999999999999", "99999999999999 is not a value for producer_epoch"),
        ("offset in (1, 9223372036854775808)", "9223372036854775808 is not a value for offset"),
    ],
)
def test_what_is_no_condition(text: str, complaint: str) -> None:
    with pytest.raises(OptionError, match=complaint) as caught:
        parse_where(text)
    assert caught.value.name == "where"

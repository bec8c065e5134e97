"""Filters that Spark pushes down: what they exclude before reading, and what per row.

    topic = in, partition = in         directories             exact: Spark need not look again
    offset = < <= > >=                 segments, index         exact
    timestamp < <= > >= =, not null    time index, batches     exact but for times that no
                                                               timestamp can hold: Spark looks again
    most others, but of headers        in the worker, before rows travel to the JVM; exact

State   `Pushdown` is filled by `push`, and travels to the workers by pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
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

from pykbroker.offline import ALL_COLUMNS
from pykbroker.offline.columns import MAX_MS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
#: Never null in a row.
_PRESENT: Final = frozenset({"topic", "partition", "offset", "timestampType"})
_COMPARISONS: Final[dict[type[Filter], Callable[[Any, Any], Any]]] = {
    EqualTo: pc.equal,
    GreaterThan: pc.greater,
    GreaterThanOrEqual: pc.greater_equal,
    LessThan: pc.less,
    LessThanOrEqual: pc.less_equal,
}
_TEXTS: Final[dict[type[Filter], Callable[..., Any]]] = {
    StringStartsWith: pc.starts_with,
    StringEndsWith: pc.ends_with,
    StringContains: pc.match_substring,
}


@dataclass
class Pushdown:
    """What remains to be read after the filters of a query."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    low_offset: int | None = None
    #: Exclusive, like all ends.
    high_offset: int | None = None
    start_timestamp_ms: int | None = None
    end_timestamp_ms: int | None = None
    rows: list[Filter] = field(default_factory=list)

    @property
    def by_offset(self) -> bool:
        return self.low_offset is not None or self.high_offset is not None

    def push(self, filters: Iterable[Filter], columns: Sequence[str]) -> Iterator[Filter]:
        """Accept filters, as the result is iterated; yield those that Spark has to evaluate."""
        for each in filters:
            if not self._take(each, columns):
                yield each

    def _take(self, each: Filter, columns: Sequence[str]) -> bool:
        name = _column(each)
        if name is None or name not in columns:
            return False
        if name == "timestamp" and self._narrow_time(each):
            return False
        if isinstance(each, IsNotNull) and name in _PRESENT:
            return True
        if name == "topic" and (texts := _values(each, str)) is not None:
            self.topics = texts if self.topics is None else self.topics & texts
            return True
        if name == "partition" and (numbers := _values(each, int)) is not None:
            self.partitions = numbers if self.partitions is None else self.partitions & numbers
            return True
        if name == "offset" and self._narrow_offset(each):
            return True
        if _is_possible(each, name):
            self.rows.append(each)
            return True
        return False

    def _narrow_offset(self, each: Filter) -> bool:
        low, high = _range(each, lambda value: value)
        if isinstance(each, In) and (offsets := _values(each, int)):
            low, high = min(offsets), max(offsets) + 1
        if low is None and high is None:
            return False
        self.low_offset = _tighter(max, self.low_offset, low)
        self.high_offset = _tighter(min, self.high_offset, high)
        return not isinstance(each, In)

    def _narrow_time(self, each: Filter) -> bool:
        """Narrow the range of times; return whether that range is all that the filter says.

        Rows have whole milliseconds, literals microseconds: ms >= t iff ms >= ceil(t). Times that
        microseconds cannot hold are null, and no comparison with null is true.
        """
        low, high = -MAX_MS, MAX_MS + 1
        if not isinstance(each, IsNotNull):
            first, behind = _time_range(each)
            if first is None and behind is None:
                return False
            if first is not None:
                low = max(low, -(-first // 1000))
            if behind is not None:
                high = min(high, -(-behind // 1000))
        self.start_timestamp_ms = _tighter(max, self.start_timestamp_ms, low)
        self.end_timestamp_ms = _tighter(min, self.end_timestamp_ms, high)
        return not isinstance(each, In)


def _time_range(each: Filter) -> tuple[int | None, int | None]:
    """[low, high) in microseconds, None where it is open; both for what is no range of times."""
    if isinstance(each, In):
        times = [value for value in each.value if value is not None]
        if not times or not all(map(_is_moment, times)):
            return None, None
        return _microseconds(min(times)), _microseconds(max(times)) + 1
    return _range(each, _microseconds) if _is_moment(getattr(each, "value", None)) else (None, None)


def _is_moment(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _column(each: Filter) -> str | None:
    inner = each.child if isinstance(each, Not) else each
    path: tuple[str, ...] = getattr(inner, "attribute", ())
    return path[0] if len(path) == 1 else None


def _values(each: Filter, kind: type) -> frozenset[Any] | None:
    """The values that a column may have, when the filter is `=` or `in`."""
    if isinstance(each, EqualTo | EqualNullSafe):
        values: tuple[Any, ...] = (each.value,)
    elif isinstance(each, In):
        values = tuple(value for value in each.value if value is not None)
    else:
        return None
    return frozenset(values) if all(type(value) is kind for value in values) else None


def _range(each: Filter, number: Callable[[Any], int]) -> tuple[int | None, int | None]:
    """[low, high) in units of `number`, None where it is open; both for what is no range."""
    value = getattr(each, "value", None)
    if value is None or isinstance(each, In) or isinstance(value, bool):
        return None, None
    if not isinstance(value, int | datetime):
        return None, None
    if isinstance(each, EqualTo | EqualNullSafe):
        return number(value), number(value) + 1
    if isinstance(each, GreaterThan):
        return number(value) + 1, None
    if isinstance(each, GreaterThanOrEqual):
        return number(value), None
    if isinstance(each, LessThan):
        return None, number(value)
    if isinstance(each, LessThanOrEqual):
        return None, number(value) + 1
    return None, None


def _tighter(choose: Callable[[int, int], int], known: int | None, new: int | None) -> int | None:
    if known is None or new is None:
        return new if known is None else known
    return choose(known, new)


def _microseconds(value: datetime) -> int:
    return (value - _EPOCH) // _MICROSECOND


def _is_possible(each: Filter, name: str) -> bool:
    """Whether `mask` knows this filter on this column, with the meaning that SQL gives it."""
    kind = ALL_COLUMNS.get(name)
    if kind is None or pa.types.is_nested(kind):
        return False
    if isinstance(each, Not):
        # not in (..., null) is never true, and an error to push down by halves
        is_odd = isinstance(each.child, In) and None in each.child.value
        return not isinstance(each.child, Not) and not is_odd and _is_possible(each.child, name)
    if isinstance(each, IsNull | IsNotNull):
        return True
    if isinstance(each, EqualNullSafe) and each.value is None:
        return True
    if type(each) in _TEXTS:
        value = getattr(each, "value", None)
        if pa.types.is_binary(kind):
            return isinstance(value, bytes)
        return pa.types.is_string(kind) and isinstance(value, str)
    if isinstance(each, In):
        return all(value is None or _fits(value, kind) for value in each.value)
    is_comparison = type(each) in _COMPARISONS or isinstance(each, EqualNullSafe)
    return is_comparison and _fits(getattr(each, "value", None), kind)


def _fits(value: object, kind: Any) -> bool:
    if pa.types.is_binary(kind):
        return isinstance(value, bytes | bytearray)
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if pa.types.is_timestamp(kind):
        return _is_moment(value)
    if pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        return type(value) is int and -(1 << bits) <= value < 1 << bits
    return pa.types.is_string(kind) and isinstance(value, str)


def mask(each: Filter, column: Any) -> Any:
    """Return a boolean array over a column: true where SQL says true, false or null elsewhere."""
    if isinstance(each, Not):
        return pc.invert(mask(each.child, column))
    if isinstance(each, IsNull):
        return pc.is_null(column)
    if isinstance(each, IsNotNull):
        return pc.is_valid(column)
    value = getattr(each, "value", None)
    if isinstance(each, EqualNullSafe):
        if value is None:
            return pc.is_null(column)
        return pc.fill_null(pc.equal(column, _scalar(value, column.type)), False)
    if isinstance(each, In):
        chosen = [_plain(item) for item in each.value if item is not None]
        found = pc.is_in(column, value_set=pa.array(chosen, column.type))
        return pc.if_else(pc.is_valid(column), found, pa.scalar(None, pa.bool_()))
    if type(each) in _TEXTS:
        return _TEXTS[type(each)](column, pattern=value)
    return _COMPARISONS[type(each)](column, _scalar(value, column.type))


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def _scalar(value: Any, kind: Any) -> Any:
    return pa.scalar(_plain(value), kind)


def columns_of(filters: Iterable[Filter]) -> tuple[str, ...]:
    """The columns that filters look at."""
    names = (_column(each) for each in filters)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def keep_rows(batch: Any, filters: Sequence[Filter]) -> Any:
    """Return the rows of a record batch for which all filters are true."""
    for each in filters:
        if not batch.num_rows:
            break
        name = _column(each)
        batch = batch.filter(mask(each, batch.column(batch.schema.get_field_index(name))))
    return batch

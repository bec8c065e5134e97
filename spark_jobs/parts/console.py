"""An outcome for people, on a terminal: the first rows of its first table, and its summary.

Files keep numbers; here names ending in `_ms` are times (or durations, where they are small), and
so are `began` and `ended` (seconds); numbers of the summary have separators. Only the last column,
in which texts stand that one copies, may be wide.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from spark_jobs.parts import pictures
from spark_jobs.parts.results import Outcome, text_of

_SHOWN_ROWS: Final = 20
_SHOWN_WIDTH: Final = 40
#: 1973: milliseconds above are a time, below a duration.
_FIRST_TIME_MS: Final = 100_000_000_000
_MOMENTS: Final = frozenset({"began", "ended"})


def as_text(outcome: Outcome) -> str:
    """Lines without a newline at the end."""
    parts = []
    for table in list(outcome.tables.values())[:1]:
        parts.append(_aligned(table))
    parts += [f"{name}: {_summed(name, value)}" for name, value in outcome.summary.items()]
    return "\n".join(part for part in parts if part)


def _summed(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and not name.endswith("_ms"):
        return f"{value:,}"
    return _shown(name, value)


def _aligned(table: pa.Table) -> str:
    if not table.num_rows:
        return ""
    rows = [table.column_names]
    rows += [_cells(row) for row in table[:_SHOWN_ROWS].to_pylist()]
    widths = [max(len(row[at]) for row in rows) for at in range(table.num_columns)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if table.num_rows > _SHOWN_ROWS:
        lines.append(f"... {table.num_rows:,} rows")
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    *texts, last = (_shown(name, value) for name, value in row.items())
    return [*(pictures.cut(text, _SHOWN_WIDTH) for text in texts), last]


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name in _MOMENTS:
            return _time(value * 1000)
        if name.endswith("_ms"):
            return _time(value) if value >= _FIRST_TIME_MS else pictures.duration(value)
    return f"{value:,.3f}" if isinstance(value, float) else str(value)


def _time(value_ms: float) -> str:
    if not pictures.has_date(int(value_ms)):
        return str(value_ms)
    at = datetime.datetime.fromtimestamp(value_ms / 1000, datetime.UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"

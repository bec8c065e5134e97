"""An outcome for people, on a terminal: the first rows of its first table, its summary, its notes.

Where a table with topics has too many rows, each topic has its first ones shown, if there is room.

Files keep numbers under stable names; here names are words (labels.py). Those ending in `_ms` are
times (or durations, where they are small), and so are `began` and `ended` (seconds); those ending
in `_share` are percentages; numbers of the summary have separators. A column that repeats one in
`_ms` as a timestamp is left out. Only the last column, which has texts to copy, may be wide.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from spark_jobs.parts import pictures
from spark_jobs.parts.labels import label
from spark_jobs.parts.results import Outcome, text_of

_SHOWN_ROWS: Final = 20
_SHOWN_WIDTH: Final = 40
#: 1973: milliseconds above are a time, below a duration.
_FIRST_TIME_MS: Final = 100_000_000_000
_MOMENTS: Final = frozenset({"began", "ended"})


def as_text(outcome: Outcome) -> str:
    """Return lines without a newline at the end."""
    parts = []
    for table in list(outcome.tables.values())[:1]:
        parts.append(_aligned(table))
    parts += [f"{label(name)}: {_summed(name, value)}" for name, value in outcome.summary.items()]
    return "\n".join(part for part in [*parts, *outcome.notes] if part)


def _summed(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and not name.endswith("_ms"):
        return f"{value:,}"
    return _shown(name, value)


def _aligned(table: pa.Table) -> str:
    if not table.num_rows:
        return ""
    shown, which = _some_rows(table)
    names = set(table.column_names)
    shown = shown.select([name for name in shown.column_names if f"{name}_ms" not in names])
    rows = [list(map(label, shown.column_names))]
    rows += [_cells(row) for row in shown.to_pylist()]
    widths = [max(len(row[at]) for row in rows) for at in range(shown.num_columns)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if shown.num_rows < table.num_rows:
        lines.append(f"... {table.num_rows:,} rows{which}")
    return "\n".join(lines)


def _some_rows(table: pa.Table) -> tuple[pa.Table, str]:
    """Return the rows to print, and in words which ones of each topic they are."""
    if table.num_rows <= _SHOWN_ROWS or "topic" not in table.column_names:
        return table[:_SHOWN_ROWS], ""
    topics = table["topic"].to_pylist()
    each = max(1, _SHOWN_ROWS // len(set(topics)))
    seen: Counter[str] = Counter()
    chosen: list[int] = []
    for place, topic in enumerate(topics):
        seen[topic] += 1
        if seen[topic] <= each and len(chosen) < _SHOWN_ROWS:
            chosen.append(place)
    few = len({topics[place] for place in chosen})
    if len(seen) == 1:
        return table.take(chosen), ""
    which = f", the first {each} of each topic" if each > 1 else ", the first of each topic"
    if few < len(seen):
        which = f", the first of {few} of {len(seen)} topics"
    return table.take(chosen), which


def _cells(row: Mapping[str, Any]) -> list[str]:
    *texts, last = (_shown(name, value) for name, value in row.items())
    return [*(pictures.cut(text, _SHOWN_WIDTH) for text in texts), last]


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, int | float):
        if name in _MOMENTS:
            return _time(value * 1000)
        if name.endswith("_share") or name == "share":
            return f"{value:.2%}"
        if name.endswith("_ms"):
            return _time(value) if value >= _FIRST_TIME_MS else pictures.duration(value)
    return f"{value:,.3f}" if isinstance(value, float) else str(value)


def _time(value_ms: float) -> str:
    if not pictures.has_date(int(value_ms)):
        return str(value_ms)
    at = datetime.datetime.fromtimestamp(value_ms / 1000, datetime.UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"

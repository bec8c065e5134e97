"""What a job found: tables, a summary, and how both are written.

    OUT/summary.json       `job`, its files of `tables`; numbers and texts, one level deep
    OUT/<table>.parquet    or .json (one object a line)
    OUT/<job>.png          the picture

OUT is a directory of this machine or a pyarrow.fs URI; files appear whole.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pykbroker.spark.target import Target

PARQUET: Final = "parquet"
JSON: Final = "json"
FORMATS: Final = (PARQUET, JSON)
SUMMARY: Final = "summary.json"
_SHOWN_ROWS: Final = 20
_SHOWN_WIDTH: Final = 40


@dataclass
class Outcome:
    """Tables by name (the first is the one that is shown), a summary, and the exit code."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int = 0


def rows_table(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=schema)


def clear_outcome(out: str) -> None:
    """Delete the result that `out` holds, of whatever job: what its summary names."""
    target = Target(out)
    there = target.names()
    if SUMMARY not in there:
        return
    for name in set(there).intersection(_named(target.read(SUMMARY))):
        target.delete(name)
    target.delete(SUMMARY)  # the last one: it tells what there is to delete


def _named(summary: bytes) -> list[str]:
    """Tables and picture of a summary; none of a file that is no summary."""
    try:
        match json.loads(summary):
            case {"job": str(job), "tables": [*tables]}:
                return [*filter(_is_text, tables), f"{job}.png"]
    except ValueError:
        pass
    return []


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def write_outcome(outcome: Outcome, out: str, table_format: str, job: str) -> list[str]:
    """Write tables and summary of `job` into `out`; the names of the files."""
    target = Target(out)
    written = []
    for table_name, table in outcome.tables.items():
        written.append(f"{table_name}.{table_format}")
        encode = _as_parquet if table_format == PARQUET else _as_json_lines
        target.write(written[-1], encode(table))
    whole = {"job": job, "tables": written} | outcome.summary
    summary = json.dumps(whole, indent=2, default=_json_value)
    target.write(SUMMARY, summary.encode() + b"\n")
    return [*written, SUMMARY]


def _as_parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _as_json_lines(table: pa.Table) -> bytes:
    lines = (json.dumps(row, default=_json_value) for row in table.to_pylist())
    return "".join(f"{line}\n" for line in lines).encode()


def _json_value(value: Any) -> Any:
    """What JSON has no form for: bytes as text (else base64), times as ISO 8601."""
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def text_of(value: bytes | None) -> str:
    """Bytes for people: the text, or `base64:...`; null as `(null)`."""
    if value is None:
        return "(null)"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode()
    return text if text.isprintable() else "base64:" + base64.b64encode(value).decode()


def as_text(outcome: Outcome) -> str:
    """The first rows of the first table, and the summary, for a terminal."""
    parts = []
    for table in list(outcome.tables.values())[:1]:
        parts.append(_aligned(table))
    parts += [f"{name}: {_shown(value)}" for name, value in outcome.summary.items()]
    return "\n".join(part for part in parts if part)


def _aligned(table: pa.Table) -> str:
    rows = [table.column_names]
    rows += [[_cell(value) for value in row.values()] for row in table[:_SHOWN_ROWS].to_pylist()]
    widths = [max(len(row[at]) for row in rows) for at in range(table.num_columns)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if table.num_rows > _SHOWN_ROWS:
        lines.append(f"... {table.num_rows} rows")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    """A value in a column of the table, which must not become too wide."""
    text = _shown(value)
    return text if len(text) <= _SHOWN_WIDTH else text[: _SHOWN_WIDTH - 1] + "…"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, bytes):
        value = text_of(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return str(value)

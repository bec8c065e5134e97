"""What a job found: tables, a summary, notes, and how they are written.

    OUT/summary.json       `job`, its files of `tables`, and what the job says in a few values
    OUT/<table>.parquet    or .json (one object a line)
    OUT/<job>.png          the picture

A key of the summary with a unit ends in it (`_ms`, `_share`, `records_per_second`). Notes are
sentences for people, and only shown. OUT is a directory of this machine or a pyarrow.fs URI; files
appear whole.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pykbroker.spark.target import Target

PARQUET: Final = "parquet"
JSON: Final = "json"
FORMATS: Final = (PARQUET, JSON)
SUMMARY: Final = "summary.json"


@dataclass
class Outcome:
    """Tables by name (the first is the one that is shown), a summary, the exit code, notes."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int = 0
    notes: list[str] = field(default_factory=list)


def rows_table(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as an Arrow table."""
    return pa.Table.from_pylist(list(rows), schema=schema)


@contextmanager
def nothing_empty_left(out: str) -> Iterator[None]:
    """Remove a directory that was created in this block, if it remains without files."""
    target = Target(out)
    was_there = target.is_there()
    try:
        yield
    finally:
        if not was_there:
            target.delete_if_empty()


def clear_outcome(out: str) -> None:
    """Delete the result that `out` holds, of whatever job: its summary, and what that names."""
    target = Target(out)
    there = target.names()
    if SUMMARY not in there:
        return
    for name in set(there).intersection(_named(target.read(SUMMARY))):
        target.delete(name)
    target.delete(SUMMARY)  # the last one: it tells what there is to delete


def _named(summary: bytes) -> list[str]:
    """Return tables and picture of a summary; none for a file that is not a summary."""
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
    """Write tables and summary of `job` into `out`; return the names of the files.

    If one of them cannot be written, the others are deleted again.
    """
    target = Target(out)
    tables = {f"{name}.{table_format}": table for name, table in outcome.tables.items()}
    encode = _as_parquet if table_format == PARQUET else _as_json_lines
    whole = {"job": job, "tables": list(tables)} | outcome.summary
    summary = json.dumps(whole, indent=2, default=_json_value)
    written: list[str] = []
    try:
        for name, table in tables.items():
            target.write(name, encode(table))
            written.append(name)
        target.write(SUMMARY, summary.encode() + b"\n")
    except BaseException:
        for name in written:
            with suppress(OSError):  # what went wrong first is told
                target.delete(name)
        raise
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
    """Return bytes as readable text, or `base64:...`; null as `(null)`."""
    if value is None:
        return "(null)"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode()
    return text if text.isprintable() else "base64:" + base64.b64encode(value).decode()

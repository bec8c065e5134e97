"""The findings of a check of log directories, each a Finding or a row of FINDING_SCHEMA.

error     a file is unreadable or damaged, or contradicts itself or another
warning   what a broker repairs
note      no fault in itself, often normal in a log that is compacted or being written to
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pykbroker.values import NamedTuple

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"


class Finding(NamedTuple):
    """One finding; `position` is in the file at `path`, `offset` in the log."""

    severity: str
    check: str
    path: str
    position: int | None
    offset: int | None
    detail: str


FINDING_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("severity", pa.string()),
        ("check", pa.string()),
        ("path", pa.string()),
        ("position", pa.int64()),
        ("offset", pa.int64()),
        ("detail", pa.string()),
    ]
)

"""The findings of a check of log directories: one Finding, or row of FINDING_SCHEMA, per fault.

error     a reader or a broker would serve something wrong, or stop
warning   a broker would repair it
note      normal in a log that is compacted or being written to
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pykbroker.values import NamedTuple

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"


class Finding(NamedTuple):
    """One fault; `position` is in the file at `path`."""

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

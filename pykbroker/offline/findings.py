"""What a check of log directories finds: one Finding, or row of FINDING_SCHEMA, a fault.

error     a reader or a broker would serve something wrong, or stop
warning   a broker would mend it
note      right in a log that is compacted, or written to at this moment
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pyarrow as pa

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"


class Finding(NamedTuple):
    """Something that is not as it should be; `position` is in the file at `path`."""

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

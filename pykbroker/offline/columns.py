"""The columns of a record table: names, types, and which parts of a record each needs.

    key value topic partition offset timestamp timestampType headers   as in Spark's Kafka source
    batch_base_offset ... timestamp_ms                                 location and encoding of a
    record

All columns are nullable in the schema. `timestamp` is in UTC with microseconds; a timestamp out of
their range is null there, but present in `timestamp_ms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa

from pykbroker.offline.faults import UnknownColumn

TIMESTAMP_TYPE: Final = pa.timestamp("us", tz="UTC")
#: The largest time in ms, either side of 1970, that its microseconds can hold; others are null.
MAX_MS: Final = (2**63 - 1) // 1000
HEADER_FIELDS: Final = [pa.field("key", pa.string()), pa.field("value", pa.binary())]
HEADERS_TYPE: Final = pa.list_(pa.field("element", pa.struct(HEADER_FIELDS)))

#: Every column there is, in the order of Spark's Kafka source, then the others.
ALL_COLUMNS: Final[dict[str, Any]] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TIMESTAMP_TYPE,
    "timestampType": pa.int32(),
    "headers": HEADERS_TYPE,
    "batch_base_offset": pa.int64(),
    "batch_position": pa.int64(),
    "segment_base_offset": pa.int64(),
    "batch_size": pa.int32(),
    "codec": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int32(),
    "base_sequence": pa.int32(),
    "leader_epoch": pa.int32(),
    "is_transactional": pa.bool_(),
    "is_control": pa.bool_(),
    "key_size": pa.int32(),
    "value_size": pa.int32(),
    "timestamp_ms": pa.int64(),
}

KAFKA_COLUMNS: Final = (
    "key",
    "value",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestampType",
)

#: Columns that need each record's own bytes to be looked at, and how far into them.
TIME_COLUMNS: Final = frozenset({"timestamp", "timestamp_ms"})
FIELD_COLUMNS: Final = frozenset({"key", "value", "key_size", "value_size", "headers"})


def schema_of(columns: Iterable[str]) -> Any:
    """Return the Arrow schema of these columns; raises UnknownColumn for the first that does not
    exist, for duplicates, and without columns.
    """
    names = tuple(columns)
    for name in names:
        if name not in ALL_COLUMNS:
            raise UnknownColumn(
                f"unknown column {name!r}; the columns are {', '.join(ALL_COLUMNS)}"
            )
    if not names or len(set(names)) < len(names):
        raise UnknownColumn(
            f"columns must be named without duplicates: {', '.join(names) or 'none'}"
        )
    return pa.schema([(name, ALL_COLUMNS[name]) for name in names])

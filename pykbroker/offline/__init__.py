"""Log directories of Kafka as tables: read in place, without a broker, at memory speed.

    from pykbroker.offline import open_log
    open_log("/var/kafka-logs", "orders").to_pandas()

See docs/analytics.md. Needs numpy and pyarrow (`pip install pykbroker[offline]`).

    open_log                 topics -> Arrow                              reader.py
    plan, read_split         the same in two steps, for clusters          planning.py, split.py
    log_ends                 how far the logs reach right now             planning.py
"""

from __future__ import annotations

from pykbroker.offline.columns import ALL_COLUMNS, KAFKA_COLUMNS, schema_of
from pykbroker.offline.faults import (
    CorruptSegment,
    NotALogDirectory,
    OfflineError,
    OffsetsGone,
    UnknownColumn,
    UnknownTopic,
)
from pykbroker.offline.planning import Plan, PlannedPartition, log_ends, pack_splits, plan
from pykbroker.offline.reader import LogScan, open_log, read_split
from pykbroker.offline.split import (
    CORRUPTION_SCHEMA,
    Corruption,
    ReadOptions,
    Selection,
    Split,
    corruption_table,
)

__all__ = [
    "ALL_COLUMNS",
    "CORRUPTION_SCHEMA",
    "KAFKA_COLUMNS",
    "CorruptSegment",
    "Corruption",
    "LogScan",
    "NotALogDirectory",
    "OfflineError",
    "OffsetsGone",
    "Plan",
    "PlannedPartition",
    "ReadOptions",
    "Selection",
    "Split",
    "UnknownColumn",
    "UnknownTopic",
    "corruption_table",
    "log_ends",
    "open_log",
    "pack_splits",
    "plan",
    "read_split",
    "schema_of",
]

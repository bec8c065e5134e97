"""Reads Kafka log directories as tables, in place and without a broker.

    from pykbroker.offline import open_log
    open_log("/var/kafka-logs", "orders").to_pandas()

See docs/analytics.md. Needs numpy and pyarrow (`pip install numpy pyarrow`).

    open_log                 topics -> Arrow                              reader.py
    plan, read_split         the same in two steps, for clusters          planning.py, split.py
    batches                  from headers                                 batch_view.py
    segments                 from headers and indexes                     segment_view.py
    transactions             from headers and markers                     transaction_view.py
    consumer_offsets, transaction_state, cluster_metadata                internal_topics.py
    fsck                     inconsistencies                            fsck.py
    create_snapshot          takes a snapshot of a live log             snapshot.py
    log_ends                 the current first and end offsets          planning.py
"""

from __future__ import annotations

from pykbroker.offline.batch_view import BATCH_SCHEMA, batches, scan_batches
from pykbroker.offline.columns import ALL_COLUMNS, KAFKA_COLUMNS, schema_of
from pykbroker.offline.faults import (
    BadOption,
    CorruptSegment,
    NotALogDirectory,
    OfflineError,
    OffsetsGone,
    SegmentGone,
    UnknownColumn,
    UnknownTopic,
)
from pykbroker.offline.findings import FINDING_SCHEMA
from pykbroker.offline.fsck import fsck
from pykbroker.offline.internal_topics import (
    CLUSTER_METADATA_SCHEMA,
    CONSUMER_OFFSETS_SCHEMA,
    TRANSACTION_STATE_SCHEMA,
    cluster_metadata,
    consumer_offsets,
    records_of,
    transaction_state,
)
from pykbroker.offline.planning import Plan, PlannedPartition, log_ends, pack_splits, plan
from pykbroker.offline.reader import LogScan, open_log, read_split
from pykbroker.offline.segment_view import SEGMENT_SCHEMA, segments
from pykbroker.offline.snapshot import SnapshotReport, create_snapshot
from pykbroker.offline.split import (
    CORRUPTION_SCHEMA,
    Corruption,
    ReadOptions,
    Selection,
    Split,
    corruption_table,
)
from pykbroker.offline.transaction_view import TRANSACTION_SCHEMA, transactions

__all__ = [
    "ALL_COLUMNS",
    "BATCH_SCHEMA",
    "CLUSTER_METADATA_SCHEMA",
    "CONSUMER_OFFSETS_SCHEMA",
    "CORRUPTION_SCHEMA",
    "FINDING_SCHEMA",
    "KAFKA_COLUMNS",
    "SEGMENT_SCHEMA",
    "TRANSACTION_SCHEMA",
    "TRANSACTION_STATE_SCHEMA",
    "BadOption",
    "CorruptSegment",
    "Corruption",
    "LogScan",
    "NotALogDirectory",
    "OfflineError",
    "OffsetsGone",
    "Plan",
    "PlannedPartition",
    "ReadOptions",
    "SegmentGone",
    "Selection",
    "SnapshotReport",
    "Split",
    "UnknownColumn",
    "UnknownTopic",
    "batches",
    "cluster_metadata",
    "consumer_offsets",
    "corruption_table",
    "create_snapshot",
    "fsck",
    "log_ends",
    "open_log",
    "pack_splits",
    "plan",
    "read_split",
    "records_of",
    "scan_batches",
    "schema_of",
    "segments",
    "transaction_state",
    "transactions",
]

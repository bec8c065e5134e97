"""Broker keys: the log (directories, segments, retention, compaction, idempotent producers)."""

from __future__ import annotations

import sys
from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    HIGH,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    LOW,
    PER_BROKER,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, between, list_of, one_of

KEYS: Final = (
    Key("log.dir", LIST, ("/tmp/kafka-logs",), list_of(empty=False), HIGH).honoured(
        "The directory of the data, when log.dirs is not set."
    ),
    Key("log.dirs", LIST, None, list_of(empty=False), HIGH).honoured(
        "Directories of the data, comma separated."
    ),
    Key("cordoned.log.dirs", LIST, (), list_of(), mode=PER_BROKER).refused(
        "Directories in which no new partition is placed.", "cordoned directories are not built yet"
    ),
    Key("log.dir.failure.timeout.ms", LONG, 30000, at_least(1), LOW).accepted(
        "How long a broker that cannot report a failed directory keeps running before it stops.",
        "every heartbeat reports a failed directory until the controller knows of it",
    ),
    Key("num.recovery.threads.per.data.dir", INT, 2, at_least(1), HIGH, CLUSTER_WIDE).honoured(
        "Worker processes per data directory that recover logs with much unsynced data at start."
    ),
    Key("log.segment.bytes", INT, 1073741824, at_least(1048576), HIGH, CLUSTER_WIDE).honoured(
        "A segment is closed when it has grown to this size (topic key segment.bytes)."
    ),
    Key("log.roll.ms", LONG, None, importance=HIGH, mode=CLUSTER_WIDE).honoured(
        "A segment is closed when its first record is this old (topic key segment.ms)."
    ),
    Key("log.roll.hours", INT, 168, at_least(1), HIGH).honoured(
        "log.roll.ms in hours; used when log.roll.ms is not set."
    ),
    Key("log.roll.jitter.ms", LONG, None, importance=HIGH, mode=CLUSTER_WIDE).honoured(
        "At most this much is taken off log.roll.ms, at random, so that segments do not"
        " roll together."
    ),
    Key("log.roll.jitter.hours", INT, 0, at_least(0), HIGH).honoured(
        "log.roll.jitter.ms in hours; used when that is not set."
    ),
    Key("log.retention.ms", LONG, None, importance=HIGH, mode=CLUSTER_WIDE).honoured(
        "Records older than this are deleted with their segment; -1 keeps them (topic "
        "key retention.ms)."
    ),
    Key("log.retention.minutes", INT, None, importance=HIGH).honoured(
        "log.retention.ms in minutes; used when that is not set."
    ),
    Key("log.retention.hours", INT, 168, importance=HIGH).honoured(
        "log.retention.ms in hours; used when neither milliseconds nor minutes are set."
    ),
    Key("log.retention.bytes", LONG, -1, importance=HIGH, mode=CLUSTER_WIDE).honoured(
        "A partition larger than this loses its oldest segments; -1 is no limit (topic "
        "key retention.bytes)."
    ),
    Key("log.retention.check.interval.ms", LONG, 300000, at_least(1)).honoured(
        "How often segments are checked for deletion."
    ),
    Key("log.initial.task.delay.ms", LONG, 30000, at_least(0), LOW, internal=True).honoured(
        "How long after the start retention, flushing and checkpoints begin."
    ),
    Key(
        "log.cleanup.policy", LIST, ("delete",), list_of("compact", "delete"), mode=CLUSTER_WIDE
    ).honoured("What happens to old segments: delete, compact or both (topic key cleanup.policy)."),
    Key("log.segment.delete.delay.ms", LONG, 60000, at_least(0), HIGH, CLUSTER_WIDE).honoured(
        "How long a deleted segment stays on disk (topic key file.delete.delay.ms)."
    ),
    Key("log.index.size.max.bytes", INT, 10485760, at_least(4), mode=CLUSTER_WIDE).honoured(
        "Size to which index files are preallocated (topic key segment.index.bytes)."
    ),
    Key("log.index.interval.bytes", INT, 4096, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Bytes of records per index entry (topic key index.interval.bytes)."
    ),
    Key("log.preallocate", BOOLEAN, False, mode=CLUSTER_WIDE).honoured(
        "Whether the file of a new segment is created at its full size (topic key preallocate)."
    ),
    Key("log.flush.interval.messages", LONG, LONG_MAX, at_least(1), HIGH, CLUSTER_WIDE).honoured(
        "Records after which a log is forced to disk (topic key flush.messages)."
    ),
    Key("log.flush.interval.ms", LONG, None, importance=HIGH, mode=CLUSTER_WIDE).honoured(
        "A log with unwritten records is forced to disk after this time (topic key flush.ms)."
    ),
    Key("log.flush.scheduler.interval.ms", LONG, LONG_MAX, importance=HIGH).honoured(
        "How often logs are checked for flushing."
    ),
    Key("log.flush.offset.checkpoint.interval.ms", INT, 60000, at_least(0), HIGH).honoured(
        "How often recovery points are written to their checkpoint file."
    ),
    Key("log.flush.start.offset.checkpoint.interval.ms", INT, 60000, at_least(0), HIGH).honoured(
        "How often log start offsets are written to their checkpoint file."
    ),
    Key(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        one_of("CreateTime", "LogAppendTime"),
        mode=CLUSTER_WIDE,
    ).honoured(
        "Whether records keep the producer's time or get the broker's (topic key "
        "message.timestamp.type)."
    ),
    Key(
        "log.message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0), mode=CLUSTER_WIDE
    ).honoured(
        "How far a record's time may lie in the past (topic key message.timestamp.before.max.ms)."
    ),
    Key(
        "log.message.timestamp.after.max.ms", LONG, 3600000, at_least(0), mode=CLUSTER_WIDE
    ).honoured(
        "How far a record's time may lie in the future (topic key message.timestamp.after.max.ms)."
    ),
    Key("log.cleaner.enable", BOOLEAN, True).honoured("Whether compaction runs at all."),
    Key("log.cleaner.threads", INT, 1, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Logs compacted at once, each by a process; 0 disables compaction."
    ),
    Key("log.cleaner.backoff.ms", LONG, 15000, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Pause of the cleaner when there is nothing to compact."
    ),
    Key("log.cleaner.dedupe.buffer.size", LONG, 134217728, mode=CLUSTER_WIDE).honoured(
        "Memory for the map of keys of one round of compaction, over all cleaners."
    ),
    Key("log.cleaner.io.buffer.size", INT, 524288, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Memory for reading and writing segments during compaction, over all cleaners."
    ),
    Key("log.cleaner.io.buffer.load.factor", DOUBLE, 0.9, mode=CLUSTER_WIDE).accepted(
        "How full the map of keys may become.",
        "the map grows as it is filled, up to log.cleaner.dedupe.buffer.size",
    ),
    Key(
        "log.cleaner.io.max.bytes.per.second", DOUBLE, sys.float_info.max, mode=CLUSTER_WIDE
    ).honoured("Maximum bytes per second that compaction reads and writes; 0 pauses it."),
    Key("log.cleaner.delete.retention.ms", LONG, 86400000, at_least(0), mode=CLUSTER_WIDE).honoured(
        "How long tombstones and markers stay readable after compaction (topic key "
        "delete.retention.ms)."
    ),
    Key("log.cleaner.min.compaction.lag.ms", LONG, 0, at_least(0), mode=CLUSTER_WIDE).honoured(
        "A record stays uncompacted for at least this long (topic key min.compaction.lag.ms)."
    ),
    Key(
        "log.cleaner.max.compaction.lag.ms", LONG, LONG_MAX, at_least(1), mode=CLUSTER_WIDE
    ).honoured(
        "A record is compacted after this long at the latest (topic key max.compaction.lag.ms)."
    ),
    Key("log.cleaner.min.cleanable.ratio", DOUBLE, 0.5, between(0, 1), mode=CLUSTER_WIDE).honoured(
        "Share of uncompacted bytes from which a log is compacted (topic key "
        "min.cleanable.dirty.ratio)."
    ),
    Key("producer.id.expiration.ms", INT, 86400000, at_least(1), LOW, CLUSTER_WIDE).honoured(
        "How long an idle producer is remembered for its sequence numbers."
    ),
    Key(
        "producer.id.expiration.check.interval.ms", INT, 600000, at_least(1), LOW, internal=True
    ).honoured("How often producers are checked for expiration."),
)

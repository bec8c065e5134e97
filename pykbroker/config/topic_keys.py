"""Configuration keys of topics."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    STRING,
    Key,
    key_table,
)
from pykbroker.config.validators import (
    at_least,
    between,
    gzip_level,
    list_of,
    one_of,
    throttled_replicas,
)

UNTIERED: Final = "it concerns topics in tiered storage only, which is not built yet"

TOPIC_KEYS: Final = key_table(
    (
        Key("cleanup.policy", LIST, ("delete",), list_of("compact", "delete")).honoured(
            "What happens to old segments: delete, compact or both."
        ),
        Key(
            "compression.type",
            STRING,
            "producer",
            one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        ).honoured(
            "Codec in which batches are stored, or producer to keep what the producer chose."
        ),
        Key("compression.gzip.level", INT, -1, gzip_level()).honoured(
            "Level used when the broker compresses with gzip."
        ),
        Key("compression.lz4.level", INT, 9, between(1, 17)).honoured(
            "Level used when the broker compresses with LZ4."
        ),
        Key("compression.zstd.level", INT, 3, between(-131072, 22)).honoured(
            "Level used when the broker compresses with Zstandard."
        ),
        Key("delete.retention.ms", LONG, 86400000, at_least(0)).honoured(
            "How long tombstones and markers stay readable after compaction."
        ),
        Key("file.delete.delay.ms", LONG, 60000, at_least(0)).honoured(
            "How long a deleted segment stays on disk."
        ),
        Key("flush.messages", LONG, LONG_MAX, at_least(1)).honoured(
            "Records after which the log is forced to disk."
        ),
        Key("flush.ms", LONG, LONG_MAX, at_least(0)).honoured(
            "Time after which unwritten records are forced to disk."
        ),
        Key("index.interval.bytes", INT, 4096, at_least(0)).honoured(
            "Bytes of records per index entry."
        ),
        Key("internal.segment.bytes", INT, None, internal=True).refused(
            "Segment size for tests of Kafka itself.", "only for tests of Apache Kafka itself"
        ),
        Key("max.compaction.lag.ms", LONG, LONG_MAX, at_least(1)).honoured(
            "A record is compacted after this long at the latest."
        ),
        Key("max.decompressed.message.bytes", INT, 2147483639, between(1, 2147483639)).honoured(
            "Largest single record after decompression that is accepted."
        ),
        Key("max.message.bytes", INT, 1048588, at_least(0)).honoured(
            "Largest record batch, compressed, that is accepted."
        ),
        Key("message.timestamp.after.max.ms", LONG, 3600000, at_least(0)).honoured(
            "How far a record's time may lie in the future."
        ),
        Key("message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0)).honoured(
            "How far a record's time may lie in the past."
        ),
        Key(
            "message.timestamp.type", STRING, "CreateTime", one_of("CreateTime", "LogAppendTime")
        ).honoured("Whether records keep the producer's time or get the broker's."),
        Key("min.cleanable.dirty.ratio", DOUBLE, 0.5, between(0, 1)).honoured(
            "Share of uncompacted bytes from which the log is compacted."
        ),
        Key("min.compaction.lag.ms", LONG, 0, at_least(0)).honoured(
            "A record stays uncompacted for at least this long."
        ),
        Key("min.insync.replicas", INT, 1, at_least(1)).honoured(
            "In-sync replicas that must hold a record before a request with acks=all succeeds."
        ),
        Key("preallocate", BOOLEAN, False).honoured(
            "Whether the file of a new segment is created at its full size."
        ),
        Key("retention.bytes", LONG, -1).honoured(
            "A partition larger than this loses its oldest segments; -1 is no limit."
        ),
        Key("retention.ms", LONG, 604800000, at_least(-1)).honoured(
            "Records older than this are deleted with their segment; -1 keeps them."
        ),
        Key("segment.bytes", INT, 1073741824, at_least(1048576)).honoured(
            "A segment is closed when it has grown to this size."
        ),
        Key("segment.index.bytes", INT, 10485760, at_least(4)).honoured(
            "Size to which index files are preallocated."
        ),
        Key("segment.jitter.ms", LONG, 0, at_least(0)).honoured(
            "At most this much is taken off segment.ms, at random."
        ),
        Key("segment.ms", LONG, 604800000, at_least(1)).honoured(
            "A segment is closed when its first record is this old."
        ),
        Key("unclean.leader.election.enable", BOOLEAN, False).honoured(
            "Whether an out-of-sync replica may become leader when no other is left."
        ),
        Key("follower.replication.throttled.replicas", LIST, (), throttled_replicas()).refused(
            "Replicas whose copying is throttled on followers.",
            "replication is not throttled yet",
        ),
        Key("leader.replication.throttled.replicas", LIST, (), throttled_replicas()).refused(
            "Replicas whose copying is throttled on leaders.",
            "replication is not throttled yet",
        ),
        Key("errors.deadletterqueue.group.enable", BOOLEAN, False).unused(
            "Whether share groups may put undeliverable records into this topic.",
            "share groups are not built yet",
        ),
        Key("remote.storage.enable", BOOLEAN, False).refused(
            "Whether segments are copied to remote storage.", "tiered storage is not built yet"
        ),
        Key("remote.log.copy.disable", BOOLEAN, False).unused(
            "Whether copying to remote storage is paused.", "tiered storage is not built yet"
        ),
        Key("remote.log.delete.on.disable", BOOLEAN, False).unused(
            "Whether remote data is deleted when remote storage is switched off.",
            "tiered storage is not built yet",
        ),
        Key("local.retention.bytes", LONG, -2, at_least(-2)).accepted(
            "Size up to which local segments of a tiered topic are kept.", UNTIERED
        ),
        Key("local.retention.ms", LONG, -2, at_least(-2)).accepted(
            "Age up to which local segments of a tiered topic are kept.", UNTIERED
        ),
        Key("remote.copy.lag.bytes", LONG, -1, at_least(-1)).accepted(
            "Size from which segments are copied to remote storage.", UNTIERED
        ),
        Key("remote.copy.lag.ms", LONG, 0, at_least(-1)).accepted(
            "Age from which segments are copied to remote storage.", UNTIERED
        ),
    )
)

HOURS_MS: Final = 3_600_000
MINUTES_MS: Final = 60_000

# Topic key -> broker keys that give its default, strongest first, each with the factor to the
# unit of the topic key (ServerTopicConfigSynonyms).
TOPIC_SYNONYMS: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", MINUTES_MS),
        ("log.retention.hours", HOURS_MS),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOURS_MS)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", HOURS_MS)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}

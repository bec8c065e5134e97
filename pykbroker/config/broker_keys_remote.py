"""Broker keys: tiered storage."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    DOUBLE,
    INT,
    LONG,
    LONG_MAX,
    LOW,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, between, non_empty

TIERED: Final = "tiered storage is not built yet"
UNTIERED: Final = "it concerns topics in tiered storage only, which is not built yet"

KEYS: Final = (
    Key("log.local.retention.bytes", LONG, -2, at_least(-2), mode=CLUSTER_WIDE).accepted(
        "Size up to which a tiered partition keeps its local segments.", UNTIERED
    ),
    Key("log.local.retention.ms", LONG, -2, at_least(-2), mode=CLUSTER_WIDE).accepted(
        "Age up to which a tiered partition keeps its local segments.", UNTIERED
    ),
    Key("log.remote.copy.lag.bytes", LONG, -1, at_least(-1), mode=CLUSTER_WIDE).accepted(
        "Size from which segments are copied to remote storage.", UNTIERED
    ),
    Key("log.remote.copy.lag.ms", LONG, 0, at_least(-1), mode=CLUSTER_WIDE).accepted(
        "Age from which segments are copied to remote storage.", UNTIERED
    ),
    Key("remote.fetch.max.wait.ms", INT, 500, at_least(1), mode=CLUSTER_WIDE).unused(
        "Longest wait for remote data.", TIERED
    ),
    Key(
        "remote.list.offsets.request.timeout.ms", LONG, 30000, at_least(1), mode=CLUSTER_WIDE
    ).unused("Longest wait for remote offsets.", TIERED),
    Key(
        "remote.log.index.file.cache.total.size.bytes",
        LONG,
        1073741824,
        at_least(1),
        LOW,
        CLUSTER_WIDE,
    ).unused("Disk for cached remote indexes.", TIERED),
    Key(
        "remote.log.index.file.cache.ttl.ms", LONG, 900000, at_least(-1), LOW, internal=True
    ).unused("Life of a cached remote index.", TIERED),
    Key(
        "remote.log.manager.copier.thread.pool.size", INT, 10, at_least(1), mode=CLUSTER_WIDE
    ).unused("Workers that copy segments.", TIERED),
    Key(
        "remote.log.manager.copy.max.bytes.per.second",
        LONG,
        LONG_MAX,
        at_least(1),
        mode=CLUSTER_WIDE,
    ).unused("Most bytes per second copied to remote storage.", TIERED),
    Key("remote.log.manager.copy.quota.window.num", INT, 11, at_least(1)).unused(
        "Windows in which copying is counted.", TIERED
    ),
    Key("remote.log.manager.copy.quota.window.size.seconds", INT, 1, at_least(1)).unused(
        "Length of one quota window.", TIERED
    ),
    Key(
        "remote.log.manager.expiration.thread.pool.size", INT, 10, at_least(1), mode=CLUSTER_WIDE
    ).unused("Workers that delete remote segments.", TIERED),
    Key(
        "remote.log.manager.fetch.max.bytes.per.second",
        LONG,
        LONG_MAX,
        at_least(1),
        mode=CLUSTER_WIDE,
    ).unused("Most bytes per second read from remote storage.", TIERED),
    Key("remote.log.manager.fetch.quota.window.num", INT, 11, at_least(1)).unused(
        "Windows in which reading is counted.", TIERED
    ),
    Key("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, at_least(1)).unused(
        "Length of one quota window.", TIERED
    ),
    Key(
        "remote.log.manager.follower.thread.pool.size", INT, 2, at_least(1), mode=CLUSTER_WIDE
    ).unused("Workers of followers.", TIERED),
    Key("remote.log.manager.task.interval.ms", LONG, 30000, at_least(1), LOW).unused(
        "How often segments are copied and deleted.", TIERED
    ),
    Key(
        "remote.log.manager.task.retry.backoff.ms", LONG, 500, at_least(1), LOW, internal=True
    ).unused("First pause after a failure.", TIERED),
    Key(
        "remote.log.manager.task.retry.backoff.max.ms", LONG, 30000, at_least(1), LOW, internal=True
    ).unused("Longest pause after failures.", TIERED),
    Key(
        "remote.log.manager.task.retry.jitter", DOUBLE, 0.2, between(0, 0.5), LOW, internal=True
    ).unused("Random part of the pause.", TIERED),
    Key("remote.log.manager.thread.pool.size", INT, 2, at_least(1)).unused(
        "Workers of the remote log manager.", TIERED
    ),
    Key("remote.log.metadata.custom.metadata.max.bytes", INT, 128, at_least(0), LOW).unused(
        "Largest custom metadata of a remote segment.", TIERED
    ),
    Key(
        "remote.log.metadata.manager.class.name",
        STRING,
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        non_empty(),
    ).unused("Java class that keeps metadata of remote segments.", TIERED),
    Key("remote.log.metadata.manager.class.path", STRING, None).unused(
        "Class path of that class.", TIERED
    ),
    Key("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", non_empty()).unused(
        "Prefix of settings of that class.", TIERED
    ),
    Key("remote.log.metadata.manager.listener.name", STRING, None, non_empty()).unused(
        "Listener that class connects to.", TIERED
    ),
    Key("remote.log.reader.max.pending.tasks", INT, 100, at_least(1)).unused(
        "Most remote reads that wait.", TIERED
    ),
    Key("remote.log.reader.threads", INT, 10, at_least(1), mode=CLUSTER_WIDE).unused(
        "Workers that read remote segments.", TIERED
    ),
    Key("remote.log.storage.manager.class.name", STRING, None, non_empty()).unused(
        "Java class that stores remote segments.", TIERED
    ),
    Key("remote.log.storage.manager.class.path", STRING, None).unused(
        "Class path of that class.", TIERED
    ),
    Key("remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", non_empty()).unused(
        "Prefix of settings of that class.", TIERED
    ),
    Key("remote.log.storage.system.enable", BOOLEAN, False).refused(
        "Whether tiered storage is on.", TIERED
    ),
)

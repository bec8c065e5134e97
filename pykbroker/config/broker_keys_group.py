"""Broker keys: groups, their offsets and their coordinator."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    HIGH,
    INT,
    INT_MAX,
    LIST,
    LONG,
    LOW,
    SHORT,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, between, list_of, one_of_any_case

CONSUMER: Final = "the consumer group protocol of KIP-848 is not built yet"
STREAMS: Final = "streams groups are not built yet"
POOL: Final = "the coordinator runs on the event loop; there is no pool of threads to size"

KEYS: Final = (
    Key("group.initial.rebalance.delay.ms", INT, 3000).honoured(
        "How long an empty classic group waits for more members before its first rebalance."
    ),
    Key("group.min.session.timeout.ms", INT, 6000).honoured(
        "Shortest session timeout that a member of a classic group may request."
    ),
    Key("group.max.session.timeout.ms", INT, 1800000).honoured(
        "Longest session timeout that a member of a classic group may request."
    ),
    Key("group.max.size", INT, INT_MAX, at_least(1)).honoured(
        "Maximum number of members in a classic group."
    ),
    Key(
        "group.coordinator.rebalance.protocols",
        LIST,
        (
            "classic",
            "consumer",
            "streams",
        ),
        list_of("consumer", "classic", "share", "streams", empty=False),
    ).accepted(
        "The group protocols on offer.",
        "only classic groups are built yet; the others are not offered, whatever this says",
    ),
    Key("group.coordinator.threads", INT, 4, at_least(1), HIGH).accepted(
        "Threads of the group coordinator.", POOL
    ),
    Key("group.coordinator.background.threads", INT, 2, at_least(1), HIGH).accepted(
        "Threads of the group coordinator for assignments and patterns.", POOL
    ),
    Key("group.coordinator.append.linger.ms", INT, -1, at_least(-1)).accepted(
        "Time for which group records are gathered before they are written.",
        "the records of the requests that are served together are always written together",
    ),
    Key(
        "group.coordinator.cached.buffer.max.bytes",
        INT,
        1048588,
        at_least(524288),
        mode=CLUSTER_WIDE,
    ).accepted(
        "Largest buffer that the coordinator keeps for reuse.", "the coordinator keeps no buffers"
    ),
    Key("offset.metadata.max.bytes", INT, 4096, importance=HIGH).honoured(
        "Longest metadata text of a committed offset."
    ),
    Key("offsets.commit.timeout.ms", INT, 5000, at_least(1), HIGH).honoured(
        "How long an offset commit waits for its replicas."
    ),
    Key("offsets.load.buffer.size", INT, 5242880, at_least(1), HIGH).honoured(
        "Bytes read at a time while offsets are loaded."
    ),
    Key("offsets.retention.minutes", INT, 10080, at_least(1), HIGH).honoured(
        "How long offsets outlive the last member of their group."
    ),
    Key("offsets.retention.check.interval.ms", LONG, 600000, at_least(1), HIGH).honoured(
        "How often offsets are checked for expiration."
    ),
    Key("offsets.topic.num.partitions", INT, 50, at_least(1), HIGH).honoured(
        "Partitions of __consumer_offsets. Must not change after it was created."
    ),
    Key("offsets.topic.replication.factor", SHORT, 3, at_least(1), HIGH).honoured(
        "Replicas of __consumer_offsets; with more than there are brokers it cannot be created."
    ),
    Key("offsets.topic.segment.bytes", INT, 104857600, at_least(1), HIGH).honoured(
        "Segment size of __consumer_offsets."
    ),
    # 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. Kafka has no validator: another id ends its start.
    Key("offsets.topic.compression.codec", INT, 0, between(0, 4), HIGH).honoured(
        "Codec of the batches in __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."
    ),
    Key("group.consumer.assignment.interval.ms", INT, 1000, at_least(0), mode=CLUSTER_WIDE).unused(
        "Least time between assignments of a consumer group.", CONSUMER
    ),
    Key(
        "group.consumer.assignor.offload.enable", BOOLEAN, True, mode=CLUSTER_WIDE, internal=True
    ).unused("Whether assignments are computed on another thread.", CONSUMER),
    Key(
        "group.consumer.assignors",
        LIST,
        (
            "uniform",
            "range",
        ),
        list_of(empty=False),
    ).unused("Assignors on offer, the first being the default.", CONSUMER),
    Key("group.consumer.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Heartbeat interval given to members.", CONSUMER
    ),
    Key("group.consumer.max.assignment.interval.ms", INT, 15000, at_least(0)).unused(
        "Largest assignment interval a group may be given.", CONSUMER
    ),
    Key("group.consumer.max.heartbeat.interval.ms", INT, 15000, at_least(1)).unused(
        "Largest heartbeat interval a group may be given.", CONSUMER
    ),
    Key("group.consumer.max.session.timeout.ms", INT, 60000, at_least(1)).unused(
        "Largest session timeout a group may be given.", CONSUMER
    ),
    Key("group.consumer.max.size", INT, INT_MAX, at_least(1)).unused(
        "Most members of one consumer group.", CONSUMER
    ),
    Key(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        one_of_any_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
    ).unused(
        "Which ways a group may change between the classic and the consumer protocol.", CONSUMER
    ),
    Key("group.consumer.min.assignment.interval.ms", INT, 0, at_least(0)).unused(
        "Smallest assignment interval a group may be given.", CONSUMER
    ),
    Key("group.consumer.min.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Smallest heartbeat interval a group may be given.", CONSUMER
    ),
    Key("group.consumer.min.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Smallest session timeout a group may be given.", CONSUMER
    ),
    Key(
        "group.consumer.regex.refresh.interval.ms", INT, 600000, at_least(10000), internal=True
    ).unused("How often subscribed patterns are matched again.", CONSUMER),
    Key("group.consumer.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Session timeout of members.", CONSUMER
    ),
    Key("group.streams.acceptable.recovery.lag", LONG, 10000, at_least(0), internal=True).unused(
        "Lag up to which a task counts as caught up.", STREAMS
    ),
    Key("group.streams.assignment.interval.ms", INT, 1000, at_least(0), mode=CLUSTER_WIDE).unused(
        "Least time between assignments of a streams group.", STREAMS
    ),
    Key(
        "group.streams.assignor.offload.enable", BOOLEAN, True, mode=CLUSTER_WIDE, internal=True
    ).unused("Whether assignments are computed on another thread.", STREAMS),
    Key("group.streams.assignors", LIST, ("sticky",), list_of(empty=False)).refused(
        "Task assignors on offer.", STREAMS
    ),
    Key("group.streams.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Heartbeat interval given to members.", STREAMS
    ),
    Key("group.streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)).unused(
        "How long a new group waits for more members.", STREAMS
    ),
    Key("group.streams.max.assignment.interval.ms", INT, 15000, at_least(0)).unused(
        "Largest assignment interval a group may be given.", STREAMS
    ),
    Key("group.streams.max.heartbeat.interval.ms", INT, 15000, at_least(1)).unused(
        "Largest heartbeat interval a group may be given.", STREAMS
    ),
    Key("group.streams.max.session.timeout.ms", INT, 60000, at_least(1)).unused(
        "Largest session timeout a group may be given.", STREAMS
    ),
    Key("group.streams.max.size", INT, INT_MAX, at_least(1)).unused(
        "Most members of one streams group.", STREAMS
    ),
    Key("group.streams.max.standby.replicas", INT, 2, at_least(0)).unused(
        "Most standby tasks a group may ask for.", STREAMS
    ),
    Key("group.streams.max.warmup.replicas", INT, 20, at_least(0), internal=True).unused(
        "Most warm-up tasks a group may ask for.", STREAMS
    ),
    Key("group.streams.min.assignment.interval.ms", INT, 0, at_least(0)).unused(
        "Smallest assignment interval a group may be given.", STREAMS
    ),
    Key("group.streams.min.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Smallest heartbeat interval a group may be given.", STREAMS
    ),
    Key("group.streams.min.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Smallest session timeout a group may be given.", STREAMS
    ),
    Key("group.streams.min.task.offset.interval.ms", INT, 15000, at_least(1), internal=True).unused(
        "Smallest interval of task offset reports.", STREAMS
    ),
    Key("group.streams.num.standby.replicas", INT, 0, at_least(0)).unused(
        "Standby tasks per task.", STREAMS
    ),
    Key("group.streams.num.warmup.replicas", INT, 2, at_least(0), internal=True).unused(
        "Warm-up tasks at once.", STREAMS
    ),
    Key("group.streams.rack.aware.assignment.tags", LIST, (), list_of(), LOW).unused(
        "Client tags over which standby tasks are spread.", STREAMS
    ),
    Key("group.streams.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Session timeout of members.", STREAMS
    ),
    Key("group.streams.task.offset.interval.ms", INT, 60000, at_least(1), internal=True).unused(
        "How often members report the offsets of their tasks.", STREAMS
    ),
    Key("group.streams.topology.description.plugin.class", CLASS, None).refused(
        "Java class that receives descriptions of topologies.", STREAMS
    ),
)

"""Broker keys: share groups and their coordinator."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LIST,
    LOW,
    SHORT,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, between, list_of

SHARE: Final = "share groups are not built yet"
NO_TOPIC: Final = "the topic is made only with share groups, which are not built yet"

KEYS: Final = (
    Key("group.share.assignment.interval.ms", INT, 1000, at_least(0), mode=CLUSTER_WIDE).unused(
        "Least time between assignments of a share group.", SHARE
    ),
    Key(
        "group.share.assignor.offload.enable", BOOLEAN, True, mode=CLUSTER_WIDE, internal=True
    ).unused("Whether assignments are computed on another thread.", SHARE),
    Key("group.share.assignors", LIST, ("simple",), list_of(empty=False)).refused(
        "Assignors on offer.", SHARE
    ),
    Key("group.share.delivery.count.limit", INT, 5, between(2, 10)).unused(
        "Most deliveries of one record.", SHARE
    ),
    Key(
        "group.share.dlq.manager.class.name",
        STRING,
        "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager",
        internal=True,
    ).refused("Java class that keeps undeliverable records.", SHARE),
    Key("group.share.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Heartbeat interval given to members.", SHARE
    ),
    Key(
        "group.share.initialize.retry.interval.ms", INT, 30000, at_least(1), LOW, internal=True
    ).unused("Pause before the state of a share partition is initialised again.", SHARE),
    Key("group.share.max.assignment.interval.ms", INT, 15000, at_least(0)).unused(
        "Largest assignment interval a group may be given.", SHARE
    ),
    Key("group.share.max.delivery.count.limit", INT, 10, between(5, 25)).unused(
        "Largest delivery limit a group may be given.", SHARE
    ),
    Key("group.share.max.heartbeat.interval.ms", INT, 15000, at_least(1)).unused(
        "Largest heartbeat interval a group may be given.", SHARE
    ),
    Key("group.share.max.partition.max.record.locks", INT, 4000, between(2000, 10000)).unused(
        "Largest number of locks a group may be given.", SHARE
    ),
    Key("group.share.max.record.lock.duration.ms", INT, 60000, between(30000, 3600000)).unused(
        "Longest lock a group may be given.", SHARE
    ),
    Key("group.share.max.session.timeout.ms", INT, 60000, at_least(1)).unused(
        "Largest session timeout a group may be given.", SHARE
    ),
    Key("group.share.max.share.sessions", INT, 2000, at_least(1)).unused(
        "Most share sessions of this broker.", SHARE
    ),
    Key("group.share.max.size", INT, 200, between(1, 1000)).unused(
        "Most members of one share group.", SHARE
    ),
    Key("group.share.min.assignment.interval.ms", INT, 0, at_least(0)).unused(
        "Smallest assignment interval a group may be given.", SHARE
    ),
    Key("group.share.min.delivery.count.limit", INT, 2, between(2, 5)).unused(
        "Smallest delivery limit a group may be given.", SHARE
    ),
    Key("group.share.min.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
        "Smallest heartbeat interval a group may be given.", SHARE
    ),
    Key("group.share.min.partition.max.record.locks", INT, 100, between(100, 2000)).unused(
        "Smallest number of locks a group may be given.", SHARE
    ),
    Key("group.share.min.record.lock.duration.ms", INT, 15000, between(1000, 30000)).unused(
        "Shortest lock a group may be given.", SHARE
    ),
    Key("group.share.min.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Smallest session timeout a group may be given.", SHARE
    ),
    Key("group.share.partition.max.record.locks", INT, 2000, between(100, 10000)).unused(
        "Most records of a partition that are locked at once.", SHARE
    ),
    Key(
        "group.share.persister.class.name",
        STRING,
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        internal=True,
    ).refused("Java class that stores the state of share partitions.", SHARE),
    Key("group.share.record.lock.duration.ms", INT, 30000, between(1000, 3600000)).unused(
        "How long a delivered record is locked.", SHARE
    ),
    Key("group.share.session.timeout.ms", INT, 45000, at_least(1)).unused(
        "Session timeout of members.", SHARE
    ),
    Key("share.coordinator.append.linger.ms", INT, -1, at_least(-1)).unused(
        "Time for which share records are gathered before they are written.", SHARE
    ),
    Key(
        "share.coordinator.cached.buffer.max.bytes",
        INT,
        1048588,
        at_least(524288),
        mode=CLUSTER_WIDE,
    ).unused("Largest buffer that the share coordinator keeps for reuse.", SHARE),
    Key(
        "share.coordinator.cold.partition.snapshot.interval.ms",
        INT,
        300000,
        at_least(1),
        LOW,
        internal=True,
    ).unused("How often quiet share partitions are snapshotted.", SHARE),
    Key("share.coordinator.load.buffer.size", INT, 5242880, at_least(1), HIGH).unused(
        "Bytes read at once while share state is loaded.", SHARE
    ),
    Key("share.coordinator.snapshot.update.records.per.snapshot", INT, 500, between(0, 500)).unused(
        "Updates between two snapshots of share state.", SHARE
    ),
    Key("share.coordinator.state.topic.compression.codec", INT, 0, importance=HIGH).unused(
        "Codec of the records in __share_group_state.", SHARE
    ),
    Key("share.coordinator.state.topic.min.isr", SHORT, 2, at_least(1), HIGH).accepted(
        "In-sync replicas that __share_group_state needs.", NO_TOPIC
    ),
    Key("share.coordinator.state.topic.num.partitions", INT, 50, at_least(1), HIGH).accepted(
        "Partitions of __share_group_state.", NO_TOPIC
    ),
    Key(
        "share.coordinator.state.topic.prune.interval.ms",
        INT,
        300000,
        at_least(1),
        LOW,
        internal=True,
    ).unused("How often superseded share state is deleted.", SHARE),
    Key("share.coordinator.state.topic.replication.factor", SHORT, 3, at_least(1), HIGH).accepted(
        "Replicas of __share_group_state.", NO_TOPIC
    ),
    Key("share.coordinator.state.topic.segment.bytes", INT, 104857600, at_least(1), HIGH).accepted(
        "Segment size of __share_group_state.", NO_TOPIC
    ),
    Key("share.coordinator.threads", INT, 1, at_least(1)).unused(
        "Threads of the share coordinator.", SHARE
    ),
    Key("share.coordinator.write.timeout.ms", INT, 5000, at_least(1), HIGH).unused(
        "How long writing share state may take.", SHARE
    ),
    Key(
        "errors.deadletterqueue.auto.create.topics.enable", BOOLEAN, False, mode=CLUSTER_WIDE
    ).unused("Whether topics for undeliverable records are made on demand.", SHARE),
    Key("errors.deadletterqueue.topic.name.prefix", STRING, "dlq.", mode=CLUSTER_WIDE).unused(
        "Prefix of topics for undeliverable records that are made on demand.", SHARE
    ),
)

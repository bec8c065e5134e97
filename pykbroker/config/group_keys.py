"""Configuration keys of groups."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import BOOLEAN, INT, LIST, LONG, LOW, STRING, Key, key_table
from pykbroker.config.validators import at_least, list_of, one_of, share_offset_reset

CONSUMER: Final = "the consumer group protocol of KIP-848 is not built yet"
SHARE: Final = "share groups are not built yet"
STREAMS: Final = "streams groups are not built yet"

GROUP_KEYS: Final = key_table(
    (
        Key("consumer.assignment.interval.ms", INT, 1000, at_least(0)).unused(
            "Least time between assignments of this consumer group.", CONSUMER
        ),
        Key("consumer.assignor.offload.enable", BOOLEAN, True, internal=True).unused(
            "Whether assignments are computed on another thread.", CONSUMER
        ),
        Key("consumer.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
            "Heartbeat interval given to members.", CONSUMER
        ),
        Key("consumer.session.timeout.ms", INT, 45000, at_least(1)).unused(
            "Session timeout of members.", CONSUMER
        ),
        Key("errors.deadletterqueue.copy.record.enable", BOOLEAN, False).unused(
            "Whether undeliverable records are copied whole.", SHARE
        ),
        Key("errors.deadletterqueue.topic.name", STRING, "").unused(
            "Topic for undeliverable records.", SHARE
        ),
        Key("share.assignment.interval.ms", INT, 1000, at_least(0)).unused(
            "Least time between assignments of this share group.", SHARE
        ),
        Key("share.assignor.offload.enable", BOOLEAN, True, internal=True).unused(
            "Whether assignments are computed on another thread.", SHARE
        ),
        Key("share.auto.offset.reset", STRING, "latest", share_offset_reset()).unused(
            "Where reading begins when there is no offset.", SHARE
        ),
        Key("share.delivery.count.limit", INT, 5, at_least(2)).unused(
            "Most deliveries of one record.", SHARE
        ),
        Key("share.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
            "Heartbeat interval given to members.", SHARE
        ),
        Key(
            "share.isolation.level",
            STRING,
            "read_uncommitted",
            one_of("read_committed", "read_uncommitted"),
        ).unused("Whether records of open transactions are delivered.", SHARE),
        Key("share.partition.max.record.locks", INT, 2000, at_least(100)).unused(
            "Most records of a partition that are locked at once.", SHARE
        ),
        Key("share.record.lock.duration.ms", INT, 30000, at_least(1000)).unused(
            "How long a delivered record is locked.", SHARE
        ),
        Key("share.renew.acknowledge.enable", BOOLEAN, True).unused(
            "Whether members may renew their locks.", SHARE
        ),
        Key("share.session.timeout.ms", INT, 45000, at_least(1)).unused(
            "Session timeout of members.", SHARE
        ),
        Key("streams.acceptable.recovery.lag", LONG, 10000, at_least(0), internal=True).unused(
            "Lag up to which a task counts as caught up.", STREAMS
        ),
        Key("streams.assignment.interval.ms", INT, 1000, at_least(0)).unused(
            "Least time between assignments of this streams group.", STREAMS
        ),
        Key("streams.assignor.name", STRING, None).refused("Task assignor of this group.", STREAMS),
        Key("streams.assignor.offload.enable", BOOLEAN, True, internal=True).unused(
            "Whether assignments are computed on another thread.", STREAMS
        ),
        Key("streams.heartbeat.interval.ms", INT, 5000, at_least(1)).unused(
            "Heartbeat interval given to members.", STREAMS
        ),
        Key("streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)).unused(
            "How long a new group waits for more members.", STREAMS
        ),
        Key("streams.num.standby.replicas", INT, 0, at_least(0)).unused(
            "Standby tasks per task.", STREAMS
        ),
        Key("streams.num.warmup.replicas", INT, 2, at_least(0), internal=True).unused(
            "Warm-up tasks at once.", STREAMS
        ),
        Key("streams.rack.aware.assignment.tags", LIST, (), list_of(), LOW).unused(
            "Client tags over which standby tasks are spread.", STREAMS
        ),
        Key("streams.session.timeout.ms", INT, 45000, at_least(1)).unused(
            "Session timeout of members.", STREAMS
        ),
        Key("streams.task.offset.interval.ms", INT, 60000, at_least(1), internal=True).unused(
            "How often members report the offsets of their tasks.", STREAMS
        ),
    )
)

# Group key -> broker key that gives its default (GroupConfig.ALL_GROUP_CONFIG_SYNONYMS).
GROUP_SYNONYMS: Final[dict[str, str]] = {
    name: "group.streams.assignors" if name == "streams.assignor.name" else f"group.{name}"
    for name in GROUP_KEYS
    if name
    not in (
        "share.auto.offset.reset",
        "share.isolation.level",
        "share.renew.acknowledge.enable",
        "errors.deadletterqueue.topic.name",
        "errors.deadletterqueue.copy.record.enable",
    )
}

"""Broker keys: replication between brokers, and quotas."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LONG,
    LOW,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER_ONLY: Final = "org.apache.kafka.common.replica.LeaderSelector"

QUOTA: Final = "quotas are not built yet"

KEYS: Final = (
    Key("replica.fetch.backoff.ms", INT, 1000, at_least(0)).honoured(
        "Pause of a follower after a failed fetch."
    ),
    Key("replica.fetch.max.bytes", INT, 1048576, at_least(0)).honoured(
        "Bytes per partition that a follower requests."
    ),
    Key("replica.fetch.min.bytes", INT, 1, importance=HIGH).honoured(
        "Bytes that a follower's fetch waits for."
    ),
    Key("replica.fetch.response.max.bytes", INT, 10485760, at_least(0)).honoured(
        "Bytes that a follower requests in total."
    ),
    Key("replica.fetch.wait.max.ms", INT, 500, importance=HIGH).honoured(
        "Longest wait of a follower's fetch."
    ),
    Key("replica.high.watermark.checkpoint.interval.ms", LONG, 5000, importance=HIGH).honoured(
        "How often high watermarks are written to their checkpoint file."
    ),
    Key("replica.lag.time.max.ms", LONG, 30000, importance=HIGH).honoured(
        "A follower that has not caught up for this long leaves the in-sync replicas."
    ),
    Key("replica.selector.class", STRING, None).honoured(
        "Chooses the replica that a consumer with a rack reads from: a follower in its rack, or "
        "always the leader (also without a class)."
    ),
    Key("replica.socket.receive.buffer.bytes", INT, 65536, importance=HIGH).accepted(
        "SO_RCVBUF of a follower's connection.", "the operating system sizes the buffers"
    ),
    Key("replica.socket.timeout.ms", INT, 30000, importance=HIGH).honoured(
        "Timeout of a follower's requests."
    ),
    Key("num.replica.fetchers", INT, 1, at_least(1), HIGH, CLUSTER_WIDE).honoured(
        "Fetchers per source broker."
    ),
    Key("num.replica.alter.log.dirs.threads", INT, None, importance=HIGH).accepted(
        "Workers that move replicas between directories.",
        "one worker moves all of them, a piece of each in turn",
    ),
    Key("follower.fetch.last.tiered.offset.enable", BOOLEAN, False, mode=CLUSTER_WIDE).unused(
        "Whether a new follower starts behind what is in remote storage.",
        "tiered storage is not built yet",
    ),
    Key("replication.quota.window.num", INT, 11, at_least(1), LOW).unused(
        "Windows in which replication is counted against its quota.", QUOTA
    ),
    Key("replication.quota.window.size.seconds", INT, 1, at_least(1), LOW).unused(
        "Length of one quota window.", QUOTA
    ),
    Key("alter.log.dirs.replication.quota.window.num", INT, 11, at_least(1), LOW).unused(
        "Windows in which moves between directories are counted.", QUOTA
    ),
    Key("alter.log.dirs.replication.quota.window.size.seconds", INT, 1, at_least(1), LOW).unused(
        "Length of one quota window.", QUOTA
    ),
    Key("quota.window.num", INT, 11, at_least(1), LOW).unused(
        "Windows in which clients are counted against their quotas.", QUOTA
    ),
    Key("quota.window.size.seconds", INT, 1, at_least(1), LOW).unused(
        "Length of one quota window.", QUOTA
    ),
    Key("client.quota.callback.class", CLASS, None, importance=LOW).refused(
        "Java class that computes quotas.", QUOTA
    ),
)

"""Broker keys: identity, roles, topics, threads and general limits of a node."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    BOOLEAN,
    CLASS,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LIST,
    LONG,
    LONG_MAX,
    LOW,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, between, gzip_level, list_of, one_of

PLUGIN: Final = "plug-ins written in Java cannot run in this broker"
METRIC_WINDOWS: Final = "windows of JMX metrics do not exist in this broker"
LOOP: Final = "one event loop serves every connection; there is no pool of threads to size"

KEYS: Final = (
    Key("node.id", INT, None, at_least(0), HIGH, required=True).honoured(
        "The number of this node in its cluster. Needed when process.roles is set."
    ),
    Key("broker.id", INT, -1, importance=HIGH).honoured(
        "The older name of node.id. If both are set they must agree."
    ),
    Key(
        "process.roles",
        LIST,
        None,
        list_of("broker", "controller", empty=False),
        HIGH,
        required=True,
    ).honoured("The roles of this process: broker, controller or both."),
    Key("broker.rack", STRING, None).honoured(
        "The rack or zone of this broker, shown in metadata and used to spread replicas."
    ),
    Key("broker.heartbeat.interval.ms", INT, 2000).honoured(
        "Interval of the heartbeats that a broker sends to the controller."
    ),
    Key("broker.session.timeout.ms", INT, 9000).honoured(
        "The controller fences a broker whose heartbeats stop for this long."
    ),
    Key("initial.broker.registration.timeout.ms", INT, 60000).honoured(
        "How long a broker tries at start to be registered by the controller."
    ),
    Key("controlled.shutdown.enable", BOOLEAN, True).refused(
        "Whether a stopping broker moves its leaders away first.",
        "a stopping broker always moves its leaders away first",
    ),
    Key("auto.create.topics.enable", BOOLEAN, True, importance=HIGH).honoured(
        "Whether a request for an unknown topic creates it."
    ),
    Key("delete.topic.enable", BOOLEAN, True, importance=HIGH).honoured(
        "Whether topics may be deleted; if not, DeleteTopics is refused."
    ),
    Key("num.partitions", INT, 1, at_least(1)).honoured(
        "Partitions of a topic that is created without a number."
    ),
    Key("default.replication.factor", INT, 1).honoured(
        "Replicas of a topic that is created without a number."
    ),
    Key("min.insync.replicas", INT, 1, at_least(1), HIGH, CLUSTER_WIDE).honoured(
        "In-sync replicas that must hold a record before a request with acks=all succeeds."
    ),
    Key(
        "unclean.leader.election.enable", BOOLEAN, False, importance=HIGH, mode=CLUSTER_WIDE
    ).honoured("Whether an out-of-sync replica may become leader when no other is left."),
    Key("unclean.leader.election.interval.ms", LONG, 300000, at_least(1), internal=True).honoured(
        "How often the controller looks for leaderless partitions to elect uncleanly."
    ),
    Key("auto.leader.rebalance.enable", BOOLEAN, True, importance=HIGH).honoured(
        "Whether leadership is moved back to preferred replicas."
    ),
    Key("leader.imbalance.check.interval.seconds", LONG, 300, at_least(1), HIGH).honoured(
        "How often the balance of leaders is checked."
    ),
    Key("num.network.threads", INT, 3, at_least(1), HIGH, CLUSTER_WIDE).accepted(
        "Threads that move bytes between sockets and the request queue.", LOOP
    ),
    Key("num.io.threads", INT, 8, at_least(1), HIGH, CLUSTER_WIDE).accepted(
        "Threads that serve requests, disk access included.", LOOP
    ),
    Key("background.threads", INT, 10, at_least(1), HIGH, CLUSTER_WIDE).accepted(
        "Threads for jobs in the background.",
        "housekeeping is done by one driver and, for heavy work, by worker processes",
    ),
    Key("queued.max.requests", INT, 500, at_least(1), HIGH).honoured(
        "Requests that may wait to be served; when full, connections are no longer read."
    ),
    Key("queued.max.request.bytes", LONG, -1).refused(
        "Bytes of requests that may wait to be served.",
        "only the number of waiting requests is bounded (queued.max.requests)",
    ),
    Key("request.timeout.ms", INT, 30000, importance=HIGH).honoured(
        "How long this node waits for the responses of other nodes."
    ),
    Key("message.max.bytes", INT, 1048588, at_least(0), HIGH, CLUSTER_WIDE).honoured(
        "Largest record batch, compressed, that a topic accepts (topic key max.message.bytes)."
    ),
    Key(
        "max.decompressed.message.bytes", INT, 2147483639, between(1, 2147483639), mode=CLUSTER_WIDE
    ).honoured(
        "Largest single record after decompression that is accepted (topic key of the same name)."
    ),
    Key("fetch.max.bytes", INT, 57671680, at_least(1024)).honoured(
        "Maximum size of one fetch response, whatever the client requests."
    ),
    Key("max.incremental.fetch.session.cache.slots", INT, 1000, at_least(0)).honoured(
        "Fetch sessions cached at once; split over eight shards, so below 8 there are none."
    ),
    Key("max.request.partition.size.limit", INT, 2000, at_least(1)).honoured(
        "Maximum number of partitions in one DescribeTopicPartitions response."
    ),
    Key(
        "compression.type",
        STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        HIGH,
        CLUSTER_WIDE,
    ).honoured("Codec in which batches are stored, or producer to keep what the producer chose."),
    Key("compression.gzip.level", INT, -1, gzip_level(), mode=CLUSTER_WIDE).honoured(
        "Level used when this broker compresses with gzip."
    ),
    Key("compression.lz4.level", INT, 9, between(1, 17), mode=CLUSTER_WIDE).honoured(
        "Level used when this broker compresses with LZ4."
    ),
    Key("compression.zstd.level", INT, 3, between(-131072, 22), mode=CLUSTER_WIDE).honoured(
        "Level used when this broker compresses with Zstandard."
    ),
    Key("fetch.purgatory.purge.interval.requests", INT, 1000).accepted(
        "Completed waiting fetches after which they are swept out.",
        "waiting requests leave the purgatory when they complete; nothing is left to sweep",
    ),
    Key("producer.purgatory.purge.interval.requests", INT, 1000).accepted(
        "Completed waiting produces after which they are swept out.",
        "waiting requests leave the purgatory when they complete; nothing is left to sweep",
    ),
    Key("delete.records.purgatory.purge.interval.requests", INT, 1).accepted(
        "Completed waiting DeleteRecords after which they are swept out.",
        "waiting requests leave the purgatory when they complete; nothing is left to sweep",
    ),
    Key("share.fetch.purgatory.purge.interval.requests", INT, 1000).accepted(
        "Completed waiting share fetches after which they are swept out.",
        "waiting requests leave the purgatory when they complete; nothing is left to sweep",
    ),
    Key("create.topic.policy.class.name", CLASS, None, importance=LOW).refused(
        "Java class that may refuse the creation of topics.", PLUGIN
    ),
    Key("alter.config.policy.class.name", CLASS, None, importance=LOW).refused(
        "Java class that may refuse changes of configuration.", PLUGIN
    ),
    Key("config.providers", LIST, (), list_of(), LOW, CLUSTER_WIDE).refused(
        "Java classes that fetch values from elsewhere.", PLUGIN
    ),
    Key(
        "metric.reporters",
        LIST,
        ("org.apache.kafka.common.metrics.JmxReporter",),
        list_of(),
        LOW,
        CLUSTER_WIDE,
    ).refused("Java classes that receive metrics.", PLUGIN),
    Key("kafka.metrics.reporters", LIST, (), list_of(), LOW).refused(
        "Java classes that receive the older metrics.", PLUGIN
    ),
    Key("kafka.metrics.polling.interval.secs", INT, 10, at_least(1), LOW).unused(
        "How often the older metrics are polled.", PLUGIN
    ),
    Key("metrics.num.samples", INT, 2, at_least(1), LOW).refused(
        "Samples kept per metric.", METRIC_WINDOWS
    ),
    Key("metrics.sample.window.ms", LONG, 30000, at_least(1), LOW).refused(
        "Length of the window of one sample.", METRIC_WINDOWS
    ),
    Key("metrics.recording.level", STRING, "INFO", importance=LOW).refused(
        "How detailed the recorded metrics are.", METRIC_WINDOWS
    ),
    Key("telemetry.max.bytes", INT, 1048576, at_least(1), LOW).unused(
        "Largest metrics report that clients may push.", "client telemetry is not built yet"
    ),
    Key("server.max.startup.time.ms", LONG, LONG_MAX, at_least(0), internal=True).refused(
        "Maximum duration of a startup.", "a start is not timed"
    ),
    Key("unstable.api.versions.enable", BOOLEAN, False, importance=HIGH, internal=True).refused(
        "Offers API versions that are not final.", "versions that are not final are never offered"
    ),
    Key("unstable.feature.versions.enable", BOOLEAN, False, importance=HIGH, internal=True).refused(
        "Allows feature levels that are not final.", "levels that are not final are never finalised"
    ),
)

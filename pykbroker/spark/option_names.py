"""The options of the source: those of Spark's Kafka source under the same
names, and additional ones.

Beside those of pykbroker, and `storage.NAME` for pyarrow.fs, there are four kinds:

    honoured    has the connector's meaning and default
    ignored     concerns brokers and their clients, which are not used here: to move a job, change
                `format` and add `path`
    refused     the connector also rejects it; the error says why, or what to use instead
    unknown     rejected by name
"""

from __future__ import annotations

from typing import Final

#: Options of pykbroker.
OWN_OPTIONS: Final = (
    "path",
    "paths",
    "view",
    "isolation",
    "columns",
    "where",
    "includeBatchMetadata",
    "endBound",
    "mode",
    "corruptBatchSink",
    "corruptBatchFormat",
    "verifyChecksums",
    "decoder",
    "pushdown",
    "splitBytes",
    "chunkBytes",
    "maxBytesPerTrigger",
    "maxDecompressedBytes",
)
#: Options of Spark's Kafka source with the same meaning.
CONNECTOR_OPTIONS: Final = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "includeHeaders",
    "failOnDataLoss",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "kafka.isolation.level",
    "kafka.check.crcs",
)
#: How the connector talks to brokers: there are none here.
IGNORED_OPTIONS: Final = frozenset(
    {
        "fetchoffset.numretries",
        "fetchoffset.retryintervalms",
        "groupidprefix",
        "kafkaconsumer.polltimeoutms",
        "kafka.allow.auto.create.topics",
        "kafka.auto.commit.interval.ms",
        "kafka.auto.include.jmx.reporter",
        "kafka.bootstrap.servers",
        "kafka.client.dns.lookup",
        "kafka.client.id",
        "kafka.client.rack",
        "kafka.connections.max.idle.ms",
        "kafka.default.api.timeout.ms",
        "kafka.enable.metrics.push",
        "kafka.exclude.internal.topics",
        "kafka.group.id",
        "kafka.group.instance.id",
        "kafka.group.protocol",
        "kafka.group.remote.assignor",
        "kafka.heartbeat.interval.ms",
        "kafka.max.partition.fetch.bytes",
        "kafka.max.poll.interval.ms",
        "kafka.max.poll.records",
        "kafka.partition.assignment.strategy",
        "kafka.receive.buffer.bytes",
        "kafka.request.timeout.ms",
        "kafka.send.buffer.bytes",
        "kafka.session.timeout.ms",
        "kafka.security.protocol",
        "kafka.security.providers",
        "kafka.socket.connection.setup.timeout.max.ms",
        "kafka.socket.connection.setup.timeout.ms",
    }
)
#: Families of such options.
IGNORED_PREFIXES: Final = (
    "kafka.config.providers",
    "kafka.fetch.",
    "kafka.metadata.",
    "kafka.metric",
    "kafka.reconnect.backoff.",
    "kafka.retry.backoff.",
    "kafka.sasl.",
    "kafka.ssl.",
)
#: Options that the connector refuses, and why.
REFUSED_OPTIONS: Final = {
    "kafka.auto.offset.reset": "use startingOffsets",
    "kafka.enable.auto.commit": "offsets are kept by Spark's checkpoints, nothing is committed",
    "kafka.interceptor.classes": "records are given as they are written",
    "kafka.key.deserializer": "keys are bytes; cast or decode the column",
    "kafka.key.serializer": "keys are bytes",
    "kafka.value.deserializer": "values are bytes; cast or decode the column",
    "kafka.value.serializer": "values are bytes",
}
#: Passed on to pyarrow.fs as options of the URI, with the name behind it.
STORAGE_PREFIX: Final = "storage."

CANONICAL: Final = {name.lower(): name for name in (*OWN_OPTIONS, *CONNECTOR_OPTIONS)}


def is_ignored(name: str) -> bool:
    """Return whether an option (in lower case) has a meaning only for the connector."""
    return name in IGNORED_OPTIONS or name.startswith(IGNORED_PREFIXES)

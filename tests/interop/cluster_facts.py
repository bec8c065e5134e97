"""What stock clients can see of a node: to compare before and after its directory moved.

`facts(servers, topics)` reads everything: ids, configurations, bounds, every record in both
isolation levels, time look-ups, groups, sizes. `dumps(data_dir)` holds our dump-log against
Apache's DumpLogSegments, over every file of every partition.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from pykbroker.cli.main import main
from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from pykbroker.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from tests.harness.apache import DUMP_LOG, run_tool
from tests.harness.consumed import offset_of
from tests.harness.raw_client import RawClient

DYNAMIC = (1, 2, 3)  # of the topic, of the broker, of all brokers


class Record(NamedTuple):
    """One record as a consumer has it."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: tuple[int, int]
    headers: tuple[tuple[str, bytes | None], ...]


def records_of(
    servers: str, partitions: list[TopicPartition], isolation: str
) -> dict[str, list[Record]]:
    """Per partition everything up to the end that this isolation level may see."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "facts",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "check.crcs": True,
            "fetch.wait.max.ms": 20,
        }
    )
    consumer.assign([TopicPartition(at.topic, at.partition, OFFSET_BEGINNING) for at in partitions])
    found: dict[str, list[Record]] = {f"{at.topic}-{at.partition}": [] for at in partitions}
    unfinished = set(found)
    while unfinished:
        message = consumer.poll(60)
        assert message is not None, f"nothing more of {unfinished}"
        name = f"{message.topic()}-{message.partition()}"
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            unfinished.discard(name)
            continue
        headers: Any = tuple(message.headers() or ())
        found[name].append(
            Record(offset_of(message), message.key(), message.value(), message.timestamp(), headers)
        )
    consumer.close()
    return found


def facts(servers: str, topics: list[str], groups: list[str]) -> dict[str, Any]:
    """All of it by name, so that a difference names itself."""
    admin = AdminClient({"bootstrap.servers": servers})
    found: dict[str, Any] = {"cluster": admin.describe_cluster().result(60).cluster_id}
    described = admin.describe_topics(TopicCollection(topics))
    partitions: list[TopicPartition] = []
    for topic in topics:
        description = described[topic].result(60)
        found[f"{topic} id"] = str(description.topic_id)
        partitions += [TopicPartition(topic, each.id) for each in description.partitions]
    found["configurations"] = configurations(admin, topics)
    for isolation in ("read_uncommitted", "read_committed"):
        for name, records in records_of(servers, partitions, isolation).items():
            found[f"{name} {isolation}"] = records
    for at in partitions:
        name = f"{at.topic}-{at.partition}"
        found[f"{name} bounds"] = bounds(admin, at, found[f"{name} read_uncommitted"])
    for group in groups:
        wanted = [ConsumerGroupTopicPartitions(group)]
        answer = admin.list_consumer_group_offsets(wanted)[group].result(60)
        found[f"group {group}"] = sorted(
            (at.topic, at.partition, at.offset, at.metadata) for at in answer.topic_partitions
        )
    found["sizes"] = sizes(servers, topics)
    found["producers"] = producers(servers, partitions)
    return found


def bounds(admin: AdminClient, at: TopicPartition, records: list[Record]) -> list[tuple[int, int]]:
    """First and last offset in both isolations, the highest timestamp, some look-ups by time."""
    wanted = [OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.max_timestamp()]
    wanted += [
        OffsetSpec.for_timestamp(record.timestamp[1])
        for record in records[:: max(len(records) // 5, 1)]
    ]
    found = []
    for level in (IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED):
        for spec in wanted:
            answer = admin.list_offsets({at: spec}, isolation_level=level)[at].result(60)
            found.append((answer.offset, answer.timestamp))
    return found


def configurations(admin: AdminClient, topics: list[str]) -> dict[str, dict[str, str | None]]:
    """What was set, over the topics and the brokers."""
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    resources.append(ConfigResource(ResourceType.BROKER, "1"))
    return {
        resource.name: {
            name: entry.value
            for name, entry in future.result(60).items()
            if entry.source in DYNAMIC
        }
        for resource, future in admin.describe_configs(resources).items()
    }


def sizes(servers: str, topics: list[str]) -> dict[tuple[str, int], tuple[int, int, bool]]:
    """DescribeLogDirs: partition -> (size, lag, is a future replica)."""
    with RawClient(servers) as client:
        answer = client.ask("DescribeLogDirs", 4, DescribeLogDirsRequest(topics=None))
    (directory,) = answer.results
    assert directory.error_code == 0
    assert 0 < directory.usable_bytes < directory.total_bytes
    return {
        (topic.name, at.partition_index): (at.partition_size, at.offset_lag, at.is_future_key)
        for topic in directory.topics
        if topic.name in topics
        for at in topic.partitions
    }


def producers(servers: str, partitions: list[TopicPartition]) -> dict[tuple[str, int], Any]:
    """DescribeProducers: what the log remembers of idempotent and transactional producers."""
    wanted: dict[str, list[int]] = {}
    for at in partitions:
        wanted.setdefault(at.topic, []).append(at.partition)
    topics = [TopicRequest(name=name, partition_indexes=ids) for name, ids in wanted.items()]
    with RawClient(servers) as client:
        answer = client.ask("DescribeProducers", 0, DescribeProducersRequest(topics=topics))
    return {
        (topic.name, at.partition_index): sorted(
            (
                each.producer_id,
                each.producer_epoch,
                each.last_sequence,
                each.coordinator_epoch,
                each.current_txn_start_offset,
            )
            for each in at.active_producers
        )
        for topic in answer.topics
        for at in topic.partitions
    }


def dumps_agree(data_dir: Path, topics: list[str]) -> None:
    """Both tools say the same of every file of these topics and find nothing wrong with them."""
    files: list[str] = []
    for topic in topics:
        for suffix in ("log", "index", "timeindex", "txnindex", "snapshot"):
            files += [str(f) for f in sorted(data_dir.glob(f"{topic}-[0-9]*/*.{suffix}"))]
    files = [name for name in files if Path(name).stat().st_size]
    assert len(files) >= 3 * len(topics)
    arguments = ("--deep-iteration", "--print-data-log", "--files", ",".join(files))
    theirs = run_tool(DUMP_LOG, *arguments, timeout_s=600)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["dump-log", *arguments]) == 0
    assert printed.getvalue().splitlines() == theirs.splitlines()
    assert "mismatch" not in theirs.lower()
    with contextlib.redirect_stdout(io.StringIO()) as verified:
        code = main(["dump-log", "--verify", "--files", str(data_dir)])
    assert code == 0, verified.getvalue()


def same_but(before: dict[str, Any], after: dict[str, Any], *changing: str) -> None:
    """Everything is as before, but for the names given."""
    assert before.keys() == after.keys()
    for name, value in before.items():
        if name not in changing:
            assert after[name] == value, name


def table(servers: str, topic: str) -> dict[bytes | None, bytes | None]:
    """Key -> last value of partition 0: what compaction must never change."""
    (records,) = records_of(servers, [TopicPartition(topic, 0)], "read_committed").values()
    return {record.key: record.value for record in records}

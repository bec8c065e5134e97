"""A long conversation about topics, configurations and the cluster, for Apache Kafka and for us.

Like data_plane_script; the texts of errors are compared too. Ids, ports and directories may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pykbroker.protocol.messages import (
    alter_configs_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    describe_cluster_request,
    describe_configs_request,
    describe_quorum_request,
    describe_topic_partitions_request,
    incremental_alter_configs_request,
    list_config_resources_request,
    metadata_request,
    update_features_request,
)
from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for

TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32
ZERO_UUID = bytes(16)
UNKNOWN_ID = b"nobody knows me!"
FRESH_TIMES = ("last_fetch_timestamp", "last_caught_up_timestamp")
OWN_VALUES = {
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "group.initial.rebalance.delay.ms",
    "listener.security.protocol.map",
    "listeners",
    "log.dir",
    "log.dirs",
    "node.id",
    "process.roles",
    "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.replication.factor",
}


class Line(NamedTuple):
    """What to say; `label` names it in a failure."""

    label: str
    api: str
    version: int
    message: Message


class Play:
    """One conversation with one broker."""

    def __init__(self, bootstrap_servers: str, is_slow_to_see: bool = False) -> None:
        self.client = RawClient(bootstrap_servers)
        self.ids: dict[str, bytes] = {}
        self._is_slow_to_see = is_slow_to_see

    def say(self, line: Line) -> tuple[str, Any]:
        """Label and normalised answer."""
        answer = self.client.ask(line.api, line.version, line.message)
        if self._is_slow_to_see and not getattr(line.message, "validate_only", False):
            self._await_change(line, answer)
        if line.api == "CreateTopics" and line.version >= 7:
            self.ids |= {t.name: t.topic_id for t in answer.topics if any(t.topic_id)}
        return f"{line.api} v{line.version} {line.label}", self.plain(answer)

    def _await_change(self, line: Line, answer: Any) -> None:
        """Until the broker has seen what its controller committed."""
        if line.api == "CreateTopics":
            counts = {entry.name: 1 for entry in answer.topics if entry.error_code == 0}
        elif line.api == "DeleteTopics":
            counts = {entry.name: 0 for entry in answer.responses if entry.error_code == 0}
        elif line.api == "CreatePartitions":
            asked = {topic.name: topic.count for topic in line.message.topics}  # type: ignore[attr-defined]
            counts = {each.name: asked[each.name] for each in answer.results if not each.error_code}
        else:
            return
        for name, count in counts.items():
            wait_for(lambda n=name, c=count: self._shows(n, c), f"{name} of {count} partitions")  # type: ignore[misc]

    def _shows(self, name: str, partitions: int) -> bool:
        """Whether there are so many partitions, or more; whether there is no topic, for 0."""
        asked = metadata_request.MetadataRequestTopic(name=name)
        request = metadata_request.MetadataRequest(topics=[asked], allow_auto_topic_creation=False)
        (found,) = self.client.ask("Metadata", 12, request).topics
        count = 0 if found.error_code else len(found.partitions)
        return count >= partitions if partitions else found.error_code != 0

    def plain(self, value: Any, name: str = "") -> Any:
        """Dicts, lists and numbers, without what differs from broker to broker."""
        if isinstance(value, Message):
            slots = [s for s in type(value).__slots__ if s != "unknown_tags"]  # type: ignore[attr-defined]
            fields = {slot: self.plain(getattr(value, slot), slot) for slot in slots}
            if fields.get("name") in OWN_VALUES and "config_source" in fields:
                return {"name": fields["name"]}
            return {"": type(value).__name__} | fields
        if isinstance(value, list):
            items = [self.plain(item) for item in value]
            return sorted(items, key=repr) if items and isinstance(items[0], dict) else items
        if isinstance(value, bytes) and len(value) == 16:
            return {raw: text for text, raw in self.ids.items()}.get(value, value != ZERO_UUID)
        if name in ("cluster_id", "port"):
            return value is not None
        if name in FRESH_TIMES:
            return value > 0
        if name in ("leader_epoch", "high_watermark", "log_end_offset", "finalized_features_epoch"):
            return value >= 0
        if isinstance(value, str):
            return re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", value)
        return value


def play(bootstrap_servers: str, is_slow_to_see: bool = False) -> list[tuple[str, Any]]:
    """Speak every line; what came back.

    `is_slow_to_see`: the broker answers before it sees what its controller has committed, as
    Apache's does: wait until it does.
    """
    story = Play(bootstrap_servers, is_slow_to_see)
    heard = [story.say(line) for line in lines(story)]
    story.client.close()
    return heard


def lines(story: Play) -> Iterator[Line]:
    """The whole story."""
    yield from _create_lines()
    yield from _metadata_lines(story)
    yield from _partition_lines()
    yield from _describe_config_lines()
    yield from _alter_lines()
    yield from _incremental_lines()
    yield from _cluster_lines()
    yield from _delete_lines(story)


# ---- CreateTopics


def create(
    *topics: dict[str, Any], validate_only: bool = False
) -> create_topics_request.CreateTopicsRequest:
    made = []
    for fields in topics:
        configs = [
            create_topics_request.CreatableTopicConfig(name=key, value=value)
            for key, value in fields.get("configs", {}).items()
        ]
        assignments = [
            create_topics_request.CreatableReplicaAssignment(partition_index=p, broker_ids=brokers)
            for p, brokers in fields.get("assignments", [])
        ]
        counts = (
            {"num_partitions": 1, "replication_factor": 1}
            if not assignments
            else {
                "num_partitions": -1,
                "replication_factor": -1,
            }
        )
        rest = {k: v for k, v in fields.items() if k not in ("configs", "assignments")}
        made.append(
            create_topics_request.CreatableTopic(
                configs=configs, assignments=assignments, **counts | rest
            )
        )
    return create_topics_request.CreateTopicsRequest(
        timeout_ms=60_000, topics=made, validate_only=validate_only
    )


def _create_lines() -> Iterator[Line]:
    def line(label: str, version: int, *topics: dict[str, Any], **more: Any) -> Line:
        return Line(label, "CreateTopics", version, create(*topics, **more))

    for version in (2, 4, 5, 7):
        v = f"v{version}"
        yield line("one", version, {"name": f"one-{v}"})
        yield line("again", version, {"name": f"one-{v}"})
        yield line("two", version, {"name": f"two-{v}", "num_partitions": 3}, {"name": f"x-{v}"})
        yield line("validate only", version, {"name": f"not-{v}"}, validate_only=True)
        yield line("with configs", version, {"name": f"c-{v}", "configs": {"retention.ms": "5"}})
        yield line(
            "an assignment", version, {"name": f"a-{v}", "assignments": [(0, [1]), (1, [1])]}
        )
        bad: dict[str, dict[str, Any]] = {
            "bad name": {"name": "a b"},
            "empty name": {"name": ""},
            "dot": {"name": "."},
            "dots": {"name": ".."},
            "long name": {"name": "x" * 250},
            "a name like another but for a dot": {"name": ("a.b", "a_b")[version > 2]},
            "0 partitions": {"name": "bad", "num_partitions": 0},
            "-2 partitions": {"name": "bad", "num_partitions": -2},
            "factor 0": {"name": "bad", "replication_factor": 0},
            "factor 2": {"name": "bad", "replication_factor": 2},
            "factor -2": {"name": "bad", "replication_factor": -2},
            "unknown config": {"name": "bad", "configs": {"no.such": "1"}},
            "bad config": {"name": "bad", "configs": {"retention.ms": "x"}},
            "config out of range": {"name": "bad", "configs": {"segment.bytes": "1"}},
            "null config": {"name": "bad", "configs": {"retention.ms": None}},
            "bad policy": {"name": "bad", "configs": {"cleanup.policy": "shred"}},
            "assignment with a hole": {"name": "bad", "assignments": [(1, [1])]},
            "assignment to nobody": {"name": "bad", "assignments": [(0, [9])]},
            "assignment twice": {"name": "bad", "assignments": [(0, [1, 1])]},
            "assignment of nothing": {"name": "bad", "assignments": [(0, [])]},
            "assignment and counts": {
                "name": "bad",
                "assignments": [(0, [1])],
                "num_partitions": 1,
            },
            "metadata": {"name": "__cluster_metadata"},
        }
        for label, topic in bad.items():
            yield line(label, version, topic)
        yield line("one twice", version, {"name": "twice"}, {"name": "twice"})
        yield line("nothing", version)
        if version >= 4:
            fields = {"num_partitions": -1, "replication_factor": -1}
            yield line("defaults", version, {"name": f"d-{v}"} | fields)


# ---- Metadata and descriptions


def _metadata_lines(story: Play) -> Iterator[Line]:
    def ask(*names: str | None, **more: Any) -> metadata_request.MetadataRequest:
        topics = [metadata_request.MetadataRequestTopic(name=name) for name in names]
        return metadata_request.MetadataRequest(**{"topics": topics} | more)

    quiet = {"allow_auto_topic_creation": False}
    for version in range(14):
        rest = quiet if version >= 4 else {}
        yield Line("one", "Metadata", version, ask("two-v7", **rest))
        yield Line("two", "Metadata", version, ask("two-v7", "one-v7", **rest))
        yield Line("a bad name", "Metadata", version, ask("a b", **rest))
        yield Line("none" if version else "all", "Metadata", version, ask(**rest))
        if version >= 1:
            yield Line("all", "Metadata", version, ask(topics=None, **rest))
        if version >= 4:
            yield Line("unknown", "Metadata", version, ask("missing", **rest))
            yield Line("twice", "Metadata", version, ask("two-v7", "two-v7", **rest))
        if version >= 8:
            more = rest | {"include_topic_authorized_operations": True}
            yield Line("operations", "Metadata", version, ask("one-v7", **more))
        if 8 <= version <= 10:
            more = rest | {"include_cluster_authorized_operations": True}
            yield Line("cluster operations", "Metadata", version, ask("one-v7", **more))
        if version >= 10:
            by_id = [
                metadata_request.MetadataRequestTopic(name=None, topic_id=story.ids["two-v7"]),
                metadata_request.MetadataRequestTopic(name=None, topic_id=UNKNOWN_ID),
            ]
            for some in (by_id[:1], by_id[1:], by_id):
                yield Line(f"{len(some)} by id", "Metadata", version, ask(topics=some, **rest))
    yield Line("auto creation", "Metadata", 9, ask("made-by-asking"))
    for limit, cursor in ((2000, None), (2, None), (2, ("two-v7", 1)), (0, None), (5, ("x-v7", 0))):
        message = describe_topic_partitions_request.DescribeTopicPartitionsRequest(
            topics=[
                describe_topic_partitions_request.TopicRequest(name=name)
                for name in ("two-v7", "one-v7", "missing", "x-v7")
            ],
            response_partition_limit=limit,
            cursor=None
            if cursor is None
            else describe_topic_partitions_request.Cursor(
                topic_name=cursor[0], partition_index=cursor[1]
            ),
        )
        yield Line(f"{limit} from {cursor}", "DescribeTopicPartitions", 0, message)


def _partition_lines() -> Iterator[Line]:
    def line(label: str, version: int, *asked: tuple[str, int, Any], **more: Any) -> Line:
        topics = [
            create_partitions_request.CreatePartitionsTopic(
                name=name,
                count=count,
                assignments=None
                if brokers is None
                else [
                    create_partitions_request.CreatePartitionsAssignment(broker_ids=b)
                    for b in brokers
                ],
            )
            for name, count, brokers in asked
        ]
        message = create_partitions_request.CreatePartitionsRequest(
            topics=topics, **{"timeout_ms": 60_000} | more
        )
        return Line(label, "CreatePartitions", version, message)

    for version in range(4):
        name = "one-v7"
        yield line("two more", version, (name, 3 + 2 * version, None))
        yield line("no time", version, (name, 40, None), timeout_ms=0)
        yield line("as many", version, (name, 3 + 2 * version, None))
        yield line("fewer", version, (name, 1, None))
        yield line("0", version, (name, 0, None))
        yield line("unknown", version, ("missing", 3, None))
        yield line("assigned", version, ("x-v7", 2 + version, [[1]]))
        yield line("too few assigned", version, ("x-v7", 20, [[1]]))
        yield line("assigned to nobody", version, ("x-v7", 3 + version, [[9]]))
        yield line("validate only", version, (name, 50, None), validate_only=True)
        yield line("twice", version, (name, 30, None), (name, 31, None))
        yield line("nothing", version)


# ---- configurations


def _describe_config_lines() -> Iterator[Line]:
    def line(label: str, version: int, *asked: tuple[int, str, Any], **more: Any) -> Line:
        message = describe_configs_request.DescribeConfigsRequest(
            resources=[
                describe_configs_request.DescribeConfigsResource(
                    resource_type=kind, resource_name=name, configuration_keys=keys
                )
                for kind, name, keys in asked
            ],
            **more,
        )
        return Line(label, "DescribeConfigs", version, message)

    for version in range(1, 5):
        yield line("a topic", version, (TOPIC, "c-v7", None))
        yield line("with synonyms", version, (TOPIC, "c-v7", None), include_synonyms=True)
        yield line("two keys", version, (TOPIC, "c-v7", ["retention.ms", "segment.bytes", "no"]))
        yield line("no keys", version, (TOPIC, "c-v7", []))
        yield line("unknown topic", version, (TOPIC, "missing", None))
        yield line("bad topic", version, (TOPIC, "a b", None))
        yield line("broker", version, (BROKER, "1", None))
        yield line("broker, synonyms", version, (BROKER, "1", None), include_synonyms=True)
        yield line("all brokers", version, (BROKER, "", None))
        yield line("another broker", version, (BROKER, "9", None))
        yield line("no broker id", version, (BROKER, "x", None))
        yield line("unknown type", version, (77, "x", None))
        yield line("group", version, (GROUP, "g", None))
        yield line("group without a name", version, (GROUP, "", None))
        yield line("twice", version, (TOPIC, "c-v7", ["retention.ms"]), (TOPIC, "c-v7", None))


def _alter_lines() -> Iterator[Line]:
    def line(label: str, version: int, kind: int, name: str, **more: Any) -> Line:
        validate = more.pop("validate_only", False)
        configs = [
            alter_configs_request.AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in more.items()
        ]
        message = alter_configs_request.AlterConfigsRequest(
            validate_only=validate,
            resources=[
                alter_configs_request.AlterConfigsResource(
                    resource_type=kind, resource_name=name, configs=configs
                )
            ],
        )
        return Line(label, "AlterConfigs", version, message)

    for version in range(3):
        yield line("set", version, TOPIC, "c-v5", retention_ms="77", cleanup_policy="compact")
        yield line("replace", version, TOPIC, "c-v5", segment_bytes="2000000")
        yield line("clear", version, TOPIC, "c-v5")
        yield line("bad value", version, TOPIC, "c-v5", retention_ms="x")
        yield line("unknown key", version, TOPIC, "c-v5", no_such="x")
        yield line("null", version, TOPIC, "c-v5", retention_ms=None)
        yield line("unknown topic", version, TOPIC, "missing", retention_ms="1")
        yield line("validate only", version, TOPIC, "c-v5", retention_ms="1", validate_only=True)
        yield line("broker", version, BROKER, "1", log_retention_ms="123456")
        yield line("all brokers", version, BROKER, "", log_retention_ms="654321")
        yield line("read only", version, BROKER, "1", log_dirs="/x")
        yield line("another broker", version, BROKER, "9", log_retention_ms="1")
        yield line("unknown type", version, 77, "x", a="b")


def _incremental_lines() -> Iterator[Line]:
    def line(label: str, version: int, kind: int, name: str, *ops: Any, **more: Any) -> Line:
        message = incremental_alter_configs_request.IncrementalAlterConfigsRequest(
            resources=[
                incremental_alter_configs_request.AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[
                        incremental_alter_configs_request.AlterableConfig(
                            name=key, config_operation=op, value=value
                        )
                        for key, op, value in ops
                    ],
                )
            ],
            **more,
        )
        return Line(label, "IncrementalAlterConfigs", version, message)

    setting, delete, append, subtract = range(4)
    for version in (0, 1):
        topic = ("c-v4", "c-v2")[version]
        yield line("set", version, TOPIC, topic, ("retention.ms", setting, "99"))
        yield line("delete", version, TOPIC, topic, ("retention.ms", delete, None))
        yield line("append", version, TOPIC, topic, ("cleanup.policy", append, "compact"))
        yield line("append again", version, TOPIC, topic, ("cleanup.policy", append, "compact"))
        yield line("subtract", version, TOPIC, topic, ("cleanup.policy", subtract, "delete"))
        yield line("append to no list", version, TOPIC, topic, ("retention.ms", append, "1"))
        yield line("null", version, TOPIC, topic, ("retention.ms", setting, None))
        yield line("unknown operation", version, TOPIC, topic, ("retention.ms", 9, "1"))
        yield line("unknown key", version, TOPIC, topic, ("no.such", setting, "1"))
        yield line("bad value", version, TOPIC, topic, ("retention.ms", setting, "x"))
        twice = [("retention.ms", setting, "1"), ("retention.ms", delete, None)]
        yield line("a key twice", version, TOPIC, topic, *twice)
        yield line("unknown topic", version, TOPIC, "missing", ("retention.ms", setting, "1"))
        yield line("broker", version, BROKER, "1", ("log.cleaner.threads", setting, "2"))
        yield line("broker, read only", version, BROKER, "1", ("node.id", setting, "2"))
        yield line("all brokers", version, BROKER, "", ("log.retention.ms", setting, "777"))
        yield line("undo", version, BROKER, "", ("log.retention.ms", delete, None))
        yield line("undo here", version, BROKER, "1", ("log.cleaner.threads", delete, None))
        yield line("group", version, GROUP, "g", ("consumer.session.timeout.ms", setting, "50000"))
        yield line("group, bad", version, GROUP, "g", ("consumer.session.timeout.ms", setting, "1"))
        yield line("logger", version, LOGGER, "1", ("kafka", setting, "INFO"))
        yield line("unknown type", version, 77, "x", ("a", setting, "b"))
        yield line(
            "validate only",
            version,
            TOPIC,
            topic,
            ("retention.ms", setting, "5"),
            validate_only=True,
        )
    for version in (0, 1):
        for kinds in ((), (TOPIC,), (BROKER,), (GROUP,), (TOPIC, GROUP), (LOGGER,), (77,)):
            if version or not kinds:
                message = list_config_resources_request.ListConfigResourcesRequest(
                    resource_types=list(kinds)
                )
                yield Line(f"of {kinds}", "ListConfigResources", version, message)


def _cluster_lines() -> Iterator[Line]:
    for version in range(3):
        for fields in (
            {},
            {"include_cluster_authorized_operations": True},
            {"endpoint_type": 2},
            {"endpoint_type": 3},
            {"include_fenced_brokers": True},
        ):
            if (version >= 1 or "endpoint_type" not in fields) and (
                version >= 2 or "include_fenced_brokers" not in fields
            ):
                message = describe_cluster_request.DescribeClusterRequest(**fields)
                yield Line(f"{fields}", "DescribeCluster", version, message)
    for version in range(3):
        for topic, partition in (
            ("__cluster_metadata", 0),
            ("__cluster_metadata", 1),
            ("two-v7", 0),
        ):
            message = describe_quorum_request.DescribeQuorumRequest(
                topics=[
                    describe_quorum_request.TopicData(
                        topic_name=topic,
                        partitions=[
                            describe_quorum_request.PartitionData(partition_index=partition)
                        ],
                    )
                ]
            )
            yield Line(f"{topic}-{partition}", "DescribeQuorum", version, message)
    for version in range(3):
        for feature, level in (("no.such", 1), ("metadata.version", 1), ("metadata.version", 999)):
            message = update_features_request.UpdateFeaturesRequest(
                timeout_ms=60_000,
                feature_updates=[
                    update_features_request.FeatureUpdateKey(
                        feature=feature, max_version_level=level
                    )
                ],
            )
            yield Line(f"{feature} {level}", "UpdateFeatures", version, message)


def _delete_lines(story: Play) -> Iterator[Line]:
    for version in range(1, 6):
        for names in (
            [("one-v2", "one-v4", "one-v5", "x-v2", "x-v4")[version - 1]],
            ["missing"],
            ["a b"],
            ["two-v2", "two-v2"],
            [],
        ):
            message = delete_topics_request.DeleteTopicsRequest(
                topic_names=names, timeout_ms=60_000
            )
            yield Line(f"{names}", "DeleteTopics", version, message)
    state = delete_topics_request.DeleteTopicState
    for label, topics in (
        ("by name", [state(name="x-v7")]),
        ("by id", [state(name=None, topic_id=story.ids["two-v7"])]),
        ("by id again", [state(name=None, topic_id=story.ids["two-v7"])]),
        ("unknown id", [state(name=None, topic_id=UNKNOWN_ID)]),
        ("by both", [state(name="one-v7", topic_id=story.ids["one-v7"])]),
        ("by neither", [state(name=None)]),
        ("twice", [state(name="c-v7"), state(name="c-v7")]),
        ("by name and by id", [state(name="c-v7"), state(name=None, topic_id=story.ids["c-v7"])]),
    ):
        message = delete_topics_request.DeleteTopicsRequest(topics=topics, timeout_ms=60_000)
        yield Line(label, "DeleteTopics", 6, message)

"""The part of admin_script about topics: created, described, extended, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pykbroker.protocol.messages import (
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    describe_topic_partitions_request,
    metadata_request,
)
from tests.interop.conversation import UNKNOWN_ID, Line, Story


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


def create_lines() -> Iterator[Line]:
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


def metadata_lines(story: Story) -> Iterator[Line]:
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


def partition_lines() -> Iterator[Line]:
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


def delete_lines(story: Story) -> Iterator[Line]:
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

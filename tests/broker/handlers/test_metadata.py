"""Metadata: every version, names and ids, auto-creation, brokers that cannot be reached."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.metadata import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.broker.handlers.admin_broker import AdminBroker
from tests.harness.records import partition_record

NOT_ASKED = -(2**31)


@pytest.fixture
def broker() -> AdminBroker:
    return AdminBroker()


def ask(
    broker: AdminBroker,
    version: int,
    *names: str | None,
    ids: tuple[bytes, ...] = (),
    every: bool = False,
    **fields: Any,
) -> Any:
    topics = None
    if not every:
        topics = [MetadataRequestTopic(name=name) for name in names]
        topics += [MetadataRequestTopic(name=None, topic_id=topic_id) for topic_id in ids]
    message = MetadataRequest(topics=topics)
    for name, value in fields.items():
        setattr(message, name, value)
    return broker.call(HANDLER, message, version)


def codes(answer: Any) -> dict[str | None, str]:
    return {topic.name: ErrorCode(topic.error_code).name for topic in answer.topics}


@pytest.mark.parametrize("version", range(14))
def test_every_version(broker: AdminBroker, version: int) -> None:
    topic = broker.create("t", 2)
    answer = ask(broker, version, "t")
    assert [(at.node_id, at.host, at.port) for at in answer.brokers] == [(1, "127.0.0.1", 9092)]
    (found,) = answer.topics
    assert (found.error_code, found.name, found.is_internal) == (0, "t", False)
    assert [partition.partition_index for partition in found.partitions] == [0, 1]
    partition = found.partitions[0]
    assert (partition.error_code, partition.leader_id) == (0, 1)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
    assert partition.offline_replicas == []
    assert partition.leader_epoch == (0 if version >= 7 else -1)
    assert found.topic_id == (topic.id if version >= 10 else bytes(16))
    assert answer.cluster_id == (broker.cluster_id if version >= 2 else None)
    assert answer.controller_id == (1 if version >= 1 else -1)


def test_an_answer_stems_from_one_image_whatever_is_published_meanwhile(
    broker: AdminBroker,
) -> None:
    names = [f"t{number:02}" for number in range(20)]
    before = {name: broker.create(name).id for name in names}

    def breathe() -> None:
        broker.breaths += 1
        if broker.breaths == 7:
            broker.publish(*[RemoveTopicRecord(topic_id=before[name]) for name in names[10:]])
            broker.publish(TopicRecord(name="late", topic_id=b"late".ljust(16)))

    broker.breathe = breathe  # type: ignore[method-assign]
    for asked in ({"every": True}, {"ids": tuple(before.values())}):
        broker.breaths = 0
        answer = ask(broker, 12, **asked)
        assert {topic.name: topic.topic_id for topic in answer.topics} == before
        broker.publish(TopicRecord(name="t99", topic_id=b"t99".ljust(16)))
        for name in names[10:]:
            broker.publish(
                TopicRecord(name=name, topic_id=before[name]), partition_record(before[name])
            )
        broker.publish(
            RemoveTopicRecord(topic_id=b"late".ljust(16)),
            RemoveTopicRecord(topic_id=b"t99".ljust(16)),
        )
    broker.breaths = 0
    assert set(codes(ask(broker, 12, *names))) == set(names)
    broker.breaths = 20
    assert set(codes(ask(broker, 12, every=True))) == {*names[:10], "late"}


def test_all_topics(broker: AdminBroker) -> None:
    broker.create("a")
    broker.create("b")
    assert set(codes(ask(broker, 0))) == {"a", "b"}
    assert set(codes(ask(broker, 1))) == set()
    for version in (1, 5, 9, 13):
        assert set(codes(ask(broker, version, every=True))) == {"a", "b"}


def test_by_id(broker: AdminBroker) -> None:
    topic = broker.create("t")
    unknown = b"u" * 16
    answer = ask(broker, 12, ids=(topic.id, unknown))
    assert [(at.name, at.topic_id, at.error_code) for at in answer.topics] == [
        ("t", topic.id, 0),
        (None, unknown, ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    assert ask(broker, 10, ids=(topic.id,)).topics[0].error_code == ErrorCode.INVALID_REQUEST
    (nothing,) = ask(broker, 11, None).topics
    assert nothing.error_code == ErrorCode.INVALID_REQUEST
    assert ask(broker, 12, None).topics == []


def test_the_whole_answer_has_an_error_from_version_13(broker: AdminBroker) -> None:
    assert ask(broker, 13, "t").error_code == 0
    assert ask(broker, 13, ids=(b"x" * 16,)).error_code == 0


def test_names_twice_come_once(broker: AdminBroker) -> None:
    broker.create("t")
    assert [topic.name for topic in ask(broker, 5, "t", "t").topics] == ["t"]


def test_auto_creation(broker: AdminBroker) -> None:
    assert codes(ask(broker, 4, "new")) == {"new": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert codes(ask(broker, 4, "new")) == {"new": "NONE"}
    assert len(broker.image.topics_by_name["new"].partitions) == 1


def test_versions_before_4_always_create(broker: AdminBroker) -> None:
    ask(broker, 3, "new")
    assert "new" in broker.image.topics_by_name


def test_auto_creation_refused_by_the_client(broker: AdminBroker) -> None:
    ask(broker, 4, "new", allow_auto_topic_creation=False)
    assert "new" not in broker.image.topics_by_name


def test_auto_creation_refused_by_the_broker() -> None:
    broker = AdminBroker(auto_create_topics_enable="false")
    assert codes(ask(broker, 4, "new")) == {"new": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert "new" not in broker.image.topics_by_name


def test_names_that_are_none(broker: AdminBroker) -> None:
    answer = ask(broker, 5, "a b", "", "x" * 250, "..")
    assert set(codes(answer).values()) == {"INVALID_TOPIC_EXCEPTION"}
    assert broker.image.topics_by_name == {}


def test_the_topic_of_the_share_coordinator_is_not_created(broker: AdminBroker) -> None:
    answer = ask(broker, 5, "__share_group_state")
    assert set(codes(answer).values()) == {"UNKNOWN_TOPIC_OR_PARTITION"}
    assert broker.image.topics_by_name == {}


def test_the_topic_of_the_transactions_gets_its_own_configuration(broker: AdminBroker) -> None:
    ask(broker, 5, "__transaction_state")
    (found,) = ask(broker, 5, "__transaction_state").topics
    assert (found.is_internal, len(found.partitions)) == (True, 50)
    assert broker.image.topic_config("__transaction_state")["cleanup.policy"] == "compact"


def test_the_topic_of_the_groups_gets_its_own_configuration(broker: AdminBroker) -> None:
    ask(broker, 5, "__consumer_offsets")
    (found,) = ask(broker, 5, "__consumer_offsets").topics
    assert found.is_internal
    assert len(found.partitions) == 50
    assert broker.image.topic_config("__consumer_offsets")["cleanup.policy"] == "compact"


@pytest.mark.parametrize("version", range(8, 14))
def test_authorized_operations(broker: AdminBroker, version: int) -> None:
    broker.create("t")
    plain = ask(broker, version, "t")
    assert plain.topics[0].topic_authorized_operations == NOT_ASKED
    asked = ask(broker, version, "t", include_topic_authorized_operations=True)
    assert asked.topics[0].topic_authorized_operations == 3576
    if version >= 12:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=None, topic_id=b"?" * 16)],
            include_topic_authorized_operations=True,
        )
        (unknown,) = broker.call(HANDLER, request, version).topics
        assert unknown.topic_authorized_operations == NOT_ASKED
    if version <= 10:
        assert plain.cluster_authorized_operations == NOT_ASKED
        asked = ask(broker, version, "t", include_cluster_authorized_operations=True)
        assert asked.cluster_authorized_operations == 8096


# Brokers that clients cannot reach.


def a_topic_on(*brokers: int) -> list[Any]:
    return [
        TopicRecord(name="far", topic_id=b"f" * 16),
        partition_record(
            b"f" * 16,
            replicas=list(brokers),
            isr=list(brokers),
            leader=brokers[0],
            leader_epoch=7,
            directories=[bytes(15) + b"\x01"] * len(brokers),
        ),
    ]


@pytest.mark.parametrize(
    ("version", "replicas", "code"),
    [
        (0, [], "LEADER_NOT_AVAILABLE"),
        (5, [2, 3], "LEADER_NOT_AVAILABLE"),
        (6, [2, 3], "LISTENER_NOT_FOUND"),
        (13, [2, 3], "LISTENER_NOT_FOUND"),
    ],
)
def test_a_fenced_leader(broker: AdminBroker, version: int, replicas: list[int], code: str) -> None:
    fenced = broker.another_broker(2, fenced=True)
    elsewhere = broker.another_broker(3, listener="OTHER")
    broker.publish(fenced, elsewhere, *a_topic_on(2, 3))
    answer = ask(broker, version, "far")
    assert [at.node_id for at in answer.brokers] == [1]
    (partition,) = answer.topics[0].partitions
    assert ErrorCode(partition.error_code).name == code
    assert (partition.leader_id, partition.replica_nodes) == (-1, replicas)
    if version >= 5:
        assert partition.offline_replicas == [2, 3]
    if version >= 7:
        assert partition.leader_epoch == 7


def test_a_leader_nobody_knows(broker: AdminBroker) -> None:
    broker.publish(*a_topic_on(9))
    (partition,) = ask(broker, 13, "far").topics[0].partitions
    assert ErrorCode(partition.error_code).name == "LEADER_NOT_AVAILABLE"


def test_a_replica_that_is_away(broker: AdminBroker) -> None:
    broker.publish(broker.another_broker(2, fenced=True), *a_topic_on(1, 2))
    (partition,) = ask(broker, 0, "far").topics[0].partitions
    assert ErrorCode(partition.error_code).name == "REPLICA_NOT_AVAILABLE"
    (partition,) = ask(broker, 5, "far").topics[0].partitions
    assert (partition.error_code, partition.offline_replicas) == (0, [2])


def test_answers_follow_the_image(broker: AdminBroker) -> None:
    broker.publish(broker.another_broker(2, fenced=True), *a_topic_on(2))
    assert ask(broker, 13, "far").topics[0].partitions[0].leader_id == -1
    broker.publish(broker.another_broker(2))
    answer = ask(broker, 13, "far")
    assert answer.topics[0].partitions[0].leader_id == 2
    assert [(at.node_id, at.rack) for at in answer.brokers] == [(1, None), (2, "r")]

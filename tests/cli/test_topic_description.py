"""`pykbroker topics --describe`: which partitions, in which form."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pytest

from pykbroker.cli import topic_description
from pykbroker.cli.admin import AdminClient, ServerError
from pykbroker.cli.topic_description import Topic
from pykbroker.protocol.messages.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from pykbroker.protocol.messages.list_partition_reassignments_response import (
    OngoingPartitionReassignment,
)
from pykbroker.testing import Broker
from tests.cli.conftest import Run


def test_reports(ask: Run, topic: str) -> None:
    describe = ("--describe", "--topic", topic)
    for flag in ("under-replicated", "unavailable", "under-min-isr"):
        assert ask("topics", *describe, f"--{flag}-partitions").out == ""
    assert len(ask("topics", *describe, "--at-min-isr-partitions").lines) == 2


def test_by_id_json_and_many_answers(ask: Run, topic: str) -> None:
    (described,) = json.loads(ask("topics", "--describe", "--topic", topic, "--json").out)
    assert described["topic"] == topic
    assert described["partitions"][1] == {
        "partition": 1,
        "leader": 1,
        "replicas": [1],
        "isr": [1],
        "elr": described["partitions"][1]["elr"],
        "lastKnownElr": described["partitions"][1]["lastKnownElr"],
        "adding": [],
        "removing": [],
    }
    by_id = ask("topics", "--describe", "--topic-id", described["topicId"])
    assert by_id.out == ask("topics", "--describe", "--topic", topic).out
    small = ("--partition-size-limit-per-response", "1")
    assert ask("topics", "--describe", "--topic", topic, *small).out == by_id.out
    assert topic in json.loads(ask("topics", "--list", "--json").out)


FLAGS = ("under_replicated", "unavailable", "under_min_isr", "at_min_isr")


def asking(*flags: str) -> argparse.Namespace:
    names = {f"{flag}_partitions": flag in flags for flag in FLAGS}
    return argparse.Namespace(topics_with_overrides=False, **names)


def a_topic(*, min_isr: int = 2, ongoing: Any = None, **fields: Any) -> Topic:
    """A topic with one partition."""
    partition = DescribeTopicPartitionsResponsePartition(partition_index=0, **fields)
    described = DescribeTopicPartitionsResponseTopic(name="t", partitions=[partition])
    return Topic(described, {}, min_isr, [partition], {} if ongoing is None else {0: ongoing})


@pytest.mark.parametrize(
    ("leader", "isr", "reported"),
    [
        (1, [1, 2, 3], set()),
        (1, [1, 2], {"under_replicated", "at_min_isr"}),
        (1, [1], {"under_replicated", "under_min_isr"}),
        (-1, [3], {"under_replicated", "unavailable", "under_min_isr"}),
        # The leader that the broker knew of has gone meanwhile.
        (3, [1, 2, 3], {"unavailable", "under_min_isr"}),
    ],
)
def test_what_is_reported(leader: int, isr: list[int], reported: set[str]) -> None:
    topic = a_topic(leader_id=leader, replica_nodes=[1, 2, 3], isr_nodes=isr)
    live = {1, 2}
    (partition,) = topic.partitions
    holds = {
        flag for flag in FLAGS if topic_description._wanted(asking(flag), topic, partition, live)
    }
    assert holds == reported
    assert topic_description._wanted(asking(), topic, partition, live)
    any_of_all = topic_description._wanted(asking(*FLAGS), topic, partition, live)
    assert any_of_all is bool(reported)


def test_a_partition_that_is_being_reassigned(capsys: pytest.CaptureFixture[str]) -> None:
    """The replicas that it gains are not missed yet."""
    ongoing = OngoingPartitionReassignment(
        replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[1]
    )
    topic = a_topic(ongoing=ongoing, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2])
    assert topic.replication_factor(topic.partitions[0]) == 2
    topic_description._print_topic(asking(), topic, {1, 2, 3})
    first, second = capsys.readouterr().out.splitlines()
    assert "\tReplicationFactor: 2\t" in first
    assert "\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 1\tElr: " in second
    over = a_topic(ongoing=ongoing, leader_id=1, replica_nodes=[2, 4], isr_nodes=[2])
    assert over.replication_factor(over.partitions[0]) == 2


def test_a_broker_that_does_not_tell_of_reassignments(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [31, 41]

    def refuse(*_: object) -> None:
        raise ServerError(codes.pop(0))

    monkeypatch.setattr(topic_description, "list_reassignments", refuse)
    with AdminClient(broker.bootstrap_servers) as client:
        described = topic_description.describe_topics(client, [topic], 2000)
        assert topic_description._reassignments(client, described) == {}
        with pytest.raises(ServerError):
            topic_description._reassignments(client, described)
        monkeypatch.setattr(client.any_broker, "supports", lambda key: False)
        assert topic_description._reassignments(client, described) == {}
        assert topic_description._reassignments(client, []) == {}

from __future__ import annotations

import pytest

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignments import (
    alter_reassignments,
    describe_ongoing,
    describe_targets,
    existing_replicas,
    list_reassignments,
    topic_replicas,
)
from pykbroker.protocol.messages.list_partition_reassignments_response import (
    OngoingPartitionReassignment,
)
from pykbroker.testing import Broker


def test_replicas_of_topics(broker: Broker, topic: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        assert topic_replicas(client, [topic, "nowhere"]) == {(topic, 0): [1], (topic, 1): [1]}
        assert topic_replicas(client, []) == {}
        assert existing_replicas(client, [(topic, 1)]) == {(topic, 1): [1]}
        with pytest.raises(CommandError, match="Topic nowhere not found"):
            existing_replicas(client, [("nowhere", 0)])
        with pytest.raises(CommandError, match=f"Unable to find partition: {topic}-2, {topic}-7"):
            existing_replicas(client, [(topic, 7), (topic, 0), (topic, 2)])


def test_refused_and_absent_reassignments(broker: Broker, topic: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        assert list_reassignments(client) == {}
        assert list_reassignments(client, [(topic, 0), ("nowhere", 0)]) == {}
        errors = alter_reassignments(client, {(topic, 1): [9], (topic, 0): None, ("no", 0): [1]})
        assert list(errors) == [(topic, 0), (topic, 1), ("no", 0)]
        assert errors["no", 0] == "Unable to find a topic named no."
        assert errors[topic, 0] == "No partition reassignment is in progress."


def test_descriptions() -> None:
    assert describe_ongoing({}) == ["No partition reassignments found."]
    moving = OngoingPartitionReassignment(
        replicas=[1, 2, 3], adding_replicas=[3], removing_replicas=[1]
    )
    growing = OngoingPartitionReassignment(replicas=[1, 2], adding_replicas=[2])
    assert describe_ongoing({("a", 0): moving, ("a", 1): growing}) == [
        "Current partition reassignments:",
        "a-0: replicas: 1,2,3. adding: 3. removing: 1.",
        "a-1: replicas: 1,2. adding: 2.",
    ]
    targets = [(("b", 0), [1, 2]), (("a", 1), [2]), (("a", 0), [3]), (("c", 0), [1])]
    current = {("b", 0): [1, 2], ("a", 1): [1, 2]}
    assert describe_targets(targets, {("a", 0)}, current) == [
        "Status of partition reassignment:",
        "Reassignment of partition a-0 is still in progress.",
        "There is no active reassignment of partition a-1, but replica set is 1,2 rather than 2.",
        "Reassignment of partition b-0 is completed.",
        "There is no active reassignment of partition c-0, but replica set is  rather than 1.",
    ]

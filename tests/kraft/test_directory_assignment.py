"""The request that reports the directories of replicas."""

from __future__ import annotations

from pykbroker.kraft.directory_assignment import assignment_request


def test_grouped_by_directory_and_topic() -> None:
    topic, other = b"t" * 16, b"o" * 16
    first, second = b"1" * 16, b"2" * 16
    request = assignment_request(
        3, 8, {(topic, 0): first, (topic, 2): first, (other, 0): first, (topic, 1): second}
    )
    assert (request.broker_id, request.broker_epoch) == (3, 8)
    found = {
        (directory.id, entry.topic_id): [p.partition_index for p in entry.partitions]
        for directory in request.directories
        for entry in directory.topics
    }
    assert found == {(first, topic): [0, 2], (first, other): [0], (second, topic): [1]}

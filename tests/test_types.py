"""The small value types."""

from __future__ import annotations

from pykbroker.types import TopicPartition


def test_a_partition_prints_as_its_directory() -> None:
    assert str(TopicPartition("orders-eu", 3)) == "orders-eu-3"


def test_partitions_are_keys() -> None:
    assert {TopicPartition("t", 0): "x"}[TopicPartition("t", 0)] == "x"
    assert sorted([TopicPartition("t", 10), TopicPartition("s", 1), TopicPartition("t", 2)]) == [
        ("s", 1),
        ("t", 2),
        ("t", 10),
    ]

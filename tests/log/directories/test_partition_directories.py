"""Names of partitions' directories."""

from __future__ import annotations

import pytest

from pykbroker.log.directories.partition_directories import aside_name, parse_directory_name
from pykbroker.types import TopicPartition


@pytest.mark.parametrize(
    ("name", "topic", "partition", "kind"),
    [
        ("orders-3", "orders", 3, ""),
        ("a-b.c_d-0", "a-b.c_d", 0, ""),
        ("orders-3.0123abc-delete", "orders", 3, "delete"),
        ("orders-3.0123abc-future", "orders", 3, "future"),
        ("orders-3.0123abc-stray", "orders", 3, "stray"),
        ("__cluster_metadata-0", "__cluster_metadata", 0, ""),
        ("x-1-2", "x-1", 2, ""),
    ],
)
def test_names(name: str, topic: str, partition: int, kind: str) -> None:
    assert parse_directory_name(name) == (TopicPartition(topic, partition), kind)


@pytest.mark.parametrize(
    "name",
    ["orders", "-3", "orders-", "orders-x", "lost+found", "orders-99999999999", "o-3-delete"],
)
def test_foreign_names(name: str) -> None:
    assert parse_directory_name(name) is None


def test_aside_names_are_cut_to_what_a_file_system_takes() -> None:
    short = aside_name(TopicPartition("orders", 3), "f" * 32, "delete")
    assert short == f"orders-3.{'f' * 32}-delete"
    long = aside_name(TopicPartition("t" * 249, 12), "f" * 32, "stray")
    assert len(long) == 255
    assert long.endswith(f"-12.{'f' * 32}-stray")

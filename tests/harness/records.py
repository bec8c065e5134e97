"""Records of the metadata log as most tests want them."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages.partition_record import PartitionRecord


def partition_record(topic_id: bytes, number: int = 0, **fields: Any) -> PartitionRecord:
    """A new partition of one replica, which leads it, on node 1; `fields` say what is otherwise."""
    lone: dict[str, Any] = {
        "replicas": [1],
        "isr": [1],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
    }
    return PartitionRecord(topic_id=topic_id, partition_id=number, **(lone | fields))

"""The end of a transaction: its marker follows the answer to the client."""

from __future__ import annotations

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.harness.waiting import wait_for


def await_markers(servers: str, topic: str, partition: int) -> None:
    """Wait until no transaction of the partition is open."""
    admin = AdminClient({"bootstrap.servers": servers})

    def end(isolation: IsolationLevel) -> int:
        wanted = TopicPartition(topic, partition)
        futures = admin.list_offsets({wanted: OffsetSpec.latest()}, isolation_level=isolation)
        return int(futures[wanted].result(60).offset)

    def is_decided() -> bool:
        return end(IsolationLevel.READ_COMMITTED) == end(IsolationLevel.READ_UNCOMMITTED)

    wait_for(is_decided, "the markers")

"""Small value types shared by all floors.

Topic ids and other UUIDs are raw 16-byte `bytes` everywhere. Their text form is produced only for
display, by `pykbroker.protocol.primitives.uuid_to_str`.
"""

from __future__ import annotations

from pykbroker.values import NamedTuple


class TopicPartition(NamedTuple):
    """A partition by its topic's name; prints as Kafka's directory name, `topic-0`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Peer(NamedTuple):
    """Another node of the cluster, at one of its listeners."""

    node_id: int
    host: str
    port: int

    def __str__(self) -> str:
        return f"node {self.node_id} ({self.host}:{self.port})"

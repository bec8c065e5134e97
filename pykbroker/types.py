"""Small value types shared by all floors.

Topic and directory ids are raw 16-byte `bytes` in memory; files and displays have the text form,
which `uuid_to_str` in `pykbroker.protocol.primitives` returns. A cluster id is kept as text.
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
    """Another node of the cluster, at one of its listeners. The id is negative while only the
    address is known (bootstrap servers).
    """

    node_id: int
    host: str
    port: int

    def __str__(self) -> str:
        return f"node {self.node_id} ({self.host}:{self.port})"

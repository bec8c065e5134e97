"""The counters of a node: plain integers on the hot path, read by reporters.

State: one `Counters` per node. A hot path does `counters.messages_in += 1`; no lock is needed,
because one event loop owns them. The names for data and for produce and fetch requests follow
Kafka's `BrokerTopicMetrics`.
"""

from __future__ import annotations


class Counters:
    """What a node has counted since its start.

    Requests by API are counted in the broker's routes (`broker/handlers`).
    """

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "connections_accepted",
        "connections_closed",
        "connections_lost",
        "connections_refused",
        "failed_fetch_requests",
        "failed_produce_requests",
        "malformed_requests",
        "messages_in",
        "total_fetch_requests",
        "total_produce_requests",
        "unexpected_errors",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.messages_in = 0
        self.total_produce_requests = 0
        self.failed_produce_requests = 0
        self.total_fetch_requests = 0
        self.failed_fetch_requests = 0
        self.connections_accepted = 0
        self.connections_closed = 0
        self.connections_lost = 0
        self.connections_refused = 0
        self.malformed_requests = 0
        self.unexpected_errors = 0

    def snapshot(self) -> dict[str, int]:
        """Return all counters by name."""
        return {name: getattr(self, name) for name in self.__slots__}

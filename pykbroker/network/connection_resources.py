"""The resources shared by all connections of a node."""

from __future__ import annotations

from pykbroker.environment.background import Threads
from pykbroker.environment.clock import Clock
from pykbroker.environment.transport import Transport
from pykbroker.metrics import Counters
from pykbroker.network.peer_log import PeerLog
from pykbroker.network.request_channel import RequestChannel


class ConnectionResources:
    """Resources shared by all connections. `cold_reads` are the threads that read
    cold file data.
    """

    __slots__ = (
        "_monotonic_ns",
        "channel",
        "clock",
        "cold_reads",
        "counters",
        "max_request_bytes",
        "peer_log",
        "transport",
    )

    def __init__(
        self,
        *,
        transport: Transport,
        clock: Clock,
        channel: RequestChannel,
        cold_reads: Threads,
        counters: Counters,
        peer_log: PeerLog,
        max_request_bytes: int,
    ) -> None:
        self.transport = transport
        self.clock = clock
        self.channel = channel
        self.cold_reads = cold_reads
        self.counters = counters
        self.peer_log = peer_log
        self.max_request_bytes = max_request_bytes
        self._monotonic_ns = clock.monotonic_ns

    def now_ms(self) -> int:
        """Milliseconds of the monotonic clock, for idle times and log windows."""
        return self._monotonic_ns() // 1_000_000

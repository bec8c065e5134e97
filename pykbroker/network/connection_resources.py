"""What all connections of a node share."""

from __future__ import annotations

from dataclasses import dataclass

from pykbroker.environment.background import Threads
from pykbroker.environment.clock import Clock
from pykbroker.environment.transport import Transport
from pykbroker.metrics import Counters
from pykbroker.network.peer_log import PeerLog
from pykbroker.network.request_channel import RequestChannel


@dataclass(slots=True, frozen=True)
class ConnectionResources:
    """See the module. `cold_reads` are the threads that fetch what the page cache does not hold."""

    transport: Transport
    clock: Clock
    channel: RequestChannel
    cold_reads: Threads
    counters: Counters
    peer_log: PeerLog
    max_request_bytes: int

    def now_ms(self) -> int:
        """Milliseconds of the clock that measures: idle times, windows of log lines."""
        return self.clock.monotonic_ns() // 1_000_000

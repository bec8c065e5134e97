"""The timer that checks in-sync replicas at least every half of `replica.lag.time.max.ms`.

State: one timer. In: `start`, `close`. Out: `ReplicaManager.advance`.
Source: the task `isr-expiration` of Kafka's `ReplicaManager.scala`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.environment.scheduler import Scheduler, Timer

if TYPE_CHECKING:
    from pykbroker.replication.replica_manager import ReplicaManager


class IsrCheckDriver:
    """Checks in-sync replicas by a timer."""

    def __init__(
        self,
        manager: ReplicaManager,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        lag_max_ms: int,
    ) -> None:
        self._manager = manager
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._interval_ms = max(1, lag_max_ms // 2)
        self._timer: Timer | None = None

    def start(self) -> None:
        """Start checking."""
        self._timer = self._scheduler.call_later(self._interval_ms, self._check)

    def close(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        now_ms = self._now_ms()
        self._manager.advance(now_ms)
        due_ms = self._manager.next_deadline_ms()
        delay_ms = self._interval_ms
        if due_ms is not None:
            delay_ms = min(delay_ms, max(1, due_ms - now_ms))
        self._timer = self._scheduler.call_later(delay_ms, self._check)

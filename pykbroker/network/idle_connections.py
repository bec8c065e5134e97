"""Closes connections on which nothing happened for `connections.max.idle.ms`.

State: one task per connection in one timing wheel. A connection only notes when it was last active;
when its task comes up early, the task is put back to where the deadline is by then. So activity
costs one assignment, not a move in the wheel.
In: `watch` and `forget` a connection, `advance`. Out: the connections whose time is up.
Invariant: a connection with a request in flight is not idle: it waits for us. Unless its peer has
ended the stream: then it may be gone, and nobody would notice before the answer.
With a negative `connections.max.idle.ms` no connection is ever idle for too long.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from pykbroker.timing_wheel import TimerTask, TimingWheel

TICK_MS = 100


class Watched(Protocol):
    """What a connection shows of its activity; `idle_task` is kept by IdleConnections."""

    idle_task: TimerTask[Any] | None
    last_active_ns: int
    in_flight: bool
    stream_ended: bool


WatchedT = TypeVar("WatchedT", bound=Watched)


class IdleConnections(Generic[WatchedT]):
    """The deadlines of all connections, in milliseconds of the clock that measures."""

    __slots__ = ("_max_idle_ms", "_wheel")

    def __init__(self, max_idle_ms: int, now_ms: int) -> None:
        self._max_idle_ms = max_idle_ms
        self._wheel: TimingWheel[WatchedT] = TimingWheel(now_ms, TICK_MS)

    def watch(self, connection: WatchedT, now_ms: int) -> None:
        """Close `connection` once it was idle for too long."""
        if self._max_idle_ms < 0:
            return
        connection.idle_task = self._wheel.add(now_ms + self._max_idle_ms, connection)

    def forget(self, connection: WatchedT) -> None:
        """`connection` closed: nothing holds it for the rest of its deadline."""
        if connection.idle_task is not None:
            connection.idle_task.cancel()
            connection.idle_task = None

    def next_deadline_ms(self) -> int | None:
        """When `advance` has something to do, at the latest."""
        return self._wheel.next_deadline_ms()

    def advance(self, now_ms: int) -> list[WatchedT]:
        """Connections that are idle for too long at `now_ms`."""
        idle: list[WatchedT] = []
        for connection in self._wheel.advance(now_ms):
            connection.idle_task = None
            deadline_ms = connection.last_active_ns // 1_000_000 + self._max_idle_ms
            if connection.in_flight and not connection.stream_ended:
                deadline_ms = now_ms + self._max_idle_ms
            if deadline_ms <= now_ms:
                idle.append(connection)
            else:
                connection.idle_task = self._wheel.add(deadline_ms, connection)
        return idle

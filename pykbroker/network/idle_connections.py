"""Finds connections that have been idle for `connections.max.idle.ms`.

State: one task per connection in one timing wheel. A connection only records when it was last
active; if its task fires early, it is rescheduled to the current deadline. So activity costs one
assignment, not a move in the wheel.
In: `watch` and `forget` a connection, `advance`. Out: the connections that have expired.
Invariant: a connection with a request in flight is not idle, unless its peer has ended the stream:
then the peer may be gone, which would go unnoticed until the answer.
With a negative `connections.max.idle.ms` no connection ever expires.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from pykbroker.timing_wheel import TimerTask, TimingWheel

TICK_MS = 100


class Watched(Protocol):
    """The activity of a connection; `idle_task` is owned by IdleConnections."""

    idle_task: TimerTask[Any] | None
    last_active_ns: int
    in_flight: bool
    stream_ended: bool


WatchedT = TypeVar("WatchedT", bound=Watched)


class IdleConnections(Generic[WatchedT]):
    """The deadlines of all connections, in milliseconds of the monotonic clock."""

    __slots__ = ("_max_idle_ms", "_wheel")

    def __init__(self, max_idle_ms: int, now_ms: int) -> None:
        self._max_idle_ms = max_idle_ms
        self._wheel: TimingWheel[WatchedT] = TimingWheel(now_ms, TICK_MS)

    def watch(self, connection: WatchedT, now_ms: int) -> None:
        """Watch `connection` for idleness."""
        if self._max_idle_ms < 0:
            return
        connection.idle_task = self._wheel.add(now_ms + self._max_idle_ms, connection)

    def forget(self, connection: WatchedT) -> None:
        """Stop watching a closed connection and drop the reference to it."""
        if connection.idle_task is not None:
            connection.idle_task.cancel()
            connection.idle_task = None

    def next_deadline_ms(self) -> int | None:
        """Return when to call `advance` next, at the latest."""
        return self._wheel.next_deadline_ms()

    def advance(self, now_ms: int) -> list[WatchedT]:
        """Return the connections that have been idle for too long at `now_ms`."""
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

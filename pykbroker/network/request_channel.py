"""The bounded queue between the connections and the worker.

State: requests, or connections that have one, in order of arrival; connections that found the
channel full; connections that have something to flush when the turn ends; work for after that.
Out: at most one call of the worker's turn per turn of the event loop, however many requests came.
Invariants: connections put no request on a channel that has `max_requests` (`queued.max.requests`);
a waiting connection keeps its bytes, stops reading once its buffer is full, and gets its turn in
order. A `wake` is never lost: data appended while the end of a round writes is written by another
round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from pykbroker.environment.scheduler import Scheduler
from pykbroker.network.request import PreparedConnection, Request


class ChannelConnection(Protocol):
    """A connection, as seen by the channel."""

    def flush(self) -> None:
        """Send the replies of this turn."""

    def resume_hand_over(self) -> None:
        """Hand over the next frame, because the channel has room again."""


class RequestChannel:
    """Requests on their way to the worker."""

    __slots__ = (
        "_call_soon",
        "_turn",
        "_turn_due",
        "max_requests",
        "put_off",
        "queue",
        "to_flush",
        "waiting",
        "woken",
    )

    def __init__(self, scheduler: Scheduler, max_requests: int) -> None:
        self._call_soon = scheduler.call_soon
        self._turn: Callable[[], None] = _no_worker
        self._turn_due = False
        self.max_requests = max_requests
        self.queue: deque[Request | PreparedConnection] = deque()
        self.waiting: deque[ChannelConnection] = deque()
        self.to_flush: list[ChannelConnection] = []
        self.put_off: list[Callable[[], None]] = []
        self.woken = False
        """Something has to be written since the last end of a round began."""

    def attach_worker(self, turn: Callable[[], None]) -> None:
        """Set the function that runs one turn; it calls `turn_finished` at its end, unless the node
        halts.
        """
        self._turn = turn

    @property
    def full(self) -> bool:
        """Whether the channel has no room for another request."""
        return len(self.queue) >= self.max_requests

    def put(self, request: Request | PreparedConnection) -> None:
        """Queue a request, or a connection that holds one; a connection has checked `full`."""
        self.queue.append(request)
        if not self._turn_due:
            self._turn_due = True
            self._call_soon(self._turn)

    def wait(self, connection: ChannelConnection) -> None:
        """Let a connection that found the channel full wait for room."""
        self.waiting.append(connection)
        self.wake()

    def flush_later(self, connection: ChannelConnection) -> None:
        """Have `connection.flush()` called at the end of the turn."""
        self.to_flush.append(connection)
        if not self._turn_due:
            self._turn_due = True
            self._call_soon(self._turn)

    def wake(self) -> None:
        """Request a turn for work that is not caused by a request.

        Within a turn: for another round, in it or the next, unless the end of this round is still
        to come.
        """
        self.woken = True
        if not self._turn_due:
            self._turn_due = True
            self._call_soon(self._turn)

    def after_sends(self, work: Callable[[], None]) -> None:
        """Run `work` after the replies of this turn are flushed; of the next one, if these already
        are or no turn runs.
        """
        self.put_off.append(work)
        if not self._turn_due:
            self._turn_due = True
            self._call_soon(self._turn)

    def admit_waiting(self) -> None:
        """Admit waiting connections, as far as there is room."""
        for _ in range(len(self.waiting)):
            if len(self.queue) >= self.max_requests:
                return
            self.waiting.popleft().resume_hand_over()

    def flush_connections(self) -> None:
        """Flush the connections that received replies in this turn."""
        connections = self.to_flush
        self.to_flush = []
        for connection in connections:
            connection.flush()

    def do_put_off(self) -> None:
        """Run the work that waited until the replies of this turn were sent."""
        works = self.put_off
        self.put_off = []
        for work in works:
            work()

    def turn_finished(self) -> None:
        """End the turn; remaining and later work requests a new one."""
        if self.queue or self.waiting or self.to_flush or self.woken or self.put_off:
            self._call_soon(self._turn)
        else:
            self._turn_due = False


def _no_worker() -> None:
    raise RuntimeError("a request came before a worker was attached to the channel")

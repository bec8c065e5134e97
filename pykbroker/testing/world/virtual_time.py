"""Virtual time: one queue of events for all nodes of a world, and the clocks that they see.

State: the events to come, in the order of their time and then of their scheduling; the time.
A process that has ended is never called again; what is due while a process is paused is called when
the pause ends.

Times of the world are whole microseconds from its start. A process sees its own clocks: the wall
clock of its machine may be wrong and jump, and a `rate_ppm` makes all its clocks fast or slow.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from pykbroker.deferred import Deferred

EPOCH_MS = 1_700_000_000_000
MOST_EVENTS_AT_ONE_TIME = 200_000


class Livelock(AssertionError):
    """The world runs events without end, and time does not advance."""


class Process:
    """One run of a program on a machine: it ends once, and none of its events run afterwards."""

    __slots__ = ("is_alive", "name", "paused_until_us")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_alive = True
        self.paused_until_us = 0

    def __repr__(self) -> str:
        return self.name


class Event:
    """A future call; `cancel` prevents it (a `Timer`)."""

    __slots__ = ("arguments", "callback", "due_us", "is_cancelled", "process")

    def __init__(
        self,
        due_us: int,
        process: Process | None,
        callback: Callable[..., object],
        arguments: tuple[object, ...],
    ) -> None:
        self.due_us = due_us
        self.process = process
        self.callback = callback
        self.arguments = arguments
        self.is_cancelled = False

    def cancel(self) -> None:
        """See `Timer`."""
        self.is_cancelled = True


class EventQueue:
    """All future events; see the module."""

    __slots__ = ("_at_this_time", "_heap", "_sequence", "current", "events", "now_us")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Event]] = []
        self._sequence = 0
        self._at_this_time = 0
        self.now_us = 0
        self.events = 0
        self.current: Process | None = None
        """The process whose event runs, or ran last; None: the world's own."""

    def at(
        self,
        due_us: int,
        process: Process | None,
        callback: Callable[..., object],
        *arguments: object,
    ) -> Event:
        """Call at `due_us` (now, if that is past), in the name of `process` (None: the world)."""
        now_us = self.now_us
        event = Event(due_us if due_us > now_us else now_us, process, callback, arguments)
        self._push(event)
        return event

    def after(
        self,
        delay_us: int,
        process: Process | None,
        callback: Callable[..., object],
        *arguments: object,
    ) -> Event:
        """Call in `delay_us` microseconds."""
        return self.at(self.now_us + delay_us, process, callback, *arguments)

    def _push(self, event: Event) -> None:
        self._sequence = sequence = self._sequence + 1
        heapq.heappush(self._heap, (event.due_us, sequence, event))

    def step(self) -> bool:
        """Run the next event and return True; False when there is none. Raises what the event
        raises, and Livelock.
        """
        while self._heap:
            due_us, _, event = heapq.heappop(self._heap)
            process = event.process
            if event.is_cancelled or (process is not None and not process.is_alive):
                continue
            if process is not None and process.paused_until_us > due_us:
                event.due_us = process.paused_until_us
                self._push(event)  # they leave the heap in their order, and enter it so
                continue
            if due_us > self.now_us:
                self.now_us = due_us
                self._at_this_time = 0
            self._at_this_time += 1
            if self._at_this_time > MOST_EVENTS_AT_ONE_TIME:
                raise Livelock(f"{self._at_this_time} events at {self.now_us} us")
            self.events += 1
            self.current = process
            event.callback(*event.arguments)
            return True
        self.current = None
        return False

    def next_due_us(self) -> int | None:
        """Return when the next event is due, at the earliest (its process may be paused); None if
        there is none.
        """
        while self._heap:
            due_us, _, event = self._heap[0]
            if not event.is_cancelled and (event.process is None or event.process.is_alive):
                return due_us
            heapq.heappop(self._heap)
        return None


class VirtualScheduler:
    """The scheduler of one process (`environment/scheduler.py`).

    What a callback raises is raised by `EventQueue.step`.
    """

    __slots__ = ("_clock", "_process", "_queue")

    def __init__(self, queue: EventQueue, process: Process, clock: VirtualClock) -> None:
        self._queue = queue
        self._process = process
        self._clock = clock

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> Event:
        """See `Scheduler`."""
        return self._queue.at(self._queue.now_us, self._process, callback, *arguments)

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> Event:
        """See `Scheduler`."""
        delay_us = self._clock.real_us(max(delay_ms, 0))
        return self._queue.after(delay_us, self._process, callback, *arguments)

    def sleep(self, delay_ms: float) -> Deferred:
        """See `Scheduler`."""
        deferred = Deferred()
        self.call_later(delay_ms, deferred.resolve, None)
        return deferred


class MachineClock:
    """The wall clock of a machine: wrong by `offset_us`, which changes when the clock is set."""

    __slots__ = ("_latest_us", "_queue", "offset_us", "rate_ppm")

    def __init__(self, queue: EventQueue, offset_us: int = 0, rate_ppm: int = 0) -> None:
        self._queue = queue
        self._latest_us = 0
        self.offset_us = offset_us
        self.rate_ppm = rate_ppm
        """How much faster than the world this machine's clocks run, in millionths."""

    def elapsed_us(self) -> int:
        """Return the microseconds since the start of the world, as this machine counts them."""
        now_us = self._queue.now_us
        if self.rate_ppm:
            return now_us + now_us * self.rate_ppm // 1_000_000
        return now_us

    def wall_us(self) -> int:
        """Return the wall clock, in microseconds since the epoch."""
        return EPOCH_MS * 1000 + self.elapsed_us() + self.offset_us

    def jump(self, by_us: int) -> None:
        """Set the clock."""
        self._latest_us = self.latest_us()
        self.offset_us += by_us

    def latest_us(self) -> int:
        """Return the latest time that the wall clock has ever shown."""
        return max(self._latest_us, self.wall_us())

    def latest_ms(self) -> int:
        """Return the same in milliseconds."""
        return self.latest_us() // 1000


class VirtualClock:
    """The clocks of one process (`environment/clock.py`).

    `now_ms` starts at the wall clock's value at the start of the process, and ignores its jumps.
    """

    __slots__ = ("_base_us", "_machine")

    def __init__(self, machine: MachineClock) -> None:
        self._machine = machine
        self._base_us = machine.wall_us() - machine.elapsed_us()

    def now_ms(self) -> int:
        """See `Clock`."""
        return (self._base_us + self._machine.elapsed_us()) // 1000

    def wall_ms(self) -> int:
        """See `Clock`."""
        return self._machine.wall_us() // 1000

    def monotonic_ns(self) -> int:
        """See `Clock`."""
        return self._machine.elapsed_us() * 1000

    def real_us(self, delay_ms: float) -> int:
        """Return how long `delay_ms` of this clock takes in the world, rounded up."""
        delay_us = round(delay_ms * 1000)
        rate = 1_000_000 + self._machine.rate_ppm
        return -(-delay_us * 1_000_000 // rate)

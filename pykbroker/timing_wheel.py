"""A hierarchical timing wheel, for owners of very many deadlines, such as the purgatory.

Adding a task costs O(1), and a push on the heap if its bucket is new; cancelling is amortised O(1).
`advance` looks only at the tasks of the buckets that have begun. Each wheel has `WHEEL_SIZE`
buckets. A bucket of the first wheel is one tick wide, a bucket of the next is as wide as the whole
first wheel, and so on; buckets are created when a deadline needs them. A task moves down to a
narrower bucket when its own begins. (Varghese and Lauck 1987; Kafka's server-common `TimingWheel`.)

    wheel 0   tick 1 ms     20 buckets      0 ..    20 ms
    wheel 1   tick 20 ms    20 buckets     20 ..   400 ms
    wheel 2   tick 400 ms   20 buckets    400 .. 8 000 ms   ...

State: the current time in ticks, the buckets, a heap of their start times, and the numbers of live
and cancelled tasks in them.
Invariants: a task is returned once, never before its deadline; a cancelled task never is. A
cancelled task does not hold its item. Cancelled tasks are swept out when there are SWEEP_AT of them
and more than live ones, because a deadline may be days away.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

WHEEL_SIZE = 20
SWEEP_AT = 1000  # cancelled tasks; a sweep is not worthwhile for fewer


class TimerTask(Generic[Item]):
    """One deadline. `cancel()` is amortised O(1): buckets drop cancelled tasks together."""

    __slots__ = ("_wheel", "deadline_ms", "item")

    def __init__(self, wheel: TimingWheel[Item], deadline_ms: int, item: Item) -> None:
        self._wheel: TimingWheel[Item] | None = wheel
        self.deadline_ms = deadline_ms
        self.item = item

    @property
    def pending(self) -> bool:
        """Whether the task has neither fired nor been cancelled."""
        return self._wheel is not None

    def cancel(self) -> None:
        """Cancel the task; does nothing if it has fired or was already cancelled."""
        if self._wheel is not None:
            self._wheel._forget(self)


def _deadline(task: TimerTask[Item]) -> int:
    return task.deadline_ms


class TimingWheel(Generic[Item]):
    """All deadlines of one owner."""

    def __init__(self, now_ms: int, tick_ms: int = 1) -> None:
        if tick_ms < 1:
            raise ValueError(f"tick_ms must be at least 1, got {tick_ms}")
        self._tick_ms = tick_ms
        self._now_tick = now_ms // tick_ms
        self._buckets: dict[tuple[int, int], list[TimerTask[Item]]] = {}
        self._bucket_starts: list[tuple[int, int]] = []  # heap of (start tick, bucket width)
        self._live = 0
        self._dead = 0

    def __len__(self) -> int:
        return self._live

    def add(self, deadline_ms: int, item: Item) -> TimerTask[Item]:
        """Have `advance` return `item` once `deadline_ms` has passed (if it already has, at the
        next call).
        """
        task = TimerTask(self, deadline_ms, item)
        self._live += 1
        self._place(task)
        return task

    def items(self) -> Iterator[Item]:
        """Return all pending items, in no particular order."""
        for tasks in self._buckets.values():
            for task in tasks:
                if task.pending:
                    yield task.item

    def next_deadline_ms(self) -> int | None:
        """When to call `advance` next, at the latest; None if no task is pending.

        The time may be early (the start of a wide bucket, or of one with only cancelled tasks), but
        never later than the first tick at which a deadline has passed.
        """
        if not self._live:
            return None
        return self._bucket_starts[0][0] * self._tick_ms

    def advance(self, now_ms: int) -> list[Item]:
        """Move the time to `now_ms` (never back) and return the items that are due, in the order of
        their deadlines.
        """
        target = now_ms // self._tick_ms
        due: list[TimerTask[Item]] = []
        starts = self._bucket_starts
        while starts and starts[0][0] <= target:
            start, width = heapq.heappop(starts)
            tasks = self._buckets.pop((start, width))
            self._now_tick = max(self._now_tick, start)
            for task in tasks:
                if not task.pending:
                    self._dead -= 1
                    continue
                if self._due_tick(task) <= target:
                    self._live -= 1
                    task._wheel = None
                    due.append(task)
                else:
                    self._place(task)
        self._now_tick = max(self._now_tick, target)
        if not self._live and starts:
            self._buckets.clear()  # cancelled tasks only
            starts.clear()
            self._dead = 0
        due.sort(key=_deadline)
        return [task.item for task in due]

    def _due_tick(self, task: TimerTask[Item]) -> int:
        """The first tick at which the deadline has passed (rounded up: never early)."""
        return -(-task.deadline_ms // self._tick_ms)

    def _place(self, task: TimerTask[Item]) -> None:
        due = max(self._due_tick(task), self._now_tick)
        width = 1
        while due - self._now_tick >= width * WHEEL_SIZE:
            width *= WHEEL_SIZE
        start = due - due % width
        key = (start, width)
        bucket = self._buckets.get(key)
        if bucket is None:
            self._buckets[key] = [task]
            heapq.heappush(self._bucket_starts, key)
        else:
            bucket.append(task)

    def _forget(self, task: TimerTask[Item]) -> None:
        task._wheel = None
        del task.item
        self._live -= 1
        self._dead += 1
        if self._dead >= SWEEP_AT and self._dead > self._live:
            self._sweep()

    def _sweep(self) -> None:
        """Drop the cancelled tasks from all buckets."""
        buckets = self._buckets
        for key, tasks in list(buckets.items()):
            pending = [task for task in tasks if task.pending]
            if pending:
                buckets[key] = pending
            else:
                del buckets[key]
        self._bucket_starts[:] = buckets
        heapq.heapify(self._bucket_starts)
        self._dead = 0

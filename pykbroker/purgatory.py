"""The purgatory: the operations of a node that wait for a condition or a deadline.

A produce waits for its replicas, a fetch for its bytes. Each is a `DelayedOperation` that watches
keys (a partition, for example) and may have a deadline. Code that changes the object of a key calls
`check(key)`; the driver calls `advance(now)`.

State: the operations by key, their deadlines in a timing wheel, and the remaining work of a turn.
Out: calls of the operations' `try_complete` and `expire`. No clock, thread or event loop.
Invariants: an operation completes, expires or is cancelled, once. Finished operations are dropped
from all keys when PURGE_AT of them, counted for each key, are held. A turn of the event loop stops
trying and expiring operations when it has spent `effort`. `do_rest` does the rest in a later turn,
so that thousands of long polls woken by one record do not delay other clients.
Source of the idea: Kafka's `DelayedOperationPurgatory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Hashable, Iterable, Iterator
from typing import ClassVar

from pykbroker.timing_wheel import TimerTask, TimingWheel

PURGE_AT = 1000
BASE_EFFORT = 4
UNBOUNDED = 1 << 60
EFFORT_PER_TURN = 1000  # about 5 ms: answering a long poll of one partition takes 25 us


class WatchKey:
    """A key that is equal only to itself."""

    __slots__ = ()


class DelayedOperation(ABC):
    """An operation that waits. A subclass decides when it is complete and
    what happens when it expires.
    """

    __slots__ = ("_keys_watched", "_purgatory_task", "completed")

    KIND: ClassVar[str] = "Other"
    """The name of its kind in metrics, that of Kafka if it has one."""

    def __init__(self) -> None:
        self.completed = False
        self._keys_watched = 0
        self._purgatory_task: TimerTask[DelayedOperation] | None = None

    @abstractmethod
    def try_complete(self) -> bool:
        """Complete the operation if its condition holds; return True if it completed."""

    @abstractmethod
    def expire(self) -> None:
        """Complete the operation with what is available, because its deadline has passed."""


class Purgatory:
    """All waiting operations of one node."""

    def __init__(self, now_ms: int, effort: int = UNBOUNDED) -> None:
        """`effort` is the limit for one turn; an operation costs BASE_EFFORT
        plus 1 for each key it watches.
        """
        self._effort = self._left = effort
        self._unchecked: dict[Hashable, int] = {}  # by key: leading operations not yet tried
        self._overdue: deque[DelayedOperation] = deque()
        self._watchers: dict[Hashable, list[DelayedOperation]] = {}
        self._timers: TimingWheel[DelayedOperation] = TimingWheel(now_ms)
        self._completed_but_watched = 0

    def __len__(self) -> int:
        """Return the number of waiting operations whose deadline `advance` has not yet passed."""
        return len(self._timers)

    def waiting(self) -> Iterator[DelayedOperation]:
        """Return the waiting operations whose deadline `advance` has not yet passed."""
        return self._timers.items()

    @property
    def watched_keys(self) -> int:
        """The number of keys with at least one watcher, including completed
        ones that are not yet purged.
        """
        return len(self._watchers)

    @property
    def watched(self) -> Container[Hashable]:
        """The keys that something waits for, or has waited for and was not purged yet; always the
        same object, for callers that ask often.
        """
        return self._watchers

    def watch(
        self, operation: DelayedOperation, keys: Iterable[Hashable], deadline_ms: int | None
    ) -> None:
        """Hold `operation` until `check` of one of `keys` completes it or the deadline passes.

        The caller has already found that it cannot complete now, by `try_complete` or otherwise: it
        is not tried here. With `deadline_ms` None it waits indefinitely.
        """
        watchers = self._watchers
        for key in keys:
            operation._keys_watched += 1
            waiting = watchers.get(key)
            if waiting is None:
                watchers[key] = [operation]
            else:
                waiting.append(operation)
        if deadline_ms is not None:
            operation._purgatory_task = self._timers.add(deadline_ms, operation)

    def check(self, key: Hashable) -> int:
        """Complete the operations that can complete after a change to `key`, as far as the effort
        of this turn allows; return how many did.
        """
        waiting = self._watchers.pop(key, None)
        return 0 if waiting is None else self._try(key, waiting, len(waiting))

    def _try(self, key: Hashable, waiting: list[DelayedOperation], count: int) -> int:
        """Try the first `count` operations that wait for `key`, as far as the effort of this turn
        allows; the others are tried first next time.
        """
        completed = 0
        untried: list[DelayedOperation] = waiting[count:]
        still: list[DelayedOperation] = []
        for position in range(min(count, len(waiting))):
            if self._left <= 0:
                untried = waiting[position:]
                self._unchecked[key] = count - position
                break
            operation = waiting[position]
            if operation.completed:
                self._completed_but_watched -= 1
                continue
            self._left -= BASE_EFFORT + operation._keys_watched
            if operation.try_complete():
                operation._keys_watched -= 1  # this key no longer holds it
                self._finish(operation)
                completed += 1
            else:
                still.append(operation)
        if untried or still:
            added = self._watchers.get(key)  # by an operation that completed just now
            self._watchers[key] = untried + still + (added or [])
        return completed

    def is_watched(self, key: Hashable) -> bool:
        """Return whether anything waits for `key`, or has waited and was not purged yet; cheap
        enough for the hot path.
        """
        return key in self._watchers

    def cancel(self, operation: DelayedOperation) -> None:
        """Drop `operation` without completing it (its client is gone)."""
        if not operation.completed:
            self._finish(operation)

    def next_deadline_ms(self) -> int | None:
        """When to call `advance` next, at the latest; None if no deadline is pending."""
        return self._timers.next_deadline_ms()

    def advance(self, now_ms: int) -> int:
        """Expire the operations that are due, as far as the effort of this turn allows; return how
        many expired now.
        """
        for operation in self._timers.advance(now_ms):
            operation._purgatory_task = None
            self._overdue.append(operation)
        return self._expire_overdue()

    def _expire_overdue(self) -> int:
        expired = 0
        while self._overdue and self._left > 0:
            operation = self._overdue.popleft()
            if not operation.completed:
                self._left -= BASE_EFFORT + operation._keys_watched
                self._finish(operation)
                operation.expire()
                expired += 1
        return expired

    # ---- turns of the event loop

    def begin_turn(self) -> bool:
        """Begin a turn of the event loop; return whether `do_rest` has work."""
        self._left = self._effort
        return bool(self._unchecked or self._overdue)

    def do_rest(self) -> None:
        """Resume the work that an earlier turn left."""
        self._expire_overdue()
        while self._unchecked and self._left > 0:
            key = next(iter(self._unchecked))
            count = self._unchecked.pop(key)
            waiting = self._watchers.pop(key, None)
            if waiting is not None:
                self._try(key, waiting, count)

    def _finish(self, operation: DelayedOperation) -> None:
        operation.completed = True
        self._completed_but_watched += operation._keys_watched
        if operation._purgatory_task is not None:
            operation._purgatory_task.cancel()
            operation._purgatory_task = None
        if self._completed_but_watched >= PURGE_AT:
            self._purge()

    def _purge(self) -> None:
        """Drop completed operations from all keys: some keys are never checked."""
        for key, waiting in list(self._watchers.items()):
            still = [operation for operation in waiting if not operation.completed]
            if still:
                self._watchers[key] = still
            else:
                del self._watchers[key]
        self._completed_but_watched = 0

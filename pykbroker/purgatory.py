"""The purgatory: everything in a node that waits, waits here.

A produce for its replicas, a fetch for its bytes, a coordinator's or a controller's reply for the
commit of its records: each is a `DelayedOperation` that watches keys (a partition, say) and has a
deadline. Whoever changes what a key stands for calls `check(key)`; the driver calls `advance(now)`.

State: the operations by key, their deadlines in a timing wheel; what is left to do of a turn.
In:  watch, check, cancel, advance, begin_turn, do_rest.
Out: calls of the operations' `try_complete` and `expire`. No clock, thread or event loop.
Invariants: an operation completes or expires once, never both; after that no key holds it for
longer than `PURGE_AT` completed operations. In one turn of the event loop no more is tried and
expired than costs `effort`; the rest is for `do_rest`, in a later turn, so that thousands of long
polls that one record wakes do not hold up everybody else.
Source of the idea: Kafka's `DelayedOperationPurgatory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Iterable, Iterator

from pykbroker.timing_wheel import TimerTask, TimingWheel

PURGE_AT = 1000
BASE_EFFORT = 4
UNBOUNDED = 1 << 60
EFFORT_PER_TURN = 1000  # about 5 ms: answering a long poll of one partition takes 25 us


class DelayedOperation(ABC):
    """What waits. A subclass says when it is done, and what happens when its time is up."""

    __slots__ = ("_keys_watched", "_purgatory_task", "completed")

    def __init__(self) -> None:
        self.completed = False
        self._keys_watched = 0
        self._purgatory_task: TimerTask[DelayedOperation] | None = None

    @abstractmethod
    def try_complete(self) -> bool:
        """Finish if everything it waits for is there; True when it finished."""

    @abstractmethod
    def expire(self) -> None:
        """The deadline has passed: finish with what there is."""


class Purgatory:
    """All operations that wait on one node; see the module's text."""

    def __init__(self, now_ms: int, effort: int = UNBOUNDED) -> None:
        """effort: of a turn; an operation costs BASE_EFFORT, and 1 for each key that it watches."""
        self._effort = self._left = effort
        self._unchecked: dict[Hashable, int] = {}  # how many of a key's first are not tried
        self._overdue: deque[DelayedOperation] = deque()
        self._watchers: dict[Hashable, list[DelayedOperation]] = {}
        self._timers: TimingWheel[DelayedOperation] = TimingWheel(now_ms)
        self._completed_but_watched = 0

    def __len__(self) -> int:
        """Operations with a deadline that still wait."""
        return len(self._timers)

    def waiting(self) -> Iterator[DelayedOperation]:
        """The operations with a deadline that still wait."""
        return self._timers.items()

    @property
    def watched_keys(self) -> int:
        """Keys with at least one watcher, completed ones not yet purged included."""
        return len(self._watchers)

    def watch(
        self, operation: DelayedOperation, keys: Iterable[Hashable], deadline_ms: int | None
    ) -> None:
        """Hold `operation` until `check` of one of `keys` completes it or the deadline passes.

        The caller has tried `try_complete` already. `deadline_ms` None waits for ever.
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
        """Something changed for `key`: complete what can be. Returns how many completed."""
        waiting = self._watchers.pop(key, None)
        return 0 if waiting is None else self._try(key, waiting, len(waiting))

    def _try(self, key: Hashable, waiting: list[DelayedOperation], count: int) -> int:
        """Try the first `count` of the operations that waited for `key`, as far as there is effort
        left; those that are not tried come first next time."""
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
                operation._keys_watched -= 1  # this key has let go of it
                self._finish(operation)
                completed += 1
            else:
                still.append(operation)
        if untried or still:
            added = self._watchers.get(key)  # by an operation that completed just now
            self._watchers[key] = untried + still + (added or [])
        return completed

    def is_watched(self, key: Hashable) -> bool:
        """Cheap test for a hot path: does anything wait for `key`?"""
        return key in self._watchers

    def cancel(self, operation: DelayedOperation) -> None:
        """Drop `operation` without completing it (its client is gone)."""
        if not operation.completed:
            self._finish(operation)

    def next_deadline_ms(self) -> int | None:
        """When to call `advance` next, at the latest."""
        return self._timers.next_deadline_ms()

    def advance(self, now_ms: int) -> int:
        """Expire what is due. Returns how many expired now."""
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
        """A turn of the event loop begins; is there something for `do_rest`?"""
        self._left = self._effort
        return bool(self._unchecked or self._overdue)

    def do_rest(self) -> None:
        """Go on where an earlier turn had no time for more."""
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
        """Drop completed operations from keys that nobody checks."""
        for key, waiting in list(self._watchers.items()):
            still = [operation for operation in waiting if not operation.completed]
            if still:
                self._watchers[key] = still
            else:
                del self._watchers[key]
        self._completed_but_watched = 0

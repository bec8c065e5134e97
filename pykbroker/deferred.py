"""Values that become available later, and coroutines that wait for them, without an event loop.

    Deferred    assigned once, calls one listener in place; `await` it in a Task's coroutine
    then        applies a function to a value, now or later
    chain       the same, for a function that may return a Deferred itself
    gather      combines several values into one, now or later
    first_of    the first of several values
    spawn       runs a coroutine that awaits Deferreds; the Task is the Deferred of its result
    Waiters     the Deferreds of callers that wait for the same event
    Mutex       admits one coroutine at a time to a section

Nothing here depends on time, threads or asyncio: resolving a Deferred immediately runs whatever
waits for it. A driver written as a coroutine therefore runs on the real event loop and in a
simulated world, in an order determined only by the order of events.

An exception is also a value: a Deferred that is resolved with one raises it in the coroutine that
awaits it. Listeners receive the exception object.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

PartT = TypeVar("PartT")
ReplyT = TypeVar("ReplyT")

_log = logging.getLogger(__name__)


class Cancelled(BaseException):
    """Raised in a coroutine at its await when its Task is cancelled. It is not an Exception, so
    that error handlers do not swallow it.
    """


class Deferred:
    """A value that becomes available later: assigned once, and passed immediately
    to one listener.
    """

    __slots__ = ("_callback", "done", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: Any = None
        self._callback: Callable[[Any], None] | None = None

    def resolve(self, value: Any) -> None:
        """Assign the value and call the listener. Raises RuntimeError if it already has a value."""
        if self.done:
            raise RuntimeError("a Deferred can be resolved only once")
        self.done = True
        self.value = value
        callback = self._callback
        if callback is not None:
            self._callback = None
            callback(value)

    def on_resolved(self, callback: Callable[[Any], None]) -> None:
        """Call `callback(value)` once the value is available (now, if it already is). Raises
        RuntimeError if another listener is waiting.
        """
        if self.done:
            callback(self.value)
        elif self._callback is not None:
            raise RuntimeError("a Deferred can have only one listener")
        else:
            self._callback = callback

    @property
    def listener(self) -> Callable[[Any], None] | None:
        """The callback for the value; None if there is none or it has been called."""
        return self._callback

    def forget_listener(self) -> None:
        """Drop the listener."""
        self._callback = None

    def __await__(self) -> Generator[Deferred, Any, Any]:
        """Return the value, or raise it if it is an exception. Only for coroutines of a Task."""
        if not self.done:
            yield self
        value = self.value
        if isinstance(value, BaseException):
            try:
                raise value
            finally:
                del self, value  # the traceback holds this frame: no cycle through it
        return value


def resolved(value: Any) -> Deferred:
    """Return a Deferred that already has a value."""
    deferred = Deferred()
    deferred.resolve(value)
    return deferred


def then(part: PartT | Deferred, change: Callable[[PartT], ReplyT]) -> ReplyT | Deferred:
    """Return `change(value)` of a value that is available, or a Deferred of it."""
    if not isinstance(part, Deferred):
        return change(part)
    if part.done:
        return change(part.value)
    outcome = Deferred()
    part.on_resolved(lambda reply: outcome.resolve(change(reply)))
    return outcome


def chain(part: PartT | Deferred, step: Callable[[PartT], ReplyT | Deferred]) -> ReplyT | Deferred:
    """Like `then`, but `step(value)` may itself return a Deferred."""
    if not isinstance(part, Deferred):
        return step(part)
    if part.done:
        return step(part.value)
    outcome = Deferred()

    def on_value(value: PartT) -> None:
        reply = step(value)
        if isinstance(reply, Deferred):
            reply.on_resolved(outcome.resolve)
        else:
            outcome.resolve(reply)

    part.on_resolved(on_value)
    return outcome


def pass_on(outcome: Any, deferred: Deferred) -> None:
    """Resolve `deferred` with an outcome that is available, or once it is."""
    if isinstance(outcome, Deferred):
        outcome.on_resolved(deferred.resolve)
    else:
        deferred.resolve(outcome)


def gather(
    parts: Iterable[PartT | Deferred], combine: Callable[[list[PartT]], ReplyT]
) -> ReplyT | Deferred:
    """Return `combine(values)` of the values of `parts` (values or Deferreds), in their order.

    The result is the combined value itself if nothing has to be waited for, and a Deferred
    otherwise.
    Values may arrive while `parts` is still yielding.
    """
    values: list[Any] = []
    missing = 0
    outcome: Deferred | None = None  # once all parts are known

    def arrive(position: int, value: Any) -> None:
        nonlocal missing
        values[position] = value
        missing -= 1
        if not missing and outcome is not None:
            outcome.resolve(combine(values))

    for part in parts:
        if not isinstance(part, Deferred):
            values.append(part)
        elif part.done:
            values.append(part.value)
        else:
            values.append(None)
            missing += 1
            part.on_resolved(partial(arrive, len(values) - 1))
    if not missing:
        return combine(values)
    outcome = Deferred()
    return outcome


def first_of(*parts: Deferred) -> Deferred:
    """Return a Deferred of the first value that any part receives."""
    outcome = Deferred()

    def arrive(value: Any) -> None:
        if not outcome.done:
            outcome.resolve(value)

    for part in parts:
        part.on_resolved(arrive)
    return outcome


class Task(Deferred):
    """A running coroutine, and the Deferred of what it returns or raises.

    If it fails and has no listener, the failure is logged, because it would otherwise be lost.
    """

    __slots__ = ("_awaited", "_coroutine")

    def __init__(self, coroutine: Coroutine[Deferred, Any, Any]) -> None:
        super().__init__()
        self._coroutine = coroutine
        self._awaited: Deferred | None = None

    @property
    def name(self) -> str:
        """The name of the coroutine's function."""
        return str(getattr(self._coroutine, "__qualname__", "a coroutine"))

    def start(self) -> None:
        """Run up to the first await that has to wait; `spawn` calls this."""
        self._run(self._coroutine.send, None)

    def cancel(self) -> None:
        """Raise Cancelled where the coroutine waits; does nothing if it has ended.

        A coroutine that catches Cancelled to clean up may await again: the task ends when the
        coroutine does. Raises RuntimeError while the coroutine runs, as when it cancels itself.
        """
        if self.done:
            return
        awaited, self._awaited = self._awaited, None
        if awaited is None:
            raise RuntimeError("a task cannot be cancelled while it runs")
        awaited.forget_listener()
        self._run(self._coroutine.throw, Cancelled())

    def _resume(self, _: Any) -> None:
        self._awaited = None
        self._run(self._coroutine.send, None)

    def _run(self, advance: Callable[[Any], Deferred], argument: Any) -> None:
        try:
            awaited = advance(argument)
        except StopIteration as end:
            self.resolve(end.value)
        except Cancelled as cancelled:
            self.resolve(cancelled)
        except Exception as failure:
            if self._callback is None:
                _log.error("a task failed: %s", self._coroutine, exc_info=failure)
            self.resolve(failure)
        else:
            self._awaited = awaited
            awaited.on_resolved(self._resume)


def spawn(coroutine: Coroutine[Deferred, Any, Any]) -> Task:
    """Start a coroutine that awaits only Deferreds; it runs immediately up to its first wait."""
    task = Task(coroutine)
    task.start()
    return task


async def ended(tasks: Sequence[Task]) -> None:
    """Wait until all tasks have ended, whether or not they failed."""
    for task in tasks:
        try:
            await task
        except Exception:
            _log.exception("a task failed while it was being stopped")
        except Cancelled:
            if not task.done:  # the waiting coroutine itself is cancelled
                raise


class Waiters:
    """The Deferreds of callers that wait for the same event, in order of arrival."""

    __slots__ = ("_deferreds",)

    def __init__(self) -> None:
        self._deferreds: deque[Deferred] = deque()

    def __len__(self) -> int:
        return len(self._deferreds)

    def wait(self) -> Deferred:
        """Return a Deferred for another caller."""
        deferred = Deferred()
        self._deferreds.append(deferred)
        return deferred

    def resolve_next(self, value: Any) -> None:
        """Resolve the Deferred that has waited longest. Raises IndexError if there is none."""
        self._deferreds.popleft().resolve(value)

    def resolve_all(self, value: Any) -> None:
        """Resolve all current Deferreds with the same value; callers that
        arrive meanwhile keep waiting.
        """
        for _ in range(len(self._deferreds)):
            self.resolve_next(value)


class Mutex:
    """A lock for coroutines: `async with mutex`. First come, first served."""

    __slots__ = ("_is_held", "_waiting")

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: deque[Deferred] = deque()

    async def __aenter__(self) -> None:
        if not self._is_held:
            self._is_held = True
            return
        turn = Deferred()
        self._waiting.append(turn)
        try:
            await turn
        except Cancelled:
            self._waiting.remove(turn)
            raise

    async def __aexit__(self, *failure: object) -> None:
        self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().resolve(None)
        else:
            self._is_held = False

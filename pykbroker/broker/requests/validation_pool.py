"""Threads in which large batches are decompressed, checked and recompressed.

One batch of a megabyte may take tens of milliseconds, for which all other clients would wait on the
event loop. The codecs run without the interpreter's lock, so a few threads are enough.

Order is kept because the request after such a one on its connection is served only after the
reply. There is no order among different connections.

State: the threads, created with the first heavy batch.
In:  `check(work, done)`. Out: `done(outcomes)` on the event loop; nothing after `stop`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pykbroker.environment.background import Background
from pykbroker.log.validation.validation_rules import ValidationOutcome

Check = Callable[[], ValidationOutcome]
Done = Callable[[list[ValidationOutcome]], None]

MOST_THREADS = 4


class ValidationPool:
    """Threads that check large batches."""

    __slots__ = ("_halt", "_threads", "is_stopped")

    def __init__(self, background: Background, halt: Callable[[BaseException], None]) -> None:
        count = max(1, min(background.processors - 1, MOST_THREADS))  # one is for the loop
        self._threads = background.threads("validation", count)
        self._halt = halt
        self.is_stopped = False

    def check(self, work: list[Check], done: Done) -> None:
        """Run all of `work` in one thread, then `done` with the results, on the loop."""
        checking = self._threads.run(lambda: [each() for each in work])
        checking.on_resolved(partial(self._finish, done))

    def _finish(self, done: Done, outcome: list[ValidationOutcome] | BaseException) -> None:
        try:
            if isinstance(outcome, BaseException):
                raise outcome
            done(outcome)
        except Exception as failure:  # a bug: the contents of the logs are now uncertain
            self._halt(failure)

    def stop(self) -> None:
        """Wait for the threads; their current work is not appended."""
        self.is_stopped = True
        self._threads.close()

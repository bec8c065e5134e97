"""Look-ups that do not hold up the event loop when they need the disk.

A handler passes its look-up to `serve`. While it runs, the log floor raises ColdRead where it would
have to wait for the disk; a thread reads the missing data into the page cache, and the look-up runs
again from its beginning, on the loop, as often as necessary. What it read before is then in memory
or in the page cache.

A look-up must therefore be one that may be repeated. If it misses the page cache MOST_TRIES times,
or its read failed, it waits for the disk the next time; that of a closed connection is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from pykbroker.deferred import Deferred
from pykbroker.environment.background import Threads
from pykbroker.environment.files import ColdRead, Files
from pykbroker.errors import KafkaError
from pykbroker.network.request import CloseConnection, RequestConnection

FoundT = TypeVar("FoundT")

MOST_TRIES = 1000

_log = logging.getLogger(__name__)


class Asking(Protocol):
    """A request, as far as its look-up is concerned; its `repr` names it in the log."""

    connection: RequestConnection


class _Waiting:
    """A request whose look-up waits for the disk."""

    __slots__ = ("answer", "deferred", "look_up", "request", "tries")

    def __init__(
        self,
        request: Asking,
        look_up: Callable[[], Any],
        answer: Callable[[Any], Any],
        deferred: Deferred,
    ) -> None:
        self.request = request
        self.look_up = look_up
        self.answer = answer
        self.deferred = deferred
        self.tries = 0


class ColdReads:
    """Runs look-ups that may need the disk."""

    __slots__ = ("_files", "_threads", "_wake")

    def __init__(self, threads: Threads, files: Files, wake: Callable[[], None]) -> None:
        self._threads = threads
        self._files = files
        self._wake = wake

    def serve(
        self, request: Asking, look_up: Callable[[], FoundT], answer: Callable[[FoundT], Any]
    ) -> Any:
        """Return `answer` of the result of `look_up`, or a Deferred of it if that needs the disk.

        Raises what the first look-up or its answer raises. Later ones resolve the Deferred: with
        the KafkaError, or with a CloseConnection after any other exception. Once the client is
        gone, it may never be resolved.
        """
        files = self._files
        files.may_wait = False
        try:
            found = look_up()
        except ColdRead as cold:
            deferred = Deferred()
            self._fetch(cold, _Waiting(request, look_up, answer, deferred))
            return deferred
        finally:
            files.may_wait = True
        return answer(found)

    def look_up_now(self, look_up: Callable[[], FoundT]) -> FoundT:
        """Return the result of `look_up`; raises ColdRead if it would have to wait for the disk."""
        self._files.may_wait = False
        try:
            return look_up()
        finally:
            self._files.may_wait = True

    def breathe(self, breathe: Callable[[], None]) -> None:
        """Breathe in the middle of a look-up; other work that runs meanwhile may
        wait for the disk.
        """
        files = self._files
        may_wait, files.may_wait = files.may_wait, True
        try:
            breathe()
        finally:
            files.may_wait = may_wait

    def _fetch(self, cold: ColdRead, waiting: _Waiting) -> None:
        waiting.tries += 1
        self._threads.run(cold.warm).on_resolved(partial(self._again, waiting))

    def _again(self, waiting: _Waiting, fetched: object) -> None:
        if waiting.request.connection.closed:
            return
        failed = isinstance(fetched, BaseException)
        try:
            outcome = waiting.answer(self._look_up(waiting, failed or waiting.tries >= MOST_TRIES))
        except ColdRead as cold:
            self._fetch(cold, waiting)
            return
        except KafkaError as refusal:
            outcome = refusal
        except Exception:
            _log.exception("cannot serve %r", waiting.request)
            outcome = CloseConnection("an internal error of this node")
        if isinstance(outcome, Deferred):
            outcome.on_resolved(waiting.deferred.resolve)
        else:
            waiting.deferred.resolve(outcome)
        self._wake()

    def _look_up(self, waiting: _Waiting, may_wait: bool) -> Any:
        self._files.may_wait = may_wait
        try:
            return waiting.look_up()
        finally:
            self._files.may_wait = True

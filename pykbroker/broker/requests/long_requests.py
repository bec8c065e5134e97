"""Handles requests that would hold the event loop for too long.

    many elements to decode     the body is decoded by a thread (`decode`)
    long to handle              the handler runs in slices (`environment/slices.py`), and breathes
    then the reply              the thread encodes it, and frees the request and the reply
    the first of its API        its code is imported beside the event loop (`load`)

A request is long if an array, or all inner arrays together, have more than LOOP_ELEMENTS elements,
or if its handler returns `InSlices`.
The connection has no other request in flight meanwhile, so the order of its replies holds.

Messages of a million elements take the thread a second or two of Python, during which the event
loop gets the interpreter back after each switch interval (`process_settings.py`).

State: the thread; the requests that wait for an import. In: requests and replies. Out: Deferreds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from pykbroker.broker.handlers import Route
from pykbroker.deferred import Deferred, Waiters
from pykbroker.environment import Environment
from pykbroker.errors import KafkaError
from pykbroker.network.request import Request
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts
from pykbroker.protocol.primitives import Message

LOOP_ELEMENTS = 2000
FREED_AT_ONCE = 1000

Encoded = tuple[Parts, int]


class LongRequests:
    """Handles long requests, beside the short ones."""

    __slots__ = ("_loading", "_slices", "_threads")

    def __init__(self, environment: Environment) -> None:
        self._threads = environment.background.threads("long-requests")
        self._slices = environment.slices
        self._loading: dict[Route, Waiters] = {}

    def load(self, route: Route) -> Deferred:
        """Load a route; return a Deferred of None, or of the exception of a failed import."""
        waiting = self._loading.get(route)
        if waiting is not None:
            return waiting.wait()
        waiting = self._loading[route] = Waiters()
        loaded = waiting.wait()
        job = self._slices.run(route.api.name, lambda: self._slices.apart(route.load))
        job.on_resolved(partial(self._loaded, route))
        return loaded

    def _loaded(self, route: Route, failure: BaseException | None) -> None:
        self._loading.pop(route).resolve_all(failure)

    def decode(self, request: Request, route: Route) -> Deferred:
        """Decode the request in the thread; return a Deferred of the message or a DecodeError."""
        version = request.api_version
        return self._threads.run(lambda: route.decode(request.frame, request.body_pos, version)[0])

    def handle(
        self, request: Request, job: Callable[[], object], after_slice: Callable[[], None]
    ) -> Deferred:
        """Return a Deferred of the outcome of the handler's `job`. Once the client is gone, the job
        ends after its current slice (unless it is held), and the Deferred may never be resolved.
        """
        connection = request.connection
        return self._slices.run(
            request.api.name,
            job,
            lambda: not connection.closed,
            after_slice,
        )

    def encode(self, request: Request, reply: Message) -> Deferred:
        """Encode a reply; return a Deferred of its parts and their size, or an EncodeError.

        The caller must not use the request's message and the reply afterwards: a thread reads both.
        """
        return self._threads.run(partial(_encode, request, reply))

    def encode_error(self, request: Request, route: Route, error: KafkaError) -> Deferred:
        """Like `encode`, for the API's answer to a request that failed as a whole; or what the
        handler module returns instead of a message.
        """

        def job() -> object:
            reply = route.error_reply(request, error.code, error.message)
            return _encode(request, reply) if isinstance(reply, Message) else reply

        return self._threads.run(job)

    def close(self) -> None:
        """Wait for the thread's current work and end sliced jobs; nothing is resolved."""
        self._threads.close()
        self._slices.close()


def _encode(request: Request, reply: Message) -> Encoded:
    out: Parts = []
    size = encode_response(request.api, request.api_version, request.correlation_id, reply, out)
    message, request.message = request.message, None
    free(message)
    free(reply)
    return out, size


def free(message: Message) -> None:
    """Free the long lists of a message in portions.

    A list of a million structs would be freed in one go with its last reference, and during that
    time the interpreter would run nothing else. Objects with other references are left alone.
    """
    for name in type(message).__slots__:
        value = getattr(message, name, None)
        if type(value) is list and sys.getrefcount(value) == _ONLY_HERE:
            _free_list(value)


def _free_list(elements: list[object]) -> None:
    if len(elements) <= FREED_AT_ONCE:
        for element in elements:
            if isinstance(element, Message) and sys.getrefcount(element) == _ONLY_HERE:
                free(element)
    while len(elements) > FREED_AT_ONCE:
        del elements[-FREED_AT_ONCE:]


# Its owner, the local variable, and the argument of getrefcount.
_ONLY_HERE = 3

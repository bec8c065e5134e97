"""The worker: takes requests from the channel, runs their handlers, sends the replies.

A turn, which runs at most once per turn of the event loop, when requests or other work wait::

    round:  every request that is queued:  decode -> handle -> encode -> connection
            end of the round:              every dirty log is written once, log ends and high
                                           watermarks move, what waited for them is answered
            a connection whose request was answered hands over its next frame, if that has
            arrived: the next round
    end:    the replies are sent, all those of a connection together
    after:  what no reply waits for, such as the markers of transactions that were ended in this
            turn: written in rounds without requests (at most ROUNDS_PER_TURN)

A connection on which the general path has served a request of some APIs may be prepared for more
like it (`broker/prepared/`), which are then served without being decoded first.

So the appends of all connections are gathered, and a client that pipelines is served in rounds
within one turn. A turn ends after ROUNDS_PER_TURN rounds or TURN_NS, so that other sockets get a
turn; requests queued by then are served in the next one.

If a request, the end of a round or the sends held the event loop for a millisecond or more, the
time is recorded in the node's `LoopTime`. A shorter one costs one clock reading.

There are four kinds of error. `KafkaError` becomes the API's own error response. If a response
cannot be encoded (for example because a suffix makes a client-supplied name too long), the client
receives UNKNOWN_SERVER_ERROR. If a peer sends something that is not a request, or one of an API or
version that is not served (except ApiVersions), its connection is closed. Anything else is a bug:
the connection is also closed (instead of answering UNKNOWN_SERVER_ERROR and continuing as if
nothing had happened), and the error is logged with its traceback and counted. A bug outside of a
request, such as in the end of a round, halts the node.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from pykbroker.broker.handlers import InSlices, Route
from pykbroker.broker.prepared.preparing import Preparing
from pykbroker.broker.requests.long_requests import LOOP_ELEMENTS, LongRequests
from pykbroker.broker.services import BrokerServices, NodeServices
from pykbroker.deferred import Deferred
from pykbroker.environment.loop_time import Laps
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.request import (
    CloseConnection,
    PreparedConnection,
    Request,
    RequestConnection,
)
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.api import API_VERSIONS
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts
from pykbroker.protocol.primitives import EncodeError, Message, ProtocolError, TooManyElements

ROUNDS_PER_TURN = 32
TURN_NS = 10_000_000
REQUEST_LOG = "pykbroker.request"  # at DEBUG when a node starts: it takes `TracingWorker`
_KEYS = 128
CLOSED = "a closed connection"

_log = logging.getLogger("pykbroker.worker")


class Worker:
    """Serves the requests of one node."""

    __slots__ = (
        "_channel",
        "_counters",
        "_end_round",
        "_finished",
        "_halt",
        "_laps",
        "_long",
        "_monotonic_ns",
        "_now_ms",
        "_on_broker",
        "_on_controller",
        "_preparing",
        "_services",
        "_turn_ended",
    )

    def __init__(
        self,
        services: NodeServices,
        channel: RequestChannel,
        *,
        turn_ended: Callable[[], None],
        halt: Callable[[BaseException], None],
    ) -> None:
        self._services = services
        self._now_ms = services.now_ms
        self._monotonic_ns = services.environment.clock.monotonic_ns
        self._laps = Laps(services.environment.loop_time, self._monotonic_ns)
        self._long = LongRequests(services.environment)
        self._finished: Route | None = None  # the API of a parked request that was answered
        self._counters = services.counters
        self._halt = halt
        self._channel = channel
        self._end_round: Callable[[], None] = _nothing_to_write
        self._turn_ended = turn_ended
        self._on_broker: list[Route | None] = [None] * _KEYS
        self._on_controller: list[Route | None] = [None] * _KEYS
        for route in services.routes:
            if route.on_broker:
                self._on_broker[route.api.key] = route
            if route.on_controller:
                self._on_controller[route.api.key] = route
        self._preparing = Preparing(self._on_broker)
        channel.attach_worker(self.run_turn)

    def serve_brokers(self, services: BrokerServices, end_round: Callable[[], None]) -> None:
        """Start to serve as a broker; `end_round` writes what a round has appended."""
        self._services = services
        self._end_round = end_round

    def close(self) -> None:
        """End all sliced jobs and the thread of long requests."""
        self._long.close()

    def run_turn(self) -> None:
        """Serve what is queued; called by the event loop."""
        channel = self._channel
        queue = channel.queue
        lap = self._laps.lap
        now_ms = self._now_ms()
        turn_end_ns = self._laps.start() + TURN_NS
        try:
            for _ in range(ROUNDS_PER_TURN):
                for _ in range(len(queue)):
                    queued = queue.popleft()
                    if isinstance(queued, Request):
                        queued.received_ms = now_ms
                        self._serve(queued)
                        now_ns = lap(queued.api.name)
                    else:
                        now_ns = lap(self._serve_next_of(queued, now_ms))
                    if now_ns >= turn_end_ns:
                        break
                self._finished = None
                channel.woken = False
                self._end_round()
                now_ns = lap(self._unit_of_round())
                if channel.waiting:
                    channel.admit_waiting()
                if not (queue or channel.woken) or now_ns >= turn_end_ns:
                    break
            channel.flush_connections()
            self._turn_ended()
            lap("sends")
            if channel.put_off:
                self._do_put_off()
        except Exception as failure:
            # The state of the logs and machines is uncertain now: a stopped node is better than a
            # wrong one. No turn follows, so that no client receives a possibly wrong answer.
            self._halt(failure)
        else:
            channel.turn_finished()

    def _do_put_off(self) -> None:
        """Run the work that waited until the replies were sent, and write what it appends."""
        channel = self._channel
        channel.do_put_off()
        for _ in range(ROUNDS_PER_TURN):
            channel.woken = False
            self._end_round()
            if not channel.woken:
                break
        channel.flush_connections()
        self._turn_ended()
        self._laps.lap("after the replies")

    def _unit_of_round(self) -> str:
        """Name the end of a round by the API of the last parked request that it answered."""
        route = self._finished
        return "end of a round" if route is None else f"delayed {route.api.name}"

    def _serve_next_of(self, connection: PreparedConnection, now_ms: int) -> str:
        """Serve a request of a connection on which something is prepared; return the name of the
        API, for LoopTime, or CLOSED.
        """
        if connection.closed:
            return CLOSED
        frame = connection.take_frame()
        try:
            route = self._preparing.serve(connection, frame, now_ms)
            if route is not None:
                name: str = route.api.name
                return name
            request = connection.request_of(*frame)
        except Exception as failure:
            self._our_bug_on(connection, "a request", failure)
            return CLOSED
        if request is None:
            return CLOSED
        request.received_ms = now_ms
        self._serve(request)
        return request.api.name

    def _remember(self, request: Request, route: Route) -> None:
        """Note for `broker/prepared/` a request that the general path has served."""
        self._preparing.remember(self._services, request, route, self._finish)

    def _serve(self, request: Request) -> None:
        connection = request.connection
        if connection.closed:
            return
        version = request.api_version
        by_key = self._on_controller if connection.listener.is_controller else self._on_broker
        route = by_key[request.api_key]
        if route is None or not route.min_version <= version <= route.max_version:
            self._refuse(request, route)
            return
        if not route.loaded and not self._is_loaded(request, route):
            return
        try:
            route.request_count += 1
            request.message = route.decode(request.frame, request.body_pos, version, LOOP_ELEMENTS)[
                0
            ]
            outcome = route.handle(self._services, request)
            if route.prepare is not None:
                self._remember(request, route)
            if isinstance(outcome, Deferred):
                if outcome.done:
                    self._finish(request, route, outcome.value)
                else:
                    outcome.on_resolved(partial(self._finish, request, route))
            else:
                self._reply(request, route, outcome)
        except KafkaError as error:
            self._reply_error(request, route, error)
        except EncodeError:
            self._our_bug(request)
        except TooManyElements:
            decoding = self._long.decode(request, route)
            decoding.on_resolved(partial(self._long_decoded, request, route))
        except ProtocolError as malformed:
            self._malformed(request, malformed)
        except Exception:
            self._our_bug(request)

    def _is_loaded(self, request: Request, route: Route) -> bool:
        """Load the route; return False if the request is served later, when that has ended."""
        loading = self._long.load(route)
        if loading.done and loading.value is None:
            return True
        loading.on_resolved(partial(self._serve_later, request))
        return False

    def _serve_later(self, request: Request, failure: BaseException | None) -> None:
        """Queue a request that has waited for the code of its API."""
        if failure is None:
            self._channel.put(request)
        else:
            self._our_bug(request, failure)

    def _long_decoded(self, request: Request, route: Route, message: Any) -> None:
        """Handle a long request, which the thread has decoded, in slices."""
        if isinstance(message, ProtocolError):
            self._malformed(request, message)
            return
        if request.connection.closed:
            return
        request.message = message
        self._handle_in_slices(request, route, partial(route.handle, self._services, request))

    def _handle_in_slices(self, request: Request, route: Route, job: Callable[[], object]) -> None:
        # Data appended by a slice is written before the next slice.
        handling = self._long.handle(request, job, self._channel.wake)
        handling.on_resolved(partial(self._long_handled, request, route))

    def _long_handled(self, request: Request, route: Route, outcome: Any) -> None:
        """Continue with the outcome of a long request: the thread encodes a message or an error."""
        self._channel.wake()  # for what the handler appended
        if isinstance(outcome, InSlices):
            self._handle_in_slices(request, route, outcome.job)
        elif isinstance(outcome, Deferred):
            outcome.on_resolved(partial(self._long_handled, request, route))
        elif isinstance(outcome, Message):
            encoding = self._long.encode(request, outcome)
            encoding.on_resolved(partial(self._long_encoded, request, route))
        elif isinstance(outcome, KafkaError):
            encoding = self._long.encode_error(request, route, outcome)
            encoding.on_resolved(partial(self._long_encoded, request, route))
        else:
            self._finish(request, route, outcome)

    def _long_encoded(self, request: Request, route: Route, encoded: Any) -> None:
        try:
            if isinstance(encoded, EncodeError):
                out: Parts = []
                encoded = out, self._encode_refusal(request, route, encoded, out)
            elif not isinstance(encoded, tuple):
                self._reply(request, route, encoded)
                return
            request.connection.reply_parts(*encoded)
        except Exception:
            self._our_bug(request)

    def _finish(self, request: Request, route: Route, outcome: Any) -> None:
        """A parked request has its outcome."""
        self._finished = route
        try:
            self._reply(request, route, outcome)
        except Exception:
            self._our_bug(request)

    def _reply(self, request: Request, route: Route, outcome: Any) -> int:
        """Answer a request; return the bytes of the reply, 0 if there is none, or none yet."""
        if isinstance(outcome, Message):
            out: Parts = []
            api = route.api
            version = request.api_version
            try:
                size = encode_response(api, version, request.correlation_id, outcome, out)
            except EncodeError as fault:
                out = []
                size = self._encode_refusal(request, route, fault, out)
            if len(out) == 1:
                request.connection.reply(out[0])  # type: ignore[arg-type]
            else:
                request.connection.reply_parts(out, size)  # type: ignore[arg-type]
            return size
        if outcome is None:
            request.connection.no_reply()
        elif isinstance(outcome, KafkaError):
            return self._reply_error(request, route, outcome)
        elif isinstance(outcome, CloseConnection):
            request.connection.abandon(outcome.reason)
        elif isinstance(outcome, InSlices):
            self._handle_in_slices(request, route, outcome.job)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            raise TypeError(f"{route} answered with {outcome!r}")
        return 0

    def _encode_refusal(
        self, request: Request, route: Route, fault: EncodeError, out: Parts
    ) -> int:
        """Encode UNKNOWN_SERVER_ERROR, because the response has a value that the protocol cannot
        represent, such as an over-long name. Return its size.
        """
        self._counters.unexpected_errors += 1
        _log.error(
            "cannot encode the answer to %r of %s: %s", request, request.connection.peer, fault
        )
        refusal = route.error_reply(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
        if not isinstance(refusal, Message):
            raise TypeError(f"{route} cannot answer with an error") from fault
        return encode_response(route.api, request.api_version, request.correlation_id, refusal, out)

    def _reply_error(self, request: Request, route: Route, error: KafkaError) -> int:
        try:
            return self._reply(
                request, route, route.error_reply(request, error.code, error.message)
            )
        except Exception:
            self._our_bug(request)
            return 0

    def _refuse(self, request: Request, route: Route | None) -> None:
        """Refuse an API or version that is not served here (ApiVersions: answer with an error)."""
        if request.api_key == API_VERSIONS and route is not None:
            # The client asks what we speak: answer in the one version everybody reads (KIP-511).
            if not route.loaded:
                route.load()
            request.api_version = 0
            self._reply(
                request, route, route.error_reply(request, ErrorCode.UNSUPPORTED_VERSION, None)
            )
            return
        request.connection.refuse(
            f"{request.api.name} version {request.api_version} is not served on this listener"
        )

    def _malformed(self, request: Request, malformed: ProtocolError) -> None:
        request.connection.refuse(
            f"malformed {request.api.name} request of version {request.api_version}: {malformed}"
        )

    def _our_bug(self, request: Request, failure: BaseException | None = None) -> None:
        self._our_bug_on(request.connection, repr(request), failure)

    def _our_bug_on(
        self, connection: RequestConnection, served: str, failure: BaseException | None
    ) -> None:
        self._counters.unexpected_errors += 1
        _log.error("cannot serve %s of %s", served, connection.peer, exc_info=failure or True)
        connection.close()


def _nothing_to_write() -> None:
    """A node that is no broker, or not yet one, has no logs of topics to write."""

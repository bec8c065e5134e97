"""How requests reach the active controller: a call in this process, or a
request over the network.

    send      a request of this node itself            the peer's controller listener
    forward   a request of a client, with its          the same, inside an Envelope
              principal and address

    local     any request                              this process only

    no controller known, not reached, NOT_CONTROLLER --> retry until the deadline; not if this
                                                         process had the active one when asked

State: none; a request that may be retried is a coroutine of its own.
In:    messages with a deadline. Out: a Deferred of the response message, or of a KafkaError, such
       as REQUEST_TIMED_OUT at the deadline or the controller's error for the whole request.
Source: Kafka's `NodeToControllerRequestThread.java`, `ForwardingManagerImpl.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from pykbroker.deferred import Deferred, resolved, spawn
from pykbroker.environment.scheduler import Scheduler
from pykbroker.errors import ErrorCode, KafkaError, error_name
from pykbroker.protocol.api import API_BY_NAME, Api, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.parts_writer import Parts
from pykbroker.protocol.primitives import DecodeError, Message
from pykbroker.types import Peer
from pykbroker.values import NamedTuple

if TYPE_CHECKING:  # imported with the first forwarded request
    from pykbroker.protocol.messages.envelope_request import EnvelopeRequest

# NodeToControllerRequestThread.java: how long to wait before looking for a controller again.
RETRY_MS = 100
NO_CORRELATION = 0

_log = logging.getLogger(__name__)


class Send(Protocol):
    """How a request leaves this node; the client pool's `send`."""

    def __call__(self, peer: Peer, message: Message, deadline_ms: int) -> Deferred:
        """Return a Deferred of the response message or of a KafkaError."""


class LocalController(Protocol):
    """The controller of this process, active or not."""

    @property
    def is_active(self) -> bool:
        """Whether this controller is active."""

    def submit(self, message: Message, version: int) -> Deferred:
        """Return a Deferred of the response message or of a KafkaError."""


class Caller(NamedTuple):
    """The client on whose behalf a request is forwarded."""

    principal: str
    address: str
    client_id: str = ""


class ControllerChannel:
    """Sends requests to the active controller, wherever it is.

    `local`: the controller of this process, None on a node without that role. `leader`: the active
    controller as far as this node knows, None if it does not know it.
    """

    def __init__(
        self,
        *,
        local: LocalController | None,
        leader: Callable[[], Peer | None],
        send: Send,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
    ) -> None:
        self._local = local
        self._leader = leader
        self._send = send
        self._scheduler = scheduler
        self._now_ms = now_ms

    def send(self, message: Message, deadline_ms: int) -> Deferred:
        """Send a request of this node to the active controller; return a Deferred of the response
        or of a KafkaError, which also stands for the error of a whole response.
        """
        local = self._local
        if local is not None and local.is_active:
            version = request_api(message).max_version
            return self._until(local.submit(message, version), deadline_ms)
        return spawn(refusal_as_value(self._ask(message, deadline_ms)))

    def local(self, message: Message, version: int, deadline_ms: int) -> Deferred:
        """Let only the controller of this process decide; NOT_CONTROLLER if it is not active."""
        if self._local is None:
            return resolved(KafkaError(ErrorCode.NOT_CONTROLLER))
        return self._until(self._local.submit(message, version), deadline_ms)

    def forward(
        self,
        message: Message,
        version: int,
        caller: Caller,
        deadline_ms: int,
        here: Callable[[], Deferred] | None = None,
    ) -> Deferred:
        """Forward a client's request to the active controller, in the client's version.

        `here`: the function that answers on the active controller's node if the controller itself
        does not. Another controller's error for the Envelope, unless it is NOT_CONTROLLER, becomes
        KafkaError UNSUPPORTED_VERSION or UNKNOWN_SERVER_ERROR.
        """
        local = self._local
        if local is None:
            answer = None
        else:
            answer = here or partial(local.submit, message, version)
            if local.is_active:
                return self._until(answer(), deadline_ms)
        forwarded = self._forward(message, version, caller, deadline_ms, answer)
        return spawn(refusal_as_value(forwarded))

    def _until(self, answer: Deferred, deadline_ms: int) -> Deferred:
        """Return the answer, or REQUEST_TIMED_OUT at the deadline; the
        decision itself is not undone.
        """
        if answer.done:
            return answer
        outcome = Deferred()

        def expire() -> None:
            if not outcome.done:
                outcome.resolve(KafkaError(ErrorCode.REQUEST_TIMED_OUT))

        timer = self._scheduler.call_later(deadline_ms - self._now_ms(), expire)

        def answered(value: Any) -> None:
            timer.cancel()
            if not outcome.done:
                outcome.resolve(value)

        answer.on_resolved(answered)
        return outcome

    # Coroutines: one request each.

    async def _ask(self, message: Message, deadline_ms: int) -> Message:
        version = request_api(message).max_version
        here = None if self._local is None else partial(self._local.submit, message, version)
        reply: Any = await self._retried(message, deadline_ms, here)
        code = getattr(reply, "error_code", 0)  # some responses have no top-level error
        if code:
            raise KafkaError(code, getattr(reply, "error_message", None))
        return reply  # type: ignore[no-any-return]

    async def _forward(
        self,
        message: Message,
        version: int,
        caller: Caller,
        deadline_ms: int,
        here: Callable[[], Deferred] | None,
    ) -> Message:
        from pykbroker.protocol.messages.envelope_response import EnvelopeResponse

        api = request_api(message)
        envelope = make_envelope(message, version, caller)
        reply: Any = await self._retried(envelope, deadline_ms, here)
        if type(reply) is not EnvelopeResponse:
            return reply  # type: ignore[no-any-return]  # decided in this process meanwhile
        if reply.error_code == ErrorCode.UNSUPPORTED_VERSION:
            # The client has to learn the new controller's versions: Kafka closes the connection.
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        if reply.error_code:
            _log.warning(
                "the controller rejected a forwarded %s: %s", api.name, error_name(reply.error_code)
            )
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return open_envelope(api, version, reply.response_data or b"")

    async def _retried(
        self, message: Message, deadline_ms: int, here: Callable[[], Deferred] | None
    ) -> Any:
        """Ask the active controller, retrying until one decides. Raises a KafkaError that is not
        retriable, or REQUEST_TIMED_OUT once the deadline has passed.
        """
        local = self._local
        while True:
            if here is not None and local is not None and local.is_active:
                outcome = await value_of(self._until(here(), deadline_ms))
            else:
                peer = self._leader()
                outcome = KafkaError(ErrorCode.NOT_CONTROLLER)
                if peer is not None:
                    outcome = await value_of(self._send(peer, message, deadline_ms))
            if not is_retriable(outcome):
                if isinstance(outcome, KafkaError):
                    raise outcome
                return outcome
            left_ms = deadline_ms - self._now_ms()
            if left_ms <= 0:
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
            await self._scheduler.sleep(min(RETRY_MS, left_ms))


async def refusal_as_value(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Await a coroutine and return its result; a KafkaError that it raises is returned as well."""
    try:
        return await coroutine
    except KafkaError as refusal:
        return refusal.with_traceback(None)  # it has frames that have the refusal: a cycle


async def value_of(deferred: Deferred) -> Any:
    """Await a value; a KafkaError is returned, not raised."""
    try:
        return await deferred
    except KafkaError as refusal:
        return refusal.with_traceback(None)  # it has frames that have the refusal: a cycle


def is_retriable(outcome: Any) -> bool:
    """Return whether the active controller may not have been reached. As in Kafka, the request is
    then repeated, although it may have taken effect: the controller's checks (names, epochs) reject
    most repetitions, and a second block of producer ids only leaves a gap.
    """
    if isinstance(outcome, KafkaError):
        return outcome.code in (ErrorCode.NOT_CONTROLLER, ErrorCode.NETWORK_EXCEPTION)
    return getattr(outcome, "error_code", 0) == ErrorCode.NOT_CONTROLLER


def request_api(message: Message) -> Api:
    """Return the API of a request message."""
    return API_BY_NAME[type(message).__name__.removesuffix("Request")]


def make_envelope(message: Message, version: int, caller: Caller) -> EnvelopeRequest:
    """Wrap a client's request with its principal and address (KIP-590)."""
    from ipaddress import ip_address

    from pykbroker.protocol.messages.default_principal_data import DefaultPrincipalData
    from pykbroker.protocol.messages.envelope_request import EnvelopeRequest

    out: Parts = []
    encode_request(request_api(message), version, NO_CORRELATION, caller.client_id, message, out)
    framed = b"".join(bytes(part) for part in out)  # type: ignore[arg-type]
    kind, _, name = caller.principal.partition(":")
    principal: Parts = [bytearray((0).to_bytes(2, "big"))]
    DefaultPrincipalData(type=kind, name=name, token_authenticated=False).encode(principal, 0)
    return EnvelopeRequest(
        request_data=framed[4:],
        request_principal=b"".join(bytes(part) for part in principal),  # type: ignore[arg-type]
        client_host_address=ip_address(caller.address).packed,
    )


def open_envelope(api: Api, version: int, response_data: bytes | memoryview) -> Message:
    """Return the controller's response to the request in an envelope. Raises
    KafkaError(UNKNOWN_SERVER_ERROR) if it is malformed.
    """
    try:
        _, position = decode_response_header(response_data, api, version)
        response, _ = response_class(api.key).decode(memoryview(response_data), position, version)
    except DecodeError as malformed:
        _log.error("a forwarded %s got a malformed response: %s", api.name, malformed)
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from malformed
    return response

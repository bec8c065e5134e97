"""Envelope (58): a broker forwards the request of one of its clients to the controller (KIP-590).

Behaviour: the request inside is handled as if its client had sent it here, with the principal and
the address in the envelope; its response is returned inside the envelope's. An API that is not
forwarded, or a malformed address, is INVALID_REQUEST; a request, or a version of it, that is not
understood is UNSUPPORTED_VERSION; a malformed principal is PRINCIPAL_DESERIALIZATION_FAILURE.
NOT_CONTROLLER for the whole request is returned in the envelope itself, so that the broker asks
the next controller.
Versions: 0.
Not done: authorization (the listener is for nodes of the cluster only).
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import Handler, Route
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.request import Request
from pykbroker.protocol.headers import decode_request_header, encode_response
from pykbroker.protocol.messages.default_principal_data import DefaultPrincipalData
from pykbroker.protocol.messages.envelope_response import EnvelopeResponse
from pykbroker.protocol.primitives import DecodeError, Message

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.protocol.parts_writer import Parts

API_KEY = 58

# ApiKeys.java: `forwardable`.
FORWARDABLE = frozenset(
    {
        "CreateTopics",
        "DeleteTopics",
        "CreateAcls",
        "DeleteAcls",
        "AlterConfigs",
        "CreatePartitions",
        "CreateDelegationToken",
        "RenewDelegationToken",
        "ExpireDelegationToken",
        "ElectLeaders",
        "IncrementalAlterConfigs",
        "AlterPartitionReassignments",
        "ListPartitionReassignments",
        "AlterClientQuotas",
        "AlterUserScramCredentials",
        "DescribeQuorum",
        "UpdateFeatures",
        "AllocateProducerIds",
        "UnregisterBroker",
        "UnregisterController",
        "AddRaftVoter",
        "RemoveRaftVoter",
    }
)


class ForwardedRequest(Request):
    """A client's request that was forwarded by another node."""

    __slots__ = ("_address", "_principal")

    def __init__(self, envelope: Request, frame: memoryview, principal: str, address: str) -> None:
        super().__init__(envelope.connection, frame)
        self.received_ms = envelope.received_ms
        self._principal = principal
        self._address = address

    @property
    def principal(self) -> str:
        """The principal authenticated by the forwarding node."""
        return self._principal

    @property
    def client_address(self) -> str:
        """The client's address."""
        return self._address


def handle(services: NodeServices, request: Request) -> EnvelopeResponse | Deferred:
    """Handle the request inside, and wrap its response."""
    inner = open_request(request)
    route = find_route(services.routes, inner)

    def wrap(outcome: Any) -> EnvelopeResponse:
        if isinstance(outcome, KafkaError):
            if outcome.code == ErrorCode.NOT_CONTROLLER:
                raise outcome
            outcome = route.error_reply(inner, outcome.code, outcome.message)
        if getattr(outcome, "error_code", 0) == ErrorCode.NOT_CONTROLLER:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        return EnvelopeResponse(response_data=encoded(route, inner, outcome))

    def answer(outcome: Any) -> EnvelopeResponse:
        try:
            return wrap(outcome)
        except KafkaError as refusal:
            return error_reply(request, refusal.code)

    try:
        inner.message = route.decode(inner.frame, inner.body_pos, inner.api_version)[0]
    except DecodeError as malformed:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION) from malformed
    try:
        outcome: Any = route.handle(services, inner)
    except KafkaError as refusal:
        outcome = refusal
    return then(outcome, answer)


def open_request(envelope: Request) -> ForwardedRequest:
    """Return the request inside an envelope, with its body not yet decoded. Raises KafkaError if it
    is malformed or not an API that is forwarded.
    """
    message = envelope.message
    principal = principal_of(message.request_principal)
    try:
        address = str(ip_address(bytes(message.client_host_address)))
    except ValueError as malformed:
        raise KafkaError(ErrorCode.INVALID_REQUEST) from malformed
    inner = ForwardedRequest(envelope, memoryview(message.request_data), principal, address)
    try:
        decode_request_header(inner.frame, inner)
    except DecodeError as malformed:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION) from malformed
    if inner.api.name not in FORWARDABLE:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"{inner.api.name} is not an API that is forwarded"
        )
    return inner


def principal_of(serialized: bytes | None) -> str:
    """Return `TYPE:NAME` of a serialized principal: an int16 version and DefaultPrincipalData.
    Raises KafkaError(PRINCIPAL_DESERIALIZATION_FAILURE).
    """
    try:
        if serialized is None or bytes(serialized[:2]) != b"\0\0":
            raise DecodeError("the principal has an unknown version")
        principal, _ = DefaultPrincipalData.decode(serialized, 2, 0)
    except DecodeError as malformed:
        raise KafkaError(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE) from malformed
    return f"{principal.type}:{principal.name}"


def find_route(routes: list[Route], inner: Request) -> Route:
    """Return the route for the request inside; raises UNSUPPORTED_VERSION if its
    version has none.
    """
    for route in routes:
        if route.api is inner.api and route.on_controller:
            if not route.loaded:
                route.load()
            if route.min_version <= inner.api_version <= route.max_version:
                return route
    raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)


def encoded(route: Route, inner: Request, response: Message) -> bytes:
    """Return the response as the client would read it, without the length prefix."""
    out: Parts = []
    encode_response(route.api, inner.api_version, inner.correlation_id, response, out)
    return b"".join(bytes(part) for part in out)[4:]  # type: ignore[arg-type]


def error_reply(request: Request, code: int, message: str | None = None) -> EnvelopeResponse:
    """Reject the envelope, without a response of the request inside."""
    return EnvelopeResponse(response_data=None, error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=0, error_reply=error_reply
)

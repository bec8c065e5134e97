"""DescribeCluster (60): the brokers of the cluster, or on a controller listener the controllers.

Behaviour: the endpoint type of the request must be that of the listener: MISMATCHED_ENDPOINT_TYPE,
UNSUPPORTED_ENDPOINT_TYPE for one that does not exist (version 0: INVALID_REQUEST). The controller
named is a live broker, as in Kafka: this one unless it is fenced. On a controller listener it is
the active controller. It is -1 if there is none, or it is not among the nodes of the answer. A
controller listener refuses the request (UNSUPPORTED_VERSION) while metadata.version is below
3.7-IV0, because controllers do not register.
Versions: 0-2. 1+ endpoint types; 2+ fenced brokers on request.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.broker.requests.authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_version import supports_controller_registration
from pykbroker.protocol.messages.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 60
BROKERS, CONTROLLERS = 1, 2
_NAMES = {BROKERS: "BROKER", CONTROLLERS: "CONTROLLER"}


def handle(services: NodeServices, request: Request) -> DescribeClusterResponse:
    """Answer from the image."""
    message = request.message
    expected = CONTROLLERS if request.connection.listener.is_controller else BROKERS
    level = services.metadata.image.metadata_version
    if expected == CONTROLLERS and not supports_controller_registration(level):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            "Direct-to-controller communication is not supported with the current MetadataVersion.",
        )
    _check_endpoint_type(request, expected)
    if expected == BROKERS:
        nodes = _brokers(services, request)
        controller_id = services.metadata.controller_id()
    else:
        nodes = _controllers(services, request)
        controller_id = services.raft.leader_id
    known = any(node.broker_id == controller_id for node in nodes)
    operations = NOT_ASKED
    if message.include_cluster_authorized_operations:
        operations = CLUSTER_OPERATIONS
    return DescribeClusterResponse(
        error_message=None,
        endpoint_type=expected,
        cluster_id=services.cluster_id,
        controller_id=controller_id if known else -1,
        brokers=nodes,
        cluster_authorized_operations=operations,
    )


def _check_endpoint_type(request: Request, expected: int) -> None:
    asked = request.message.endpoint_type
    first_version = request.api_version == 0
    if asked not in _NAMES:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        message = f"Unsupported endpoint type {asked}"
    elif asked != expected:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        message = (
            f"The request was sent to an endpoint of type {_NAMES[expected]}, but we wanted an "
            f"endpoint of type {_NAMES[asked]}"
        )
    else:
        return
    raise KafkaError(ErrorCode.INVALID_REQUEST if first_version else code, message)


def _brokers(services: NodeServices, request: Request) -> list[DescribeClusterBroker]:
    fenced_too = request.message.include_fenced_brokers
    return [
        DescribeClusterBroker(
            broker_id=at.id,
            host=listener.host,
            port=listener.port,
            rack=at.rack,
            # Fenced brokers are only there from version 2 on, where the field is.
            is_fenced=at.fenced and request.api_version >= 2,
        )
        for _, at in sorted(services.metadata.image.brokers.items())
        if (listener := at.listeners.get(request.listener_name)) is not None
        and (fenced_too or not at.fenced)
    ]


def _controllers(services: NodeServices, request: Request) -> list[DescribeClusterBroker]:
    return [
        DescribeClusterBroker(broker_id=at.id, host=listener.host, port=listener.port)
        for _, at in sorted(services.metadata.image.controllers.items())
        if (listener := at.listeners.get(request.listener_name)) is not None
    ]


def error_reply(request: Request, code: int, message: str | None = None) -> DescribeClusterResponse:
    """Return `code` for the whole request."""
    return DescribeClusterResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)

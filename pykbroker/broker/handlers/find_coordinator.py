"""FindCoordinator (10): which broker coordinates a group or a transactional id.

Behaviour: the coordinator is the leader of its partition of `__consumer_offsets`, for a group, or
of `__transaction_state`, for a transactional id. A request that finds no such topic creates it,
and waits for that. COORDINATOR_NOT_AVAILABLE: as far as this broker knows, the partition has no
leader, or one that is fenced or lacks the client's listener. A share key before version 6 or not of
the form "group:topic id:partition", and an unknown key type, are INVALID_REQUEST. Errors are per
key from version 4 on, of the whole request before.
Versions: 0-6. 4+ batches of keys; 6 knows share groups.
Not done: share partitions (key type 2), which are COORDINATOR_NOT_AVAILABLE; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import then
from pykbroker.errors import ErrorCode, KafkaError, error_message
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from pykbroker.protocol.primitives import uuid_from_str

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest

API_KEY = 10
BATCHED_FROM = 4
SHARE_FROM = 6
GROUP, TRANSACTION, SHARE = 0, 1, 2
NO_NODE = (-1, "", -1)
TOPICS = {GROUP: GROUP_METADATA_TOPIC, TRANSACTION: TRANSACTION_STATE_TOPIC}


def handle(services: BrokerServices, request: Request) -> FindCoordinatorResponse | Deferred:
    """Answer from the metadata image, after creating the topic if necessary."""
    message: FindCoordinatorRequest = request.message
    if message.key_type not in (GROUP, TRANSACTION, SHARE):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    topic = TOPICS.get(message.key_type)
    if topic is not None and services.metadata.image.topic(topic) is None:
        created = services.topic_creation.create_all([topic])
        return then(created, lambda _: _reply(services, request))
    return _reply(services, request)


def _reply(services: BrokerServices, request: Request) -> FindCoordinatorResponse:
    message: FindCoordinatorRequest = request.message
    version = request.api_version
    if version < BATCHED_FROM:
        code, node = _find(services, request, message.key)
        return FindCoordinatorResponse(
            error_code=code,
            error_message=error_message(code) or "NONE",  # Kafka's name for no message
            node_id=node[0],
            host=node[1],
            port=node[2],
        )
    coordinators = []
    for key in message.coordinator_keys:
        services.breathe()
        code, node = _find(services, request, key)
        coordinators.append(
            Coordinator(key=key, error_code=code, node_id=node[0], host=node[1], port=node[2])
        )
    return FindCoordinatorResponse(coordinators=coordinators)


def _find(services: BrokerServices, request: Request, key: str) -> tuple[int, tuple[int, str, int]]:
    key_type = request.message.key_type
    topic = TOPICS.get(key_type)
    if topic is not None:
        image = services.metadata.image
        coordinator = services.groups if key_type == GROUP else services.transactions
        partition = image.partition(topic, coordinator.partition_for(key))
        leader = None if partition is None else image.brokers.get(partition.leader)
        if leader is None or leader.fenced:
            return int(ErrorCode.COORDINATOR_NOT_AVAILABLE), NO_NODE
        listener = leader.listeners.get(request.listener_name)
        if listener is None:
            return int(ErrorCode.COORDINATOR_NOT_AVAILABLE), NO_NODE
        return 0, (leader.id, listener.host, listener.port)
    if key_type == SHARE and request.api_version >= SHARE_FROM and _is_share_key(key):
        return int(ErrorCode.COORDINATOR_NOT_AVAILABLE), NO_NODE
    return int(ErrorCode.INVALID_REQUEST), NO_NODE


def _is_share_key(key: str) -> bool:
    """ "group:topic id:partition"; the group may hold colons."""
    parts = key.rsplit(":", 2)
    if len(parts) != 3 or not parts[0] or not parts[2].isdecimal():
        return False
    try:
        uuid_from_str(parts[1])
    except ValueError:
        return False
    return True


def error_reply(request: Request, code: int, message: str | None) -> FindCoordinatorResponse:
    """Return the same error for every key."""
    if request.api_version < BATCHED_FROM:
        return FindCoordinatorResponse(
            error_code=code, error_message=message, node_id=-1, host="", port=-1
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key, error_code=code, error_message=message, node_id=-1, host="", port=-1
            )
            for key in request.message.coordinator_keys
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=6, error_reply=error_reply
)

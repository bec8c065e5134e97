"""Creates topics on a node: one request on its own connection, without a client library."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pykbroker.errors import ErrorCode, error_message
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.create_topics_response import CreateTopicsResponse
from pykbroker.protocol.parts_writer import Parts, join_parts

Topics = Iterable[str] | Mapping[str, int]

_TIMEOUT_SECONDS: Final = 60.0
_DEFAULT: Final = -1  # num.partitions, default.replication.factor


class TopicNotCreated(Exception):
    """The broker answered with an error for a topic; the text contains its name and the reason."""


def create_topics(address: tuple[str, int], topics: Topics) -> None:
    """Create topics: names, or names with their numbers of partitions.

    Returns once the controller has committed them. Raises TopicNotCreated for the first that the
    broker refuses, although the others may be created, OSError if it cannot be reached.
    """
    counts = topics if isinstance(topics, Mapping) else dict.fromkeys(topics, _DEFAULT)
    if not counts:
        return
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=count, replication_factor=_DEFAULT)
            for name, count in counts.items()
        ],
        timeout_ms=int(_TIMEOUT_SECONDS * 1000),
    )
    for topic in _ask(address, request).topics:
        if topic.error_code != ErrorCode.NONE:
            why = topic.error_message or error_message(topic.error_code)
            raise TopicNotCreated(f"topic {topic.name!r} was not created: {why}")


def _ask(address: tuple[str, int], request: CreateTopicsRequest) -> CreateTopicsResponse:
    api, version = APIS[request.API_KEY], request.MAX_VERSION
    parts: Parts = []
    encode_request(api, version, 0, "pykbroker-testing", request, parts)
    with socket.create_connection(address, timeout=_TIMEOUT_SECONDS) as connection:
        connection.sendall(join_parts(parts))
        (size,) = struct.unpack(">i", _receive(connection, 4))
        frame = _receive(connection, size)
    _, position = decode_response_header(frame, api, version)
    response: Any = CreateTopicsResponse.decode(frame, position, version)[0]
    assert isinstance(response, CreateTopicsResponse)
    return response


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise ConnectionResetError("the broker closed the connection")
        received += chunk
    return bytes(received)

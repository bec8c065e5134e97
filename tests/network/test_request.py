"""The description of a request and of its origin."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

from pykbroker.network.request import CloseConnection, Request
from pykbroker.protocol.headers import decode_request_header


def test_header_and_origin() -> None:
    connection: Any = SimpleNamespace(
        listener=SimpleNamespace(name="INSIDE"),
        principal="User:ANONYMOUS",
        peer_address="10.0.0.1",
    )
    frame = memoryview(struct.pack(">hhih", 12, 4, 99, 2) + b"me" + b"\0" + b"body")
    request = Request(connection, frame)
    decode_request_header(frame, request)
    assert (request.api_key, request.api_version, request.correlation_id) == (12, 4, 99)
    assert request.client_id == "me"
    assert bytes(frame[request.body_pos :]) == b"body"
    assert request.listener_name == "INSIDE"
    assert request.principal == "User:ANONYMOUS"
    assert request.client_address == "10.0.0.1"
    assert repr(request) == ("Request(Heartbeat v4, correlation_id=99, client_id='me', 17 bytes)")


def test_a_reason_to_close() -> None:
    assert CloseConnection("acks=0 and an error").reason == "acks=0 and an error"

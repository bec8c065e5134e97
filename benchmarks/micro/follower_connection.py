"""A follower's connection to its leader, without a socket: what the worker does for a fetch."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers.fetch import HANDLER as FETCH
from pykbroker.broker.prepared import SERVED, PreparedRequest
from pykbroker.deferred import Deferred
from pykbroker.network.request import Request
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import decode_request_header, encode_response
from pykbroker.protocol.messages.fetch_request import FetchRequest
from pykbroker.protocol.parts_writer import Parts

API = API_BY_NAME["Fetch"]
VERSION = 18


class FollowerConnection:
    """A follower's connection to the leader, whose requests are prepared for (the first is not)."""

    closed = False
    listener = SimpleNamespace(name="PLAINTEXT")

    def __init__(self, leader: Any) -> None:
        self._leader = leader
        self._prepared: PreparedRequest | None = None
        self.replied: Parts | None = None
        """The reply to the last request; None while it waits."""

    def call_on_close(self, callback: Callable[[], None] | None) -> None:
        """Nothing closes it."""

    def receive(self, frame: bytes) -> None:
        """Serve a request as the worker does; frame: without its length."""
        self.replied = None
        connection: Any = self
        if self._prepared is not None:
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            now_ms = self._leader.now_ms()
            served = self._prepared.serve(connection, frame, 0, len(frame), correlation_id, now_ms)
            assert served == SERVED
            return
        request = Request(connection, memoryview(frame))
        decode_request_header(frame, request)
        request.received_ms = self._leader.now_ms()
        request.message = FetchRequest.decode(request.frame, request.body_pos, VERSION)[0]
        services: Any = self._leader
        outcome = FETCH.handle(services, request)
        assert FETCH.prepare is not None
        self._prepared = FETCH.prepare(services, request, self._answer)
        if isinstance(outcome, Deferred):
            outcome.on_resolved(partial(self._answer, request))
        else:
            self._answer(request, outcome)

    def reply(self, payload: bytearray) -> None:
        self.replied = [payload]

    def _answer(self, request: Request, outcome: Any) -> None:
        parts: Parts = []
        encode_response(API, VERSION, request.correlation_id, outcome, parts)
        self.replied = parts

"""What prepared requests of one API are asked with: frames, and a connection that notes replies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import Handler
from pykbroker.broker.prepared import PreparedRequest
from pykbroker.deferred import Deferred
from pykbroker.errors import KafkaError
from pykbroker.network.request import Request
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import decode_request_header, encode_request, encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

LISTENER = "PLAINTEXT"
NOW_MS = 1_700_000_000_000


class Caller:
    """A connection with a handler's prepared request on it, and the same handler without."""

    def __init__(self, services: Any, handler: Handler, message_class: Any) -> None:
        self._services = services
        self._handler = handler
        self._class = message_class
        self.api = APIS[handler.api_key]
        self.listener = SimpleNamespace(name=LISTENER, is_controller=False)
        self.principal = "User:ANONYMOUS"
        self.peer_address = "127.0.0.1"
        self.replies: list[bytes] = []
        self.prepared: PreparedRequest | None = None

    def frame(self, message: Message, version: int, correlation_id: int) -> bytes:
        out: Parts = []
        encode_request(self.api, version, correlation_id, "app", message, out)
        return join_parts(out)[4:]

    def request_of(self, frame: bytes, start: int, end: int) -> Request:
        connection: Any = self
        request = Request(connection, memoryview(frame)[start:end])
        decode_request_header(request.frame, request)
        return request

    def _decode(self, request: Request) -> None:
        version = request.api_version
        request.message = self._class.decode(request.frame, request.body_pos, version)[0]

    def general(self, frame: bytes) -> bytes:
        """What the general path answers."""
        request = self.request_of(frame, 0, len(frame))
        request.message = self._class.decode(request.frame, request.body_pos, request.api_version)[
            0
        ]
        try:
            outcome = self._handler.handle(self._services, request)
        except KafkaError as refusal:
            outcome = self._handler.error_reply(request, refusal.code, refusal.message)
        return self.encoded(request, outcome)

    def encoded(self, request: Request, outcome: Any) -> bytes:
        if isinstance(outcome, Deferred):
            assert outcome.done
            outcome = outcome.value
        if isinstance(outcome, KafkaError):
            outcome = self._handler.error_reply(request, outcome.code, outcome.message)
        out: Parts = []
        encode_response(self.api, request.api_version, request.correlation_id, outcome, out)
        return join_parts(out)

    def prepare(self, frame: bytes) -> PreparedRequest | None:
        """Prepare for more like this one."""
        request = self.request_of(frame, 0, len(frame))
        request.message = self._class.decode(request.frame, request.body_pos, request.api_version)[
            0
        ]
        assert self._handler.prepare is not None
        self.prepared = self._handler.prepare(self._services, request, self.answer)
        return self.prepared

    def answer(self, request: Request, outcome: Any) -> None:
        self.replies.append(self.encoded(request, outcome))

    def reply(self, payload: bytearray) -> None:
        self.replies.append(bytes(payload))

    def serve(self, frame: bytes) -> bytes | None:
        """What the prepared request answers; None: it leaves it to the general path."""
        assert self.prepared is not None
        connection: Any = self
        before = len(self.replies)
        correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        padded = b"before" + frame + b"behind"
        end = 6 + len(frame)
        served = self.prepared.serve(connection, padded, 6, end, correlation_id, NOW_MS)
        assert len(self.replies) == before + bool(served)
        return self.replies[-1] if served else None

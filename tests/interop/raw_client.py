"""Kafka's protocol over a plain socket, one request at a time per connection: to say exactly what a
test wants to say, in the version it wants, also what no stock client would say."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Any

from pykbroker.protocol.api import APIS, Api, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

_length = struct.Struct(">i")


class RawClient:
    """One connection."""

    def __init__(self, port: int, client_id: str = "raw", host: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((host, port), timeout=30)
        self._client_id = client_id
        self._correlation_id = 0
        self._pending: tuple[Api, int] | None = None

    def send(self, message: Message, version: int) -> None:
        """Send a request; its response is for `receive` to wait for."""
        api = APIS[message.API_KEY]
        self._correlation_id += 1
        out: Parts = []
        encode_request(api, version, self._correlation_id, self._client_id, message, out)
        self._socket.sendall(join_parts(out))
        self._pending = (api, version)

    def receive(self, timeout: float = 30) -> Any:
        """The response to the request sent last; TimeoutError when it is not there in time."""
        assert self._pending is not None
        api, version = self._pending
        self._socket.settimeout(timeout)
        frame = self._read(_length.unpack(self._read(4))[0])
        correlation_id, at = decode_response_header(frame, api, version)
        assert correlation_id == self._correlation_id
        message, end = response_class(api.key).decode(frame, at, version)
        assert end == len(frame)
        self._pending = None
        return message

    def ask(self, message: Message, version: int) -> Any:
        """Send and receive."""
        self.send(message, version)
        return self.receive()

    def _read(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            part = self._socket.recv(size - len(received))
            if not part:
                raise ConnectionError(f"closed after {len(received)} of {size} bytes")
            received += part
        return bytes(received)

    def close(self) -> None:
        """Leave without a word."""
        self._socket.close()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

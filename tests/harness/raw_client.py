"""A client that says exactly what the test wants, also what no stock client would say.

One connection, blocking; a message goes out in the version asked for, and the answer comes back
decoded, or `CLOSED` when the broker hung up.
"""

from __future__ import annotations

import socket
import struct
from typing import Any, Final

from pykbroker.protocol.api import API_BY_NAME, Api, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

CLOSED: Final = "connection closed"
SILENCE: Final = "no answer"


class RawClient:
    """One connection to `host:port`."""

    def __init__(
        self, bootstrap_servers: str, timeout_s: float = 60.0, client_id: str = "raw-client"
    ) -> None:
        host, port = bootstrap_servers.rsplit(":", 1)
        self._address = (host, int(port))
        self._timeout_s = timeout_s
        self._client_id = client_id
        self._correlation_id = 0
        self._asked: tuple[Api, int] | None = None
        self._socket: socket.socket | None = None

    def ask(
        self, api_name: str, version: int, message: Message, timeout_s: float | None = None
    ) -> Any:
        """The decoded answer; CLOSED (the next `ask` connects again); SILENCE after the timeout."""
        self.request(api_name, version, message)
        return self.answer(timeout_s)

    def request(self, api_name: str, version: int, message: Message) -> None:
        """Send a request whose answer is for `answer` to wait for."""
        api = API_BY_NAME[api_name]
        self._correlation_id += 1
        self._asked = (api, version)
        parts: Parts = []
        encode_request(api, version, self._correlation_id, self._client_id, message, parts)
        self.send(join_parts(parts))

    def answer(self, timeout_s: float | None = None) -> Any:
        """What comes back for the request sent last, as `ask` says."""
        assert self._asked is not None
        api, version = self._asked
        frame = self.receive(self._timeout_s if timeout_s is None else timeout_s)
        if isinstance(frame, str):
            self.close()
            return frame
        correlation_id, position = decode_response_header(frame, api, version)
        assert correlation_id == self._correlation_id
        answer, end = response_class(api.key).decode(memoryview(frame), position, version)
        assert end == len(frame), f"{len(frame) - end} bytes left over"
        return answer

    def send(self, frame: bytes) -> None:
        """Any bytes at all."""
        if self._socket is None:
            self._socket = socket.create_connection(self._address)
        self._socket.sendall(frame)

    def receive(self, timeout_s: float) -> bytes | str:
        """One frame without its length; CLOSED or SILENCE."""
        assert self._socket is not None
        self._socket.settimeout(timeout_s)
        try:
            head = self._exactly(4)
            return CLOSED if head is None else self._exactly(struct.unpack(">i", head)[0]) or CLOSED
        except TimeoutError:
            return SILENCE

    def _exactly(self, size: int) -> bytes | None:
        assert self._socket is not None
        received = bytearray()
        while len(received) < size:
            try:
                chunk = self._socket.recv(size - len(received))
            except ConnectionError:
                return None
            if not chunk:
                return None
            received += chunk
        return bytes(received)

    def close(self) -> None:
        """Hang up; the next `ask` connects again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

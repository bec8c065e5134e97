"""Frames in, replies out, and everything a peer can do wrong on one connection."""

from __future__ import annotations

import logging
import os
import socket
import struct
import tempfile
from contextlib import suppress
from typing import Any

import pytest

from pykbroker.environment.files import FileSlice
from pykbroker.environment.real.files import Descriptor
from pykbroker.network import connection as connection_module
from pykbroker.network.connection import Connection
from pykbroker.network.sending_connection import REPLY_BYTES_PER_TURN
from tests.harness.waiting import wait_for
from tests.network.conftest import Served, frame, is_closed, read_exactly, read_reply


def test_a_frame_is_answered(client: socket.socket) -> None:
    client.sendall(frame(b"hello", 41))
    assert read_reply(client) == (41, b"hello")


def test_a_frame_byte_by_byte(client: socket.socket) -> None:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in frame(b"slow", 2):
        client.send(bytes((byte,)))
    assert read_reply(client) == (2, b"slow")


def test_pipelined_frames_are_answered_in_order(echo: Served, client: socket.socket) -> None:
    client.sendall(b"".join(frame(b"%d" % n, n) for n in range(2000)))
    assert [read_reply(client) for _ in range(2000)] == [(n, b"%d" % n) for n in range(2000)]
    assert max(echo.rounds) == 1  # one request in flight per connection


def test_one_turn_gathers_all_connections(echo: Served) -> None:
    clients = [echo.connect() for _ in range(20)]
    echo.until(lambda: len(echo.server.connections) == 20)

    def send_all() -> None:
        for number, sock in enumerate(clients):
            sock.sendall(frame(b"x", number))

    echo.call(send_all)  # on the loop: all are readable when it polls next
    assert [read_reply(sock) for sock in clients] == [(n, b"x") for n in range(20)]
    assert max(echo.rounds) > 1
    for sock in clients:
        sock.close()


@pytest.mark.parametrize("size", [16_000, 16_500, 70_000, 1_000_000, 1_048_576, 5_000_001])
def test_large_frames(client: socket.socket, size: int) -> None:
    body = os.urandom(size)
    small = frame(b"after", 4)
    client.sendall(frame(body, 3) + small)
    assert read_reply(client) == (3, body)
    assert read_reply(client) == (4, b"after")


def test_a_large_frame_is_received_into_one_buffer(echo: Served, client: socket.socket) -> None:
    echo.hold = True
    client.sendall(frame(bytes(3_000_000)))
    echo.until(lambda: bool(echo.held))
    request = echo.held[0]
    assert isinstance(request.frame.obj, bytearray)
    assert len(request.frame.obj) == len(request.frame)


def test_a_length_alone_allocates_no_more_than_the_first_buffer(
    echo: Served, client: socket.socket
) -> None:
    client.sendall(struct.pack(">i", 100 * 1024 * 1024) + bytes(1000))
    connection = _only_connection(echo)
    echo.until(lambda: connection._frame_filled == 1000)
    buffer = connection._frame_buffer
    assert buffer is not None
    assert len(buffer) == connection_module.FIRST_BUFFER_BYTES


def test_the_buffer_grows_only_with_what_came(echo: Served, client: socket.socket) -> None:
    sent = 3 * 1024 * 1024
    client.sendall(struct.pack(">i", 100 * 1024 * 1024) + bytes(sent))
    connection = _only_connection(echo)
    echo.until(lambda: connection._frame_filled == sent)
    buffer = connection._frame_buffer
    assert buffer is not None
    assert sent <= len(buffer) <= 2 * sent


def test_reading_stops_while_a_request_is_in_flight(echo: Served, client: socket.socket) -> None:
    echo.hold = True
    connection = _only_connection(echo)
    frames = memoryview(b"".join(frame(bytes(100), n) for n in range(100_000)))
    sent = 0

    def pushed_back() -> bool:
        nonlocal sent
        with suppress(BlockingIOError):
            sent += client.send(frames[sent:])
            return False
        return bool(echo.held) and not echo.call(lambda: connection._reading)

    client.setblocking(False)
    wait_for(pushed_back, "TCP to push back, as nobody reads")
    assert sent < len(frames)
    assert len(echo.held) == 1
    unread = echo.call(lambda: connection._end - connection._position)
    assert unread < connection_module.BUFFER_BYTES + connection_module.RECEIVE_BYTES
    echo.hold = False
    client.settimeout(60)
    echo.call(lambda: echo.echo(echo.held[0]))
    for n in range(1000):
        assert read_reply(client)[0] == n


def test_frames_sent_before_the_stream_ends_are_answered(client: socket.socket) -> None:
    client.sendall(frame(b"one", 1) + frame(b"two", 2))
    client.shutdown(socket.SHUT_WR)
    assert read_reply(client) == (1, b"one")
    assert read_reply(client) == (2, b"two")
    assert is_closed(client)


def test_a_parked_request_is_answered_after_the_stream_ended(
    echo: Served, client: socket.socket
) -> None:
    echo.hold = True
    client.sendall(frame(b"one", 1))
    client.shutdown(socket.SHUT_WR)

    def has_ended() -> bool:
        connection: Any = echo.held[0].connection if echo.held else None
        return connection is not None and connection.stream_ended

    echo.until(has_ended)
    echo.call(echo.echo, echo.held[0])
    assert read_reply(client) == (1, b"one")
    assert is_closed(client)


def test_half_a_frame_and_the_end(echo: Served, client: socket.socket) -> None:
    client.sendall(frame(b"one", 1)[:-1])
    client.shutdown(socket.SHUT_WR)
    assert is_closed(client)
    echo.until(lambda: not echo.server.connections)


def test_a_reply_to_a_closed_connection_is_dropped(echo: Served, client: socket.socket) -> None:
    echo.hold = True
    client.sendall(frame(b"one", 1))
    echo.until(lambda: bool(echo.held))
    given_up: list[bool] = []
    echo.held[0].connection.call_on_close(lambda: given_up.append(True))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()  # a reset
    echo.until(lambda: not echo.server.connections)
    echo.until(lambda: bool(given_up))
    echo.call(echo.held[0].connection.close)
    assert given_up == [True]
    echo.call(echo.echo, echo.held[0])
    assert echo.server.counters.connections_lost == 1


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (struct.pack(">i", 0), "invalid frame of 0 bytes"),
        (struct.pack(">i", -1), "invalid frame of -1 bytes"),
        (struct.pack(">i", 2**31 - 1), "invalid frame of 2147483647 bytes"),
        (struct.pack(">i", 100 * 1024 * 1024 + 1), "socket.request.max.bytes is 104857600"),
        (struct.pack(">i", 3) + b"abc", "request header is cut short: the frame has 3 bytes"),
        (struct.pack(">ihhih", 10, 3, 0, 1, 50), "cut short: the frame has 10 bytes"),
        (struct.pack(">ihhih", 10, 4711, 0, 1, -1), "unknown API key 4711"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600), "TLS"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP"),
    ],
)
def test_strangers_are_closed_with_one_line(
    echo: Served, caplog: pytest.LogCaptureFixture, sent: bytes, said: str
) -> None:
    with echo.connect() as other, echo.connect() as stranger:
        with caplog.at_level(logging.WARNING, "pykbroker.network"):
            stranger.sendall(sent)
            assert is_closed(stranger)
        other.sendall(frame(b"still here"))
        assert read_reply(other) == (7, b"still here")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert said in lines[0]
    assert echo.server.counters.malformed_requests == 1


def test_no_reply_goes_on_with_the_next_frame(echo: Served, client: socket.socket) -> None:
    def silent_for_one(request: object) -> None:
        if request.correlation_id == 1:  # type: ignore[attr-defined]
            request.connection.no_reply()  # type: ignore[attr-defined]
        else:
            echo.echo(request)  # type: ignore[arg-type]

    echo.answer = silent_for_one
    client.sendall(frame(b"a", 1) + frame(b"b", 2))
    assert read_reply(client) == (2, b"b")


def test_a_slow_reader_is_waited_for(echo: Served, client: socket.socket) -> None:
    body = os.urandom(10_000_000)
    client.sendall(frame(body, 1) + frame(b"next", 2))
    connection = _only_connection(echo)
    echo.until(lambda: connection._blocked)
    assert not echo.call(lambda: connection.in_flight)  # nothing is handed over meanwhile
    assert read_reply(client) == (1, body)
    assert read_reply(client) == (2, b"next")
    echo.until(lambda: not connection._blocked)


@pytest.mark.parametrize("in_parts", [False, True])
def test_replies_of_a_turn_are_bounded(echo: Served, client: socket.socket, in_parts: bool) -> None:
    """A client that pipelines small requests for large replies does not have them all gathered."""
    bound = REPLY_BYTES_PER_TURN
    reply = struct.pack(">i", bound // 2 - 4) + bytes(bound // 2 - 4)
    gathered: list[int] = []

    def answer(request: Any) -> None:
        connection = request.connection
        outgoing = connection._outgoing
        queued = 0 if outgoing is None else outgoing.pending_bytes
        gathered.append(connection._reply_bytes + queued)
        if in_parts:
            connection.reply_parts([reply], len(reply))
        else:
            connection.reply(bytearray(reply))

    echo.answer = answer
    count = 20
    client.sendall(b"".join(frame(b"", n) for n in range(count)))
    assert read_exactly(client, count * len(reply)) == reply * count
    assert len(gathered) == count
    # At the bound one more request is taken, above it none.
    assert max(gathered) == bound


def test_a_reply_with_slices_of_a_file(echo: Served, client: socket.socket) -> None:
    content = os.urandom(3_000_000)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        slices = [Slice(file.fileno(), 5, 1000), Slice(file.fileno(), 1000, 2_000_000)]

        def answer(request: object) -> None:
            parts = [b"head", slices[0], b"between", slices[1], b"tail"]
            size = 4 + 1000 + 7 + 2_000_000 + 4
            parts[0] = struct.pack(">i", size) + b"head"
            request.connection.reply_parts(parts, size + 4)  # type: ignore[attr-defined]

        echo.answer = answer
        client.sendall(frame(b""))
        (size,) = struct.unpack(">i", read_exactly(client, 4))
        expected = b"head" + content[5:1005] + b"between" + content[1000:2_001_000] + b"tail"
        assert read_exactly(client, size) == expected
        echo.until(lambda: [each.released for each in slices] == [1, 1])


def test_slices_of_a_lost_connection_are_released(echo: Served, client: socket.socket) -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(50_000_000)
        kept = Slice(file.fileno(), 0, 50_000_000)

        def answer(request: object) -> None:
            request.connection.reply_parts([b"head", kept], 50_000_004)  # type: ignore[attr-defined]

        echo.answer = answer
        client.sendall(frame(b""))
        read_exactly(client, 1000)
        client.close()
        echo.until(lambda: kept.released == 1)


def test_a_file_cut_short_closes_the_connection(
    echo: Served, client: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(100_000)
        kept = Slice(file.fileno(), 0, 200_000)
        echo.answer = lambda request: request.connection.reply_parts([b"head", kept], 200_004)
        client.sendall(frame(b""))
        with pytest.raises(EOFError):
            read_exactly(client, 200_004)
        echo.until(lambda: not echo.server.connections)
    assert kept.released == 1
    assert "missing in the file" in caplog.text


class Slice(FileSlice):
    """A slice of an open file that counts how often it is released."""

    def __init__(self, fd: int, position: int, length: int) -> None:
        super().__init__(Descriptor(os.dup(fd)), position, length)
        self.released = 0

    def release(self) -> None:
        super().release()
        self.released += 1


def _only_connection(echo: Served):
    echo.until(lambda: len(echo.server.connections) == 1)
    return next(iter(echo.server.connections))


def test_a_bug_of_ours_closes_that_connection_and_no_other(
    echo: Served, client: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    with echo.connect() as unlucky:
        echo.until(lambda: len(echo.server.connections) == 2)
        port = unlucky.getsockname()[1]

        def break_it() -> None:
            for connection in echo.server.connections:
                if connection.peer.endswith(f":{port}"):
                    connection._channel = None  # type: ignore[assignment]

        echo.call(break_it)
        with caplog.at_level(logging.ERROR):
            unlucky.sendall(frame(b"x"))
            assert is_closed(unlucky)
    assert "cannot serve 127.0.0.1" in caplog.text
    assert echo.server.counters.unexpected_errors == 1
    client.sendall(frame(b"hello", 41))
    assert read_reply(client) == (41, b"hello")


def test_frames_like_the_first_may_be_gathered(echo: Served, client: socket.socket) -> None:
    """With something prepared the connection itself is on the channel, and gives frame by frame."""
    connection = _only_connection(echo)
    taken: list[int] = []

    def serve(entry: Any) -> None:
        if not isinstance(entry, Connection):
            echo.echo(entry)
            return
        taken.append(1)
        due = [entry.request_of(*entry.take_frame())]
        while (following := entry.next_frame()) is not None:
            due.append(entry.request_of(*following))
            entry.gather(following)
            taken[-1] += 1
        for request in due:
            assert entry.in_flight
            echo.echo(request)  # type: ignore[arg-type]

    echo.answer = serve
    client.sendall(frame(b"first", 0))
    assert read_reply(client) == (0, b"first")
    echo.call(connection.prepared.__setitem__, 1, object())
    client.sendall(b"".join(frame(b"%d" % n, n) for n in range(200)))
    assert [read_reply(client) for _ in range(200)] == [(n, b"%d" % n) for n in range(200)]
    assert sum(taken) == 200
    client.sendall(frame(bytes(100_000), 7) + frame(b"last", 8))
    assert read_reply(client) == (7, bytes(100_000))
    assert read_reply(client) == (8, b"last")


def test_a_bad_header_is_refused_when_something_is_prepared(
    echo: Served, client: socket.socket
) -> None:
    connection = _only_connection(echo)

    def serve(entry: Any) -> None:
        assert entry.request_of(*entry.take_frame()) is None

    echo.answer = serve
    echo.call(connection.prepared.__setitem__, 1, object())
    client.sendall(struct.pack(">i", 3) + b"abc")
    assert is_closed(client)
    assert echo.server.counters.malformed_requests == 1

"""The proxy: the owner of a connection, and what each state of its link does to it."""

from __future__ import annotations

import gc
import socket
import struct
import threading
import warnings
from collections.abc import Iterator

import pytest

from tests.chaos.proxy import CLIENTS, HOST, LinkState, Proxy

SILENCE_S = 0.3
PATIENCE_S = 60.0


class Echo:
    """Sends back what it gets, and counts it."""

    def __init__(self) -> None:
        self._socket = socket.create_server((HOST, 0))
        self.port = self._socket.getsockname()[1]
        self.received = 0
        self.changed = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while piece := connection.recv(1024):
                    with self.changed:
                        self.received += len(piece)
                        self.changed.notify_all()
                    connection.sendall(piece)
            except OSError:
                return

    def await_received(self, size: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.received >= size, PATIENCE_S)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.close()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as proxy:
        yield proxy


def frame(client_id: str) -> bytes:
    text = client_id.encode()
    return struct.pack(">ihhih", 10 + len(text), 18, 3, 1, len(text)) + text


def connect(port: int, client_id: str) -> socket.socket:
    connection = socket.create_connection((HOST, port), timeout=PATIENCE_S)
    connection.sendall(frame(client_id))
    return connection


def exactly(connection: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size and (piece := connection.recv(size - len(got))):
        got += piece
    return got


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(SILENCE_S)
    try:
        return connection.recv(1) is None
    except TimeoutError:
        return True
    finally:
        connection.settimeout(PATIENCE_S)


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_bytes_pass_while_a_link_is_open_or_slow(proxy: Proxy, echo: Echo) -> None:
    port = proxy.listen("broker-2", echo.port)
    for state in (LinkState.OPEN, LinkState.SLOW):
        proxy.set_link(CLIENTS, "broker-2", state)
        with connect(port, "rdkafka") as connection:
            assert exactly(connection, len(frame("rdkafka"))) == frame("rdkafka")


def test_a_black_hole_holds_back_until_it_is_healed(proxy: Proxy, echo: Echo) -> None:
    port = proxy.listen("broker-2", echo.port)
    proxy.set_link("broker-1", "broker-2", LinkState.BLACK_HOLE)
    with connect(port, "broker-1") as held, connect(port, "broker-3") as other:
        assert exactly(other, len(frame("broker-3"))) == frame("broker-3")
        assert is_silent(held)
        assert echo.received == len(frame("broker-3"))
        proxy.heal()
        assert exactly(held, len(frame("broker-1"))) == frame("broker-1")


def test_one_way_lets_requests_pass_and_no_answers(proxy: Proxy, echo: Echo) -> None:
    port = proxy.listen("broker-2", echo.port)
    proxy.set_link("broker-1", "broker-2", LinkState.ONE_WAY)
    with connect(port, "broker-1") as connection:
        echo.await_received(len(frame("broker-1")))
        assert is_silent(connection)
        proxy.heal()
        assert exactly(connection, len(frame("broker-1"))) == frame("broker-1")


def test_a_cut_ends_connections_and_refuses_new_ones(proxy: Proxy, echo: Echo) -> None:
    port = proxy.listen("broker-2", echo.port)
    with connect(port, "a client") as connection:
        assert exactly(connection, len(frame("a client"))) == frame("a client")
        proxy.set_link(CLIENTS, "broker-2", LinkState.CUT)
        assert is_closed(connection)
    with connect(port, "another") as refused:
        assert is_closed(refused)
    proxy.heal()
    with connect(port, "another") as connection:
        assert exactly(connection, len(frame("another"))) == frame("another")


def test_a_node_that_is_not_there_closes_the_connection(proxy: Proxy) -> None:
    with socket.socket() as reserved:  # holds the port, but does not listen
        reserved.bind((HOST, 0))
        door = proxy.listen("broker-2", reserved.getsockname()[1])
        with connect(door, "a client") as connection:
            assert is_closed(connection)


def test_nothing_is_left_open_when_it_closes_in_the_middle(echo: Echo) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(10):
            with Proxy() as proxy:
                port = proxy.listen("broker-2", echo.port)
                connections = [connect(port, f"client-{n}") for n in range(20)]
            for connection in connections:
                connection.close()
        gc.collect()
    assert [str(each.message) for each in caught] == []

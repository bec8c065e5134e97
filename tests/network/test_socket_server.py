"""Limits that change while the server runs, descriptors that run out, and the way down."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.network import socket_server
from pykbroker.network.connection import Connection
from tests.network.conftest import Served, endpoint, frame, is_closed, network_config, read_reply


def test_new_limits_let_waiting_clients_in(serve: Callable[..., Served]) -> None:
    served = serve(max_connections=1)
    with served.connect() as one, served.connect() as two:
        one.sendall(frame(b"1"))
        assert read_reply(one) == (7, b"1")
        two.sendall(frame(b"2"))
        served.until(lambda: not served.server._acceptors[0]._accepting)
        served.call(served.server.on_config, network_config(max_connections=2))
        assert read_reply(two) == (7, b"2")


def test_new_limits_spare_connections_that_are_open(serve: Callable[..., Served]) -> None:
    served = serve()
    with served.connect() as one:
        one.sendall(frame(b"1"))
        assert read_reply(one) == (7, b"1")
        served.call(served.server.on_config, network_config(max_connections_per_ip=1))
        with served.connect() as two:
            assert is_closed(two)
        one.sendall(frame(b"2"))
        assert read_reply(one) == (7, b"2")


def test_a_lower_limit_closes_the_longest_idle(serve: Callable[..., Served]) -> None:
    served = serve()
    with served.connect() as one, served.connect() as two:
        for sock in (one, two):
            sock.sendall(frame(b"1"))
            assert read_reply(sock) == (7, b"1")
        served.call(served.server.on_config, network_config(max_connections=1))
        assert is_closed(one)
        two.sendall(frame(b"2"))
        assert read_reply(two) == (7, b"2")


def test_connections_close_in_the_order_in_which_they_came(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seed of the simulated world has to repeat: the order must not depend on addresses."""
    came: list[Connection] = []
    closed: list[Connection] = []
    close, begin = Connection.close, Connection.__init__

    def note_begin(connection: Connection, *arguments: Any) -> None:
        begin(connection, *arguments)
        came.append(connection)

    def note_close(connection: Connection, *arguments: Any) -> None:
        closed.append(connection)
        close(connection, *arguments)

    monkeypatch.setattr(Connection, "__init__", note_begin)
    monkeypatch.setattr(Connection, "close", note_close)
    served = serve()
    with contextlib.ExitStack() as socks:
        for _ in range(20):
            socks.enter_context(served.connect())
        served.until(lambda: len(came) == 20)
        served.call(served.server.stop)
        assert closed == came


def test_a_host_that_is_not_known_changes_no_limit(
    serve: Callable[..., Served], caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(max_connections_per_ip_by_address={"127.0.0.1": 1})
    wanted = network_config(max_connections_per_ip_by_address={"no such host": 1})
    served.call(served.server.on_config, wanted)
    assert "no such host" in caplog.text
    assert served.server.limits.max_for_address("127.0.0.1") == 1


def test_out_of_descriptors_is_logged_once_and_tried_again(
    serve: Callable[..., Served],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Exhausted:
        """The listening socket, while the process has no descriptor left."""

        def __init__(self, sock: Any) -> None:
            self.sock = sock
            self.refusals = 1

        def accept(self) -> Any:
            if self.refusals:
                self.refusals -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            return self.sock.accept()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.sock, name)

    monkeypatch.setattr(socket_server, "DESCRIPTOR_RETRY_MS", 10)
    served = serve()
    listener = served.server.listeners[0]
    listener.sock = Exhausted(listener.sock)
    with caplog.at_level(logging.ERROR), served.connect() as sock:
        sock.sendall(frame(b"x"))
        assert read_reply(sock) == (7, b"x")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert "out of file descriptors" in lines[0]


def test_connections_leave_descriptors_to_the_log(
    serve: Callable[..., Served],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(socket_server, "DESCRIPTOR_RETRY_MS", 10)
    served = serve()
    served.server.descriptor_limit = 0
    with caplog.at_level(logging.ERROR), served.connect() as sock:
        assert is_closed(sock)
    assert "out of file descriptors" in caplog.text
    served.server.descriptor_limit = 1 << 31
    with served.connect() as sock:
        sock.sendall(frame(b"x"))
        assert read_reply(sock) == (7, b"x")


def test_what_is_queued_leaves_before_the_end(echo: Served) -> None:
    echo.hold = True
    with echo.connect() as sock:
        sock.sendall(frame(b"x"))
        echo.until(lambda: bool(echo.held))

        def answer_and_stop() -> None:
            echo.echo(echo.held[0])
            echo.server.stop()

        echo.call(answer_and_stop)
        assert read_reply(sock) == (7, b"x")
        assert is_closed(sock)


def test_clients_are_closed_before_controllers(serve: Callable[..., Served]) -> None:
    served = serve(is_controller=True, controller_endpoints=(endpoint("CONTROLLER"),))
    served.call(lambda: served.server.start(controllers=True))
    ports = {listener.name: listener.port for listener in served.server.listeners}
    address = ("127.0.0.1", ports["CONTROLLER"])
    with served.connect() as client, socket.create_connection(address, timeout=60) as controller:
        for sock in (client, controller):
            sock.sendall(frame(b"1"))
            assert read_reply(sock) == (7, b"1")
        served.call(served.server.close_clients)
        assert is_closed(client)
        controller.sendall(frame(b"2"))
        assert read_reply(controller) == (7, b"2")

"""Binding, accepting, and the limits on connections."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.network.conftest import (
    Served,
    endpoint,
    frame,
    is_closed,
    read_reply,
)


def test_port_zero_becomes_a_real_port(echo: Served) -> None:
    assert echo.port > 0
    with echo.connect() as sock:
        sock.sendall(frame(b"x"))
        assert read_reply(sock) == (7, b"x")


def test_an_empty_host_listens_on_ipv4_and_names_its_peer_so(
    serve: Callable[..., Served],
) -> None:
    served = serve(endpoints=(endpoint("PLAINTEXT", host=""),))
    with served.connect() as sock:
        sock.sendall(frame(b"x"))
        assert read_reply(sock) == (7, b"x")
        (connection,) = served.call(lambda: list(served.server.connections))
        assert connection.peer_address == "127.0.0.1"


def test_several_listeners(serve: Callable[..., Served]) -> None:
    served = serve(endpoints=(endpoint("INSIDE"), endpoint("OUTSIDE")))
    assert [listener.name for listener in served.server.listeners] == ["INSIDE", "OUTSIDE"]
    for listener in served.server.listeners:
        with socket.create_connection(("127.0.0.1", listener.port), timeout=60) as sock:
            served.answer = partial(_say_listener, expected=listener.name)
            sock.sendall(frame(b""))
            assert read_reply(sock)[1] == listener.name.encode()


def _say_listener(request: Any, expected: str) -> None:
    assert request.listener_name == expected
    body = request.listener_name.encode()
    request.connection.reply(bytearray((len(body) + 4).to_bytes(4, "big") + bytes(4) + body))


def test_controller_listeners_accept_on_their_own(serve: Callable[..., Served]) -> None:
    served = serve(is_controller=True, controller_endpoints=(endpoint("CONTROLLER"),))
    (controller,) = [each for each in served.server.listeners if each.is_controller]
    with socket.create_connection(("127.0.0.1", controller.port), timeout=60) as sock:
        sock.sendall(frame(b"x"))  # waits in the backlog
        served.call(lambda: served.server.start(controllers=True))
        assert read_reply(sock) == (7, b"x")


def test_too_many_connections_from_one_address(
    serve: Callable[..., Served], caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(max_connections_per_ip=2)
    with caplog.at_level(logging.WARNING), served.connect() as one, served.connect() as two:
        served.until(lambda: len(served.server.connections) == 2)
        with served.connect() as third:
            assert is_closed(third)
        for sock in (one, two):
            sock.sendall(frame(b"x"))
            assert read_reply(sock) == (7, b"x")
        one.close()
        served.until(lambda: len(served.server.connections) == 1)
        with served.connect() as fourth:
            fourth.sendall(frame(b"x"))
            assert read_reply(fourth) == (7, b"x")
    assert "too many connections from it, at most 2" in caplog.text
    assert served.server.counters.connections_refused == 1


def test_an_override_for_one_address(serve: Callable[..., Served]) -> None:
    served = serve(max_connections_per_ip_by_address={"127.0.0.1": 0})
    with served.connect() as sock:
        assert is_closed(sock)


def test_at_max_connections_the_next_client_waits_in_the_backlog(
    serve: Callable[..., Served],
) -> None:
    served = serve(max_connections=1)
    with served.connect() as one, served.connect() as two:
        one.sendall(frame(b"1"))
        assert read_reply(one) == (7, b"1")
        two.sendall(frame(b"2"))
        served.until(lambda: not served.server._acceptors[0]._accepting)
        one.close()
        assert read_reply(two) == (7, b"2")


def test_the_inter_broker_listener_goes_over_the_limit_in_favour_of_the_idlest(
    serve: Callable[..., Served],
) -> None:
    served = serve(
        endpoints=(endpoint("CLIENTS"), endpoint("INSIDE")),
        inter_broker_listener="INSIDE",
        max_connections=2,
    )
    clients, inside = (each.port for each in served.server.listeners)
    first = socket.create_connection(("127.0.0.1", clients), timeout=60)
    second = socket.create_connection(("127.0.0.1", clients), timeout=60)
    for sock in (first, second, first):
        sock.sendall(frame(b"x"))
        read_reply(sock)
    third = socket.create_connection(("127.0.0.1", inside), timeout=60)
    assert is_closed(second)
    for sock in (first, third):
        sock.sendall(frame(b"x"))
        assert read_reply(sock) == (7, b"x")
        sock.close()
    second.close()


def test_idle_connections_are_closed_busy_ones_not(serve: Callable[..., Served]) -> None:
    served = serve(connections_max_idle_ms=500)
    served.hold = True
    with served.connect() as waiting:
        waiting.sendall(frame(b"x"))
        served.until(lambda: bool(served.held))
        with served.connect() as idle:
            assert is_closed(idle)
        served.call(served.echo, served.held[0])
        assert read_reply(waiting) == (7, b"x")
        assert is_closed(waiting)


def test_stopping_gives_up_the_port(echo: Served) -> None:
    with echo.connect() as sock:
        echo.until(lambda: len(echo.server.connections) == 1)
        echo.call(echo.server.stop)
        assert is_closed(sock)
    with pytest.raises(ConnectionRefusedError):
        echo.connect()

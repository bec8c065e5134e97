"""Binding a listener."""

from __future__ import annotations

import socket

import pytest

from pykbroker.network.connection_limits import ConnectionLimits
from pykbroker.network.listener import BindError, Listener
from pykbroker.network.socket_server import SocketServer
from tests.network.conftest import ENVIRONMENT, TRANSPORT, endpoint, network_config


def test_a_listener_knows_its_real_port() -> None:
    listener = Listener(
        TRANSPORT,
        "INSIDE",
        "127.0.0.1",
        0,
        "PLAINTEXT",
        ConnectionLimits(1, 1, {}, None),
        is_controller=False,
        backlog=5,
        receive_buffer_bytes=0,
    )
    try:
        with socket.create_connection(("127.0.0.1", listener.port), timeout=60):
            assert repr(listener) == f"INSIDE://127.0.0.1:{listener.port}"
    finally:
        listener.close()


def _closed_port() -> tuple[socket.socket, int]:
    holder = socket.create_server(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def test_a_port_in_use_is_one_clear_line_and_leaves_nothing_bound() -> None:
    holder, port = _closed_port()
    with holder:
        server = SocketServer(
            ENVIRONMENT,
            network_config(endpoints=(endpoint("FIRST"), endpoint("SECOND", port=port))),
            ENVIRONMENT.background.threads("disk"),
        )
        with pytest.raises(BindError) as refused:
            server.bind()
    assert str(refused.value) == (
        f"Socket server failed to bind to 127.0.0.1:{port}: Address already in use."
    )
    assert server.listeners == []

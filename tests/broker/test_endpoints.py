from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.endpoints import advertised_listeners, client_endpoints
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties

BOUND: Any = [
    SimpleNamespace(
        name="PLAINTEXT", host="", port=7, security_protocol="PLAINTEXT", is_controller=False
    ),
    SimpleNamespace(
        name="CONTROLLER", host="", port=8, security_protocol="PLAINTEXT", is_controller=True
    ),
]


def test_what_clients_connect_to() -> None:
    assert [str(each) for each in client_endpoints(BOUND)] == ["PLAINTEXT://:7"]


def test_what_is_advertised_has_a_host_and_a_real_port() -> None:
    properties = standalone_properties("/d") | {
        "listeners": "PLAINTEXT://:0,CONTROLLER://127.0.0.1:0"
    }
    config = BrokerConfig.from_properties(properties)
    (listener,) = advertised_listeners(config, BOUND, lambda: "me.example")
    assert (listener.name, listener.host, listener.port) == ("PLAINTEXT", "me.example", 7)
    properties["advertised.listeners"] = "PLAINTEXT://outside:9"
    config = BrokerConfig.from_properties(properties)
    (listener,) = advertised_listeners(config, BOUND, lambda: "me.example")
    assert (listener.host, listener.port, listener.security_protocol) == ("outside", 9, 0)

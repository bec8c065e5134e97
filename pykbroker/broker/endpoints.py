"""The broker listeners of a node as they are bound, and the addresses that it advertises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pykbroker.config import BrokerConfig, Endpoint
from pykbroker.kraft.registration import SECURITY_PROTOCOL_IDS
from pykbroker.kraft.registration import Listener as Advertised
from pykbroker.network.listener import Listener


def client_endpoints(bound: Sequence[Listener]) -> tuple[Endpoint, ...]:
    """Return the broker listeners among the bound ones, with their actual ports."""
    return tuple(
        Endpoint(at.name, at.host, at.port, at.security_protocol)
        for at in bound
        if not at.is_controller
    )


def advertised_listeners(
    config: BrokerConfig, bound: Sequence[Listener], own_host_name: Callable[[], str]
) -> list[Advertised]:
    """Return the addresses to register, for clients and other brokers: `advertised.listeners`.

    A missing host is `own_host_name()`, port 0 the port of the listener of the same name.
    """
    ports = {listener.name: listener.port for listener in bound}
    return [
        Advertised(
            name=at.listener_name,
            host=at.host or own_host_name(),
            port=at.port or ports[at.listener_name],
            security_protocol=SECURITY_PROTOCOL_IDS[at.security_protocol],
        )
        for at in config.advertised_endpoints
    ]

"""Listeners: the text of `listeners`, `advertised.listeners` and their protocol map, checked.

In: typed values of a BrokerConfig.
Out: `Listeners`, the endpoints of brokers and controllers, or ConfigError, in Kafka's wording where
Kafka makes the check as well (AbstractKafkaConfig and KafkaConfig.validateValues).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pykbroker.config.definition import ConfigError
from pykbroker.values import NamedTuple

_ENDPOINT: Final = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)\Z")
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_UNROUTABLE: Final = "0.0.0.0"
_MAP_KEY: Final = "listener.security.protocol.map"


class Endpoint(NamedTuple):
    """Where something listens or is reached; an empty host stands for every interface, or, of an
    advertised one, for this host.
    """

    listener_name: str
    host: str
    port: int
    security_protocol: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener_name}://{host}:{self.port}"


class Listeners(NamedTuple):
    broker: tuple[Endpoint, ...]
    controller: tuple[Endpoint, ...]
    advertised: tuple[Endpoint, ...]
    advertised_controller: tuple[Endpoint, ...]
    inter_broker_name: str


def protocol_map(text: str) -> dict[str, str]:
    """Parse `NAME:PROTOCOL,...`; return the protocols by name in upper case. Raises ConfigError."""
    result: dict[str, str] = {}
    for entry in filter(None, re.split(r"\s*,\s*", text.strip())):
        name, colon, protocol = entry.rpartition(":")
        if not colon:
            raise ConfigError(
                f"Error parsing configuration property '{_MAP_KEY}': {entry}", _MAP_KEY
            )
        if protocol not in _PROTOCOLS:
            raise ConfigError(
                f"Invalid security protocol `{protocol}` defined in {_MAP_KEY}", _MAP_KEY
            )
        result[name.strip().upper()] = protocol
    return result


def parse_endpoints(
    entries: Sequence[str], protocols: Mapping[str, str], key: str, *, distinct_ports: bool
) -> tuple[Endpoint, ...]:
    shown = "[" + ", ".join(entries) + "]"

    def refuse(why: str) -> ConfigError:
        return ConfigError(f"Error creating broker listeners from '{shown}': {why}", key)

    endpoints: list[Endpoint] = []
    for entry in entries:
        match = _ENDPOINT.match(entry)
        if match is None:
            raise refuse(f"Unable to parse {entry} to a broker endpoint")
        name, port = match[1].upper(), int(match[3])
        if not -1 <= port <= 65535:
            raise refuse(f"port {port} of {entry} is out of range")
        if name not in protocols:
            raise refuse(f"No security protocol defined for listener {name}")
        endpoints.append(Endpoint(name, match[2], port, protocols[name]))
    if len({each.listener_name for each in endpoints}) != len(endpoints):
        raise refuse(f"Each listener must have a different name, listeners: {shown}")
    if distinct_ports:
        _check_ports(endpoints, shown)
    return tuple(endpoints)


def _check_ports(endpoints: Sequence[Endpoint], shown: str) -> None:
    """A port may be used twice only by one IPv4 and one IPv6 address (and port 0 is no port)."""
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port != 0:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for same in by_port.values():
        if len(same) > 1 and sorted(map(_ip_version, same)) != [4, 6]:
            why = f"Each listener must have a different port, listeners: {shown}"
            raise ConfigError(f"Error creating broker listeners from '{shown}': {why}", "listeners")


def _ip_version(endpoint: Endpoint) -> int:
    import ipaddress

    try:
        return ipaddress.ip_address(endpoint.host).version
    except ValueError:
        return 0


def resolve_listeners(
    values: Mapping[str, object],
    given: Mapping[str, str],
    *,
    is_broker: bool,
    is_controller: bool,
) -> Listeners:
    """All that follows from the keys of listeners.

    `values`: typed values by key; `given`: the keys that the user set.
    """
    controller_names = _names(values["controller.listener.names"])
    protocols = protocol_map(str(values[_MAP_KEY]))
    entries = _names(values["listeners"])
    if _MAP_KEY not in given:
        # Kafka does so only if no listener is secured; otherwise it reports that the controller's
        # protocol is missing. Here a secured listener is refused by its own name below.
        for name in controller_names:
            protocols.setdefault(name.upper(), "PLAINTEXT")
    everything = parse_endpoints(entries, protocols, "listeners", distinct_ports=True)
    upper_names = [name.upper() for name in controller_names]
    controller = tuple(each for each in everything if each.listener_name in upper_names)
    broker = tuple(each for each in everything if each.listener_name not in upper_names)
    # A broker without controller listeners of its own connects to those of others.
    used = [(each.listener_name, each.security_protocol) for each in everything]
    used += [(name, protocols.get(name, "PLAINTEXT")) for name in upper_names]
    for name, protocol in used:
        if protocol != "PLAINTEXT":
            why = f"listener {name} uses {protocol}, but only PLAINTEXT is built yet"
            raise ConfigError(f"listeners: {why}", "listeners")
    advertised_entries = values["advertised.listeners"]
    advertised_all = everything
    if advertised_entries is not None:
        advertised_all = parse_endpoints(
            _names(advertised_entries), protocols, "advertised.listeners", distinct_ports=False
        )
    inter_broker = _inter_broker_name(values, given, protocols)
    resolved = Listeners(
        broker=broker,
        controller=controller,
        advertised=tuple(e for e in advertised_all if e.listener_name not in upper_names),
        advertised_controller=_advertised_controllers(controller, advertised_all),
        inter_broker_name=inter_broker,
    )
    _check_controllers(
        resolved, controller_names, everything, is_broker=is_broker, is_controller=is_controller
    )
    if is_broker:
        _check_brokers(resolved, everything)
    _check_routable(resolved)
    return resolved


def _advertised_controllers(
    controller: tuple[Endpoint, ...], advertised: tuple[Endpoint, ...]
) -> tuple[Endpoint, ...]:
    """A controller listener that is not advertised is advertised as it listens.

    Kafka replaces 0.0.0.0 by "no host" there, which is resolved later, so that it passes the
    check for addresses that nobody can reach.
    """
    by_name = {each.listener_name: each for each in advertised if each not in controller}
    result = []
    for each in controller:
        plain = each._replace(host="") if each.host == _UNROUTABLE else each
        result.append(by_name.get(each.listener_name, plain))
    return tuple(result)


def _inter_broker_name(
    values: Mapping[str, object], given: Mapping[str, str], protocols: Mapping[str, str]
) -> str:
    name = values["inter.broker.listener.name"]
    if name is None:
        return str(values["security.inter.broker.protocol"])
    if "security.inter.broker.protocol" in given:
        raise ConfigError(
            "Only one of inter.broker.listener.name and security.inter.broker.protocol "
            "should be set.",
            "inter.broker.listener.name",
        )
    upper = str(name).upper()
    if upper not in protocols:
        raise ConfigError(
            f"Listener with name {upper} defined in inter.broker.listener.name not found in "
            f"{_MAP_KEY}.",
            "inter.broker.listener.name",
        )
    return upper


def _check_controllers(
    resolved: Listeners,
    controller_names: Sequence[str],
    everything: Sequence[Endpoint],
    *,
    is_broker: bool,
    is_controller: bool,
) -> None:
    names = [each.listener_name for each in everything]
    key = "controller.listener.names"
    roles = "configuration when running the KRaft controller role"
    if not is_controller:
        if not controller_names:
            raise ConfigError(
                f"{key} must contain at least one value when running KRaft with just the broker "
                "role",
                key,
            )
        if resolved.controller:
            raise ConfigError(
                f"{key} must not contain a value appearing in the 'listeners' configuration when "
                "running KRaft with just the broker role",
                key,
            )
        return
    if not resolved.controller:
        raise ConfigError(
            f"{key} must contain at least one value appearing in the 'listeners' {roles}", key
        )
    if not all(name.upper() in names for name in controller_names):
        raise ConfigError(
            f"{key} must only contain values appearing in the 'listeners' {roles}", key
        )
    if not is_broker and resolved.broker:
        raise ConfigError(
            "The listeners config must only contain KRaft controller listeners from "
            f"{key} when process.roles=controller",
            "listeners",
        )


def _check_brokers(resolved: Listeners, everything: Sequence[Endpoint]) -> None:
    names = [each.listener_name for each in everything]
    advertised = [each.listener_name for each in resolved.advertised]
    if not advertised:
        raise ConfigError(
            "There must be at least one broker advertised listener. Perhaps all listeners "
            "appear in controller.listener.names?",
            "advertised.listeners",
        )
    if resolved.inter_broker_name not in advertised:
        raise ConfigError(
            "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
            "The valid options based on currently configured listeners are " + ",".join(advertised),
            "inter.broker.listener.name",
        )
    if not set(advertised) <= set(names):
        raise ConfigError(
            "advertised.listeners listener names must be equal to or a subset of the ones defined "
            f"in listeners. Found {','.join(advertised)}. The valid options based on the current "
            f"configuration are {','.join(names)}",
            "advertised.listeners",
        )


def _check_routable(resolved: Listeners) -> None:
    for each in (*resolved.advertised, *resolved.advertised_controller):
        if each.host == _UNROUTABLE:
            raise ConfigError(
                "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
                "Use a routable IP address.",
                "advertised.listeners",
            )


def _names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()

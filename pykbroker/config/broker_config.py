"""The configuration of a node: text in, checked and typed values out.

State: three layers of text (static, dynamic for all brokers, dynamic for this one) and the values
that follow from them. Its values never change; `with_dynamic` makes another.
In: a mapping of key to text, as `load_config` or a metadata image gives it.
Out: typed attributes (see broker_fields.py), endpoints, and DescribeConfigs entries.
Every name in the layers is a known key (of Kafka's, or of `own_keys.py`), perhaps for one listener.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from typing import Final

from pykbroker.config import describe
from pykbroker.config.broker_fields import BrokerFields
from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.broker_keys_replication import LEADER_ONLY, RACK_AWARE
from pykbroker.config.definition import (
    ConfigError,
    ConfigSource,
    ConfigValue,
    Value,
    invalid_value,
)
from pykbroker.config.group_bounds import TAGS, check_group_defaults, check_tags
from pykbroker.config.listeners import Endpoint, Listeners, resolve_listeners
from pykbroker.config.parsing import parse_listener_values, parse_values, refuse_dynamic_only
from pykbroker.config.validators import parse_host_port, parse_voter
from pykbroker.values import NamedTuple

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000


class ListenerConfig(NamedTuple):
    """What is set for a single listener, with the values of the node where nothing is."""

    max_connections: int


class BrokerConfig(BrokerFields):
    """Typed configuration of one node; made by `from_properties`. Raises ConfigError."""

    __slots__ = (
        "_cluster",
        "_listener_values",
        "_node",
        "_static",
        "_values",
        "advertised_controller_endpoints",
        "advertised_endpoints",
        "controller_endpoints",
        "endpoints",
        "inter_broker_listener",
        "is_broker",
        "is_controller",
        "log_directories",
        "log_flush_interval_time_ms",
        "log_retention_time_ms",
        "log_roll_time_jitter_ms",
        "log_roll_time_ms",
        "max_connections_per_ip_by_address",
        "metadata_log_directory",
        "shared_topic_config",
    )

    advertised_controller_endpoints: tuple[Endpoint, ...]
    advertised_endpoints: tuple[Endpoint, ...]
    controller_endpoints: tuple[Endpoint, ...]
    endpoints: tuple[Endpoint, ...]
    inter_broker_listener: str
    is_broker: bool
    is_controller: bool
    log_directories: tuple[str, ...]
    log_flush_interval_time_ms: int
    log_retention_time_ms: int
    log_roll_time_jitter_ms: int
    log_roll_time_ms: int
    max_connections_per_ip_by_address: dict[str, int]
    metadata_log_directory: str
    shared_topic_config: object  # of topics without overrides; topic_config keeps it here

    def __init__(
        self, static: Mapping[str, str], cluster: Mapping[str, str], node: Mapping[str, str]
    ) -> None:
        self._static = static
        self._cluster = cluster
        self._node = node
        self.shared_topic_config = None
        merged = {**static, **cluster, **node}
        self._values = parse_values(merged)
        self._listener_values = parse_listener_values(merged)
        for name, key in BROKER_KEYS.items():
            if key.has_attribute:
                setattr(self, key.attribute, self._values[name])
        self._resolve_times()
        self._resolve_roles_and_directories()
        self._resolve_listeners(
            resolve_listeners(
                self._values, merged, is_broker=self.is_broker, is_controller=self.is_controller
            )
        )
        self.max_connections_per_ip_by_address = _address_limits(self)
        _check(self)
        check_tags(f"group.{TAGS}", merged.get(f"group.{TAGS}", ""))

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> BrokerConfig:
        """The configuration that a file, the environment and overrides give."""
        static = dict(properties)
        for name, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
            if name in static and other not in static:
                static[other] = static[name]
        for name in static:
            refuse_dynamic_only(name)
        return cls(static, {}, {})

    def with_dynamic(self, cluster: Mapping[str, str], node: Mapping[str, str]) -> BrokerConfig:
        """Return the same node with these dynamic settings (of all brokers, of this broker). Raises
        ConfigError.
        """
        return BrokerConfig(self._static, dict(cluster), dict(node))

    def value(self, key: str) -> Value:
        """The typed value of any key, by its Kafka name."""
        return self._values[key]

    def is_set(self, key: str) -> bool:
        """Whether somebody set this key, in whatever layer."""
        return key in self._static or key in self._cluster or key in self._node

    @property
    def cluster_properties(self) -> Mapping[str, str]:
        """Dynamic settings for all brokers."""
        return self._cluster

    @property
    def node_properties(self) -> Mapping[str, str]:
        """Dynamic settings for this broker."""
        return self._node

    def socket_overrides(self, listener_name: str) -> ListenerConfig:
        """Limits of one listener."""
        name = (listener_name.lower(), "max.connections")
        limit = self._listener_values.get(name, self.max_connections)
        return ListenerConfig(max_connections=limit if isinstance(limit, int) else 0)

    @property
    def layers(self) -> describe.Layers:
        return (
            (ConfigSource.DYNAMIC_BROKER_CONFIG, self._node),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, self._cluster),
            (ConfigSource.STATIC_BROKER_CONFIG, self._static),
        )

    def describe(self, names: Collection[str] | None = None) -> list[ConfigValue]:
        """Entries of DescribeConfigs for this broker; `names` empty or None means all. Internal
        keys are left out unless they are set.
        """
        return describe.describe_broker(self._values, self.layers, names)

    def describe_cluster_default(self, names: Collection[str] | None = None) -> list[ConfigValue]:
        """Entries of DescribeConfigs for the broker resource with the empty name."""
        return describe.describe_cluster_default(self._cluster, names)

    def _resolve_times(self) -> None:
        roll, jitter = self.log_roll_ms, self.log_roll_jitter_ms
        self.log_roll_time_ms = self.log_roll_hours * HOUR_MS if roll is None else roll
        hours = self.log_roll_jitter_hours * HOUR_MS
        self.log_roll_time_jitter_ms = hours if jitter is None else jitter
        retention = self.log_retention_ms
        if retention is None:
            minutes = self.log_retention_minutes
            hours = self.log_retention_hours * HOUR_MS
            retention = hours if minutes is None else minutes * MINUTE_MS
        self.log_retention_time_ms = max(retention, -1)
        flush = self.log_flush_interval_ms
        self.log_flush_interval_time_ms = (
            self.log_flush_scheduler_interval_ms if flush is None else flush
        )

    def _resolve_roles_and_directories(self) -> None:
        self.is_broker = "broker" in self.process_roles
        self.is_controller = "controller" in self.process_roles
        directories = self.log_dir if self.log_dirs is None else self.log_dirs
        self.log_directories = tuple(dict.fromkeys(map(_plain_path, directories)))
        if not self.log_directories:
            raise ConfigError(
                "At least one log directory must be defined via log.dirs or log.dir.", "log.dirs"
            )
        self.metadata_log_directory = _plain_path(self.metadata_log_dir or self.log_directories[0])
        _check_nesting("log.dirs", self.log_directories, self.log_directories)
        _check_nesting("metadata.log.dir", (self.metadata_log_directory,), self.log_directories)

    def _resolve_listeners(self, listeners: Listeners) -> None:
        self.endpoints = listeners.broker
        self.controller_endpoints = listeners.controller
        self.advertised_endpoints = listeners.advertised
        self.advertised_controller_endpoints = listeners.advertised_controller
        self.inter_broker_listener = listeners.inter_broker_name


def _plain_path(path: str) -> str:
    """Slashes that say nothing left out, as java.io.File does: names are made from paths here."""
    return re.sub("/+", "/", path).rstrip("/") or path[:1]


def _check_nesting(name: str, inner: Iterable[str], outer: Iterable[str]) -> None:
    """Raise ConfigError for a directory inside one of `outer`, whose partition it would seem."""
    for path, around in product(inner, outer):
        if os.path.abspath(path).startswith(f"{os.path.abspath(around)}/"):
            why = f"{path} lies in {around}, and would be taken for a partition of it"
            raise ConfigError(f"{name}: {why}", name)


def _address_limits(config: BrokerConfig) -> dict[str, int]:
    name = "max.connections.per.ip.overrides"
    limits: dict[str, int] = {}
    for entry in filter(
        None, (each.strip() for each in config.max_connections_per_ip_overrides.split(","))
    ):
        host, colon, count = entry.rpartition(":")
        if not colon or not host or not re.fullmatch(r"[0-9]{1,10}", count.strip()):
            raise invalid_value(name, entry, "Expected host:count")
        limits[host.strip().strip("[]")] = int(count)
    return limits


def _check(config: BrokerConfig) -> None:
    """Check values and combinations of them, as KafkaConfig.validateValues does for most. Raises
    ConfigError.
    """
    if config.node_id != config.broker_id:
        raise ConfigError(
            "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, "
            "please use `node.id` instead.",
            "broker.id",
        )
    checks = (
        (config.log_roll_time_ms >= 1, "log.roll.ms", "must be greater than or equal to 1"),
        (
            config.log_roll_time_jitter_ms >= 0,
            "log.roll.jitter.ms",
            "must be greater than or equal to 0",
        ),
        (
            config.log_retention_time_ms >= 1 or config.log_retention_time_ms == -1,
            "log.retention.ms",
            "must be unlimited (-1) or, greater than or equal to 1",
        ),
        (
            config.log_cleaner_threads == 0
            or config.log_cleaner_dedupe_buffer_size // config.log_cleaner_threads > 1 << 20,
            "log.cleaner.dedupe.buffer.size",
            "must be at least 1MB per cleaner thread.",
        ),
        (
            config.log_flush_interval_time_ms >= 0,
            "log.flush.interval.ms",
            "must be greater than or equal to 0",
        ),
        (
            config.max_connections_per_ip != 0 or config.max_connections_per_ip_by_address,
            "max.connections.per.ip",
            "can be set to zero only if max.connections.per.ip.overrides property is set.",
        ),
    )
    for holds, name, why in checks:
        if not holds:
            raise ConfigError(f"{name} {why}", name)
    low, high = config.log_cleaner_min_compaction_lag_ms, config.log_cleaner_max_compaction_lag_ms
    if low > high:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({low}) > "
            f"max.compaction.lag.ms ({high})",
            "log.cleaner.min.compaction.lag.ms",
        )
    if "classic" not in config.group_coordinator_rebalance_protocols:
        why = "Disabling the 'classic' protocol is not supported."
        raise ConfigError(why, "group.coordinator.rebalance.protocols")
    check_group_defaults(config.value)
    _check_unused(config)
    _check_replication(config)
    _check_quorum(config)


def _check_unused(config: BrokerConfig) -> None:
    """What Apache's start checks of keys whose feature is unused."""
    name = "connection.failed.authentication.delay.ms"
    delay_ms, idle_ms = config.value(name), config.connections_max_idle_ms
    if isinstance(delay_ms, int) and 0 <= idle_ms <= delay_ms:
        raise ConfigError(
            f"{name}={delay_ms} should always be less than connections.max.idle.ms={idle_ms} to "
            "prevent failed authentication responses from timing out",
            name,
        )
    name = "early.start.listeners"
    early = config.value(name)
    known = {
        endpoint.listener_name for endpoint in (*config.endpoints, *config.controller_endpoints)
    }
    for listener in early if isinstance(early, tuple) else ():
        if listener.upper() not in known:
            raise ConfigError(
                f"{name} contains listener {listener.upper()}, but this is not contained in "
                "listeners or controller.listener.names",
                name,
            )


def _check_replication(config: BrokerConfig) -> None:
    wait_key = "replica.fetch.wait.max.ms"
    if config.replica_fetch_wait_max_ms > config.replica_socket_timeout_ms:
        raise ConfigError(
            f"replica.socket.timeout.ms should always be at least {wait_key} to prevent "
            "unnecessary socket timeouts",
            wait_key,
        )
    if config.replica_fetch_wait_max_ms > config.replica_lag_time_max_ms:
        raise ConfigError(
            f"{wait_key} should always be less than or equal to replica.lag.time.max.ms to "
            "prevent frequent changes in ISR",
            wait_key,
        )

    selector = config.replica_selector_class
    if selector not in (None, RACK_AWARE, LEADER_ONLY):
        raise ConfigError(
            f"replica.selector.class: {selector} cannot be loaded; there are {RACK_AWARE} and "
            f"{LEADER_ONLY}",
            "replica.selector.class",
        )


def _check_quorum(config: BrokerConfig) -> None:
    """The voters, or where to find them, and this node's place among them."""
    voters_key, servers_key = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
    voters = [parse_voter(voters_key, each) for each in config.controller_quorum_voters]
    servers = [
        parse_host_port(servers_key, each) for each in config.controller_quorum_bootstrap_servers
    ]
    if not voters and not servers:
        raise ConfigError(
            f"If using process.roles, either {servers_key} must contain the set of bootstrap "
            f"controllers or {voters_key} must contain a parseable set of controllers.",
            servers_key,
        )
    ids = [voter for voter, _, _ in voters]
    shown = "{" + ", ".join(map(str, ids)) + "}"
    if voters and config.is_controller and config.node_id not in ids:
        raise ConfigError(
            "If process.roles contains the 'controller' role, the node id "
            f"{config.node_id} must be included in the set of voters {voters_key}={shown}",
            voters_key,
        )
    if voters and not config.is_controller and config.node_id in ids:
        raise ConfigError(
            "If process.roles contains just the 'broker' role, the node id "
            f"{config.node_id} must not be included in the set of voters {voters_key}={shown}",
            voters_key,
        )

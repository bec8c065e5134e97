"""The initial voters of a quorum, specified when directories are formatted (kraft.version 1).

Static voters (controller.quorum.voters, kraft.version 0) are not included: they stay in the
configuration.
Source: Kafka's `StorageTool.scala`, `DynamicVoters.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pykbroker.config import BrokerConfig
from pykbroker.kraft.metadata_version import KRAFT_VERSION, SUPPORTED_FEATURES
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode, VoterSet

DEFAULT_CONTROLLER_PORT: Final = 9093
LOOPBACK: Final = "localhost"
_LOOPBACK_NAMES: Final = (LOOPBACK, "127.0.0.1", "::1")
_ANY_HOST: Final = ("", "0.0.0.0", "::")


def local_voter(
    config: BrokerConfig, directory_id: bytes, ports: Mapping[str, int] | None = None
) -> VoterNode:
    """Return this node as a voter, at its advertised controller listeners.

    `ports` are the actual ports, by listener name, where the configuration says 0. A node without a
    controller listener still needs an endpoint for the voter set.
    """
    endpoints = []
    for at in config.advertised_controller_endpoints:
        # The advertised port is the one that other nodes use; 0 means the port that was opened.
        port = at.port or (ports or {}).get(at.listener_name, 0) or DEFAULT_CONTROLLER_PORT
        endpoints.append(VoterEndpoint(at.listener_name, at.host or "localhost", port))
    if not endpoints:
        endpoints.append(VoterEndpoint("CONTROLLER", "localhost", DEFAULT_CONTROLLER_PORT))
    key = ReplicaKey(config.node_id, directory_id)
    return VoterNode(key, tuple(endpoints), SUPPORTED_FEATURES[KRAFT_VERSION])


def bootstrap_servers(config: BrokerConfig) -> list[tuple[str, int]]:
    """Return controller.quorum.bootstrap.servers as (host, port); a host without brackets."""
    found = []
    for entry in config.controller_quorum_bootstrap_servers:
        host, _, port = str(entry).rpartition(":")
        found.append((host.strip("[]"), int(port)))
    return found


def names_other_controllers(config: BrokerConfig) -> bool:
    """Return whether controller.quorum.bootstrap.servers names other nodes than this one.

    Several are taken for other nodes. A single server with the port of one of this node's
    controller listeners is this node if its host is a loopback address, or a host of one of this
    node's listeners, or if no listener tells the host.
    """
    servers = {(_host(host), port) for host, port in bootstrap_servers(config)}
    own = (*config.controller_endpoints, *config.advertised_controller_endpoints)
    if len(servers) > 1 or any(port not in {at.port for at in own} for _, port in servers):
        return bool(servers)
    known = {_host(at.host) for at in (*own, *config.endpoints, *config.advertised_endpoints)}
    known -= {LOOPBACK, *_ANY_HOST}
    return any(known and host not in {LOOPBACK, *known} for host, _ in servers)


def _host(name: str | None) -> str:
    lowered = (name or "").lower()
    return LOOPBACK if lowered in _LOOPBACK_NAMES else lowered


def default_voters(config: BrokerConfig, new_uuid: Callable[[], bytes]) -> VoterSet | None:
    """Return the default voters for a new directory.

    A controller without other known controllers is a quorum by itself; None means that the voters
    are in the configuration, or known to other nodes.
    """
    if (
        not config.is_controller
        or config.controller_quorum_voters
        or names_other_controllers(config)
    ):
        return None
    return standalone_voters(config, new_uuid)


def standalone_voters(config: BrokerConfig, new_uuid: Callable[[], bytes]) -> VoterSet:
    """Return this node alone, with the directory id for its metadata directory."""
    return VoterSet([local_voter(config, new_uuid())])

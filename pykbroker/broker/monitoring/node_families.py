"""The node as a whole: its state, counters, connections, log directories, waiting operations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from pykbroker.broker.monitoring.families import Families
from pykbroker.broker.node_state import NodeState

if TYPE_CHECKING:
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.metrics import Counters
    from pykbroker.network.socket_server import SocketServer
    from pykbroker.purgatory import Purgatory

# BrokerState.java
_BROKER_STATES: Final = {
    NodeState.BINDING: 1,
    NodeState.LOCKING: 1,
    NodeState.OPENING: 1,
    NodeState.CATCHING_UP: 1,
    NodeState.LOADING: 2,
    NodeState.REGISTERING: 2,
    NodeState.FENCED: 2,
    NodeState.SERVING: 3,
    NodeState.STOPPING: 6,
    NodeState.STOPPED: 0,
}
_TOPIC_COUNTERS: Final = (
    ("messagesin", "messages_in", "Records appended for producers."),
    ("bytesin", "bytes_in", "Bytes appended for producers."),
    ("bytesout", "bytes_out", "Bytes read by consumers and followers."),
    ("totalproducerequests", "total_produce_requests", "Produce requests."),
    ("totalfetchrequests", "total_fetch_requests", "Fetch requests."),
    ("failedproducerequests", "failed_produce_requests", "Partitions whose append failed."),
    ("failedfetchrequests", "failed_fetch_requests", "Partitions whose read failed."),
)
_OWN_COUNTERS: Final = (
    ("connections_refused", "Connections refused by a limit."),
    ("connections_lost", "Connections that broke."),
    ("malformed_requests", "Connections closed because of what they sent."),
    ("unexpected_errors", "Internal errors that were detected; see the log."),
)


def add_state(families: Families, state: NodeState, version: str) -> None:
    """What the node is doing."""
    families.gauge(
        "kafka_server_kafkaserver_brokerstate",
        "1 starting, 2 recovering, 3 running, 6 shutting down, 0 not running.",
    ).add(_BROKER_STATES[state])
    families.gauge("pykbroker_build_info", "The version of pykbroker.", "version").add(1, version)


def add_counters(families: Families, counters: Counters) -> None:
    """Counters since the start."""
    for name, attribute, help_ in _TOPIC_COUNTERS:
        family = families.counter(f"kafka_server_brokertopicmetrics_{name}_total", help_)
        family.add(getattr(counters, attribute))
    for attribute, help_ in _OWN_COUNTERS:
        family = families.counter(f"pykbroker_{attribute}_total", help_)
        family.add(getattr(counters, attribute))


def add_connections(families: Families, network: SocketServer) -> None:
    """Connections by listener, and requests that wait for the worker."""
    by_listener = Counter(each.listener.name for each in network.connections)
    open_ = families.gauge(
        "kafka_server_socket_server_metrics_connection_count", "Open connections.", "listener"
    )
    for listener in network.listeners:
        open_.add(by_listener[listener.name], listener.name)
    prefix = "kafka_server_socket_server_metrics_connection"
    families.counter(f"{prefix}_creation_total", "Connections accepted.").add(
        network.counters.connections_accepted
    )
    families.counter(f"{prefix}_close_total", "Connections closed.").add(
        network.counters.connections_closed
    )
    families.gauge(
        "kafka_network_requestchannel_requestqueuesize", "Requests that wait for the worker."
    ).add(len(network.channel.queue))


def add_purgatory(families: Families, purgatory: Purgatory) -> None:
    """The waiting operations with a deadline."""
    kinds = Counter({"Produce": 0, "Fetch": 0})
    kinds.update(each.KIND for each in purgatory.waiting())
    sizes = families.gauge(
        "kafka_server_delayedoperationpurgatory_purgatorysize",
        "Waiting operations, by kind.",
        "delayedOperation",
    )
    for kind, count in kinds.items():
        sizes.add(count, kind)


def add_directories(families: Families, log_manager: LogManager) -> None:
    """Whether each log directory has failed, and how many have."""
    offline = families.gauge(
        "kafka_log_logmanager_logdirectoryoffline",
        "1: the log directory has failed.",
        "logDirectory",
    )
    failed = 0
    for directory in log_manager.directories:
        failed += not directory.is_online
        offline.add(int(not directory.is_online), directory.path)
    families.gauge(
        "kafka_log_logmanager_offlinelogdirectorycount", "Log directories that have failed."
    ).add(failed)

"""`pykbroker cluster`: runs nodes on one machine; and kafka-cluster.sh.

With --nodes it runs until it is stopped, a node does not start, or none is left. Out: one line
`ready ...` once all nodes serve; nodes that died, on standard error. The nodes log to files beside
their directories.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, check
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.config.cluster_layout import MOST_REPLICAS, ClusterLayout, properties_text
from pykbroker.config.definition import ConfigError
from pykbroker.config.load import Properties, load_config
from pykbroker.protocol.primitives import Message

DESCRIPTION: Final = """\
Run several nodes on this machine, each in its own process, for trials and tests. The subcommands
print the id of a cluster, list its endpoints, and unregister a broker or a former voter.

Node N keeps its data in DIR/node-N, its configuration in DIR/node-N.properties and its log in
DIR/node-N.log. The first nodes are controllers as well as brokers. Clients connect to consecutive
ports from --base-port, one for each node; the controllers use the ports after these."""

# Each is a process of its own: a higher number is more likely a typing error.
MOST_NODES: Final = 100

_DATA_DIR: Final = "./pykbroker-cluster"
_BASE_PORT: Final = 9092
_LEVELS: Final = ("DEBUG", "INFO", "WARN", "ERROR")
_VOTERS: Final = "controller.quorum.voters"


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--nodes", type=whole_number(32), metavar="N", help="run this many nodes")
    parser.add_argument(
        "--controllers",
        type=whole_number(32),
        metavar="M",
        help="number of nodes that are also controllers (default 3, or 1 with fewer than 3 nodes)",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help=f"directory for the files of all nodes (default {_DATA_DIR})",
    )
    parser.add_argument(
        "--base-port",
        type=whole_number(32),
        metavar="P",
        help=f"first port (default {_BASE_PORT}); 0 uses free ports",
    )
    parser.add_argument(
        "--override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a configuration key of all nodes; may be repeated",
    )
    parser.add_argument(
        "--log-level", type=str.upper, choices=_LEVELS, help="lowest level for the nodes to log"
    )
    names = "{" + ",".join(_QUERIES) + "}"
    commands = parser.add_subparsers(dest="action", metavar=names)
    for name, (text, _) in _QUERIES.items():
        each = commands.add_parser(name, help=text)
        add_connection(each, controllers=True)
        if name.startswith("unregister"):
            each.add_argument(
                "-i",
                "--id",
                type=whole_number(32),
                required=True,
                metavar="N",
                help="id of the node to unregister",
            )
        if name == "list-endpoints":
            each.add_argument(
                "--include-fenced-brokers", action="store_true", help="include fenced brokers"
            )
    parser.set_defaults(parser=parser)


def run(options: argparse.Namespace) -> int:
    given = [
        name
        for name in ("nodes", "controllers", "data_dir", "base_port", "override", "log_level")
        if getattr(options, name) not in (None, [])
    ]
    if options.action is None:
        if options.nodes is None:
            options.parser.error(
                f"give --nodes N to run a cluster, or one of {', '.join(_QUERIES)}"
            )
        return _run_nodes(options)
    if given:
        flag = given[0].replace("_", "-")
        options.parser.error(f"--{flag} can't be used with {options.action}")
    with connect(options) as client:
        _, query = _QUERIES[options.action]
        query(client, options)
    return 0


# --- kafka-cluster.sh -------------------------------------------------------------------------


def _show_id(client: AdminClient, options: argparse.Namespace) -> None:
    print(f"Cluster ID: {client.describe_cluster().cluster_id}")


def _list_endpoints(client: AdminClient, options: argparse.Namespace) -> None:
    is_fenced_too = options.include_fenced_brokers
    if is_fenced_too and client.of_controllers:
        raise CommandError(
            "The option --include-fenced-brokers is only supported with --bootstrap-server option"
        )
    described = client.describe_cluster(include_fenced_brokers=is_fenced_too)
    print("\n".join(endpoint_table(described.brokers, of_controllers=client.of_controllers)))


def endpoint_table(nodes: Sequence[Any], *, of_controllers: bool) -> list[str]:
    """Return a line for each node, below the titles."""
    host_width = max((len(node.host) for node in nodes), default=100)
    rack_width = max((len(node.rack) for node in nodes if node.rack is not None), default=10)
    state_width = 0 if of_controllers else 11
    kind = "controller" if of_controllers else "broker"

    def line(number: object, host: str, port: object, rack: str, state: str, kind: str) -> str:
        shown_state = "" if of_controllers else state
        return (
            f"{number:<10} {host:<{host_width}} {port:<10} {rack:<{rack_width}} "
            f"{shown_state:<{state_width}}{kind:<15}"
        )

    return [
        line("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"),
        *(
            line(
                node.broker_id,
                node.host,
                node.port,
                str(node.rack if node.rack is not None else "null"),
                "fenced" if node.is_fenced else "unfenced",
                kind,
            )
            for node in nodes
        ),
    ]


def _unregister(client: AdminClient, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

    _send_to_controller(client, UnregisterBrokerRequest(broker_id=options.id))
    print(f"Broker {options.id} is no longer registered.")


def _unregister_controller(client: AdminClient, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.unregister_controller_request import (
        UnregisterControllerRequest,
    )

    _send_to_controller(client, UnregisterControllerRequest(controller_id=options.id))
    print(f"Controller {options.id} is no longer registered.")


def _send_to_controller(client: AdminClient, request: Message) -> None:
    def ask(connection: BrokerConnection) -> None:
        response = connection.send(request)
        check(response.error_code, response.error_message)

    client.at_controller(ask)


_QUERIES: Final[dict[str, tuple[str, Callable[[AdminClient, argparse.Namespace], None]]]] = {
    "cluster-id": ("print the id of a cluster", _show_id),
    "unregister": ("unregister a broker", _unregister),
    "unregister-controller": ("unregister a former voter", _unregister_controller),
    "list-endpoints": ("list brokers or controllers", _list_endpoints),
}


# --- running nodes ----------------------------------------------------------------------------


def _run_nodes(options: argparse.Namespace) -> int:
    from pykbroker.cli.cluster_nodes import ClusterNodes
    from pykbroker.cli.node_process import NodeProcess

    directory = os.path.abspath(options.data_dir or _DATA_DIR)
    try:
        shared = load_config(overrides=options.override)
        layout = _layout(options, directory)
        if "listeners" not in shared:
            _require_ports(layout)
        os.makedirs(directory, exist_ok=True)
        write_configurations(layout, directory, shared)
        environment = node_environment(layout, directory)
    except ConfigError as error:
        raise CommandError(f"pykbroker cluster: {error.message}") from error
    except OSError as error:
        raise CommandError(f"pykbroker cluster: {directory}: {error.strerror or error}") from error
    level = () if options.log_level is None else ("--log-level", options.log_level)
    nodes = [
        NodeProcess(
            number,
            f"{directory}/node-{number}.properties",
            f"{directory}/node-{number}.log",
            is_voter=number in layout.controller_ports,
            arguments=level,
        )
        for number in layout.ports
    ]
    line = (
        f"ready nodes={len(nodes)} controllers={len(layout.controller_ports)} "
        f"bootstrap.servers={layout.bootstrap_servers} data.dir={directory}"
    )
    return asyncio.run(ClusterNodes(nodes, line, environment).run())


def _layout(options: argparse.Namespace, directory: str) -> ClusterLayout:
    """Return the nodes and their ports; raises ConfigError for an impossible layout."""
    count: int = options.nodes
    if not 1 <= count <= MOST_NODES:
        raise ConfigError(f"--nodes {count}: expected 1 to {MOST_NODES}")
    if "," in directory:
        raise ConfigError(f"{directory}: log.dirs takes no path with a comma")
    if os.path.exists(f"{directory}/meta.properties"):
        raise ConfigError(f"{directory} is the log directory of a node, not that of a cluster")
    voters = _voters(options.controllers, count, former_voters(directory))
    ports = _ports(options.base_port, count + voters)
    ids = range(1, count + 1)
    return ClusterLayout(
        dict(zip(ids, ports, strict=False)), dict(zip(ids, ports[count:], strict=False))
    )


def _voters(wanted: int | None, count: int, former: int) -> int:
    """Return how many of `count` nodes are voters; as many as before (0: a new cluster)."""
    if former and wanted not in (None, former):
        raise ConfigError(f"--controllers {wanted}: this cluster has {former}, which stays so")
    if former > count:
        raise ConfigError(f"--nodes {count}: this cluster has {former} controllers already")
    voters = former if former else wanted
    if voters is None:
        return MOST_REPLICAS if count >= MOST_REPLICAS else 1
    if not 1 <= voters <= count:
        raise ConfigError(f"--controllers {voters}: expected 1 to {count}")
    return voters


def _ports(base: int | None, count: int) -> list[int]:
    from pykbroker.environment.real.ports import free_ports

    if base == 0:
        return free_ports(count)
    first = _BASE_PORT if base is None else base
    if first < 0 or first + count > 1 << 16:
        raise ConfigError(f"--base-port {first}: {count} ports from there on are not all valid")
    return list(range(first, first + count))


def _require_ports(layout: ClusterLayout) -> None:
    """Raise ConfigError if a port cannot be used, before any node starts: one that has to stop
    again would check its logs at the next start.
    """
    from pykbroker.environment.real.ports import bind_failure

    for port in (*layout.ports.values(), *layout.controller_ports.values()):
        failure = bind_failure(port)
        if failure is not None:
            advice = "Choose other ports with --base-port"
            raise ConfigError(f"port {port} of 127.0.0.1: {failure}. {advice}")


def former_voters(directory: str) -> int:
    """Return the number of voters of the cluster that ran in this directory before; 0 if there was
    none.
    """
    file = f"{directory}/node-1.properties"
    if not os.path.exists(file):
        return 0
    return len(load_config(file).get(_VOTERS, "").split(","))


def write_configurations(layout: ClusterLayout, directory: str, shared: Properties) -> None:
    """Write a properties file for each node; `shared` is set for all of them."""
    count = len(layout.ports)
    replicas = {
        "default.replication.factor": str(min(count, MOST_REPLICAS)),
        "min.insync.replicas": "2" if count >= MOST_REPLICAS else "1",
    }
    for number in layout.ports:
        own = layout.properties(number, f"{directory}/node-{number}")
        with open(f"{directory}/node-{number}.properties", "w", encoding="utf-8") as stream:
            stream.write(properties_text(replicas | own | shared))


def node_environment(layout: ClusterLayout, directory: str) -> dict[str, str]:
    """Return the environment of the nodes: the id of their cluster, without what they must not
    share.

    An empty directory is formatted for CLUSTER_ID: that of the other nodes, if there are any.
    """
    own = layout.properties(1, directory)
    names = {f"KAFKA_{key.upper().replace('.', '_')}" for key in (*own, "advertised.listeners")}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    found = _cluster_id(layout, directory)
    if found is not None:
        environment["CLUSTER_ID"] = found
    elif "CLUSTER_ID" not in environment:
        from pykbroker.cli.storage import random_uuid

        environment["CLUSTER_ID"] = random_uuid()
    return environment


def _cluster_id(layout: ClusterLayout, directory: str) -> str | None:
    from pykbroker.environment.real.files import RealFiles
    from pykbroker.kraft.storage_format import StorageError, read_meta_properties

    for number in layout.ports:
        try:
            found = read_meta_properties(RealFiles(), f"{directory}/node-{number}")
        except StorageError as error:
            raise CommandError(f"pykbroker cluster: {error}") from error
        if found is not None:
            return found.cluster_id
    return None

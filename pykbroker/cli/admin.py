"""A small synchronous client for the console commands: one socket per address, one request at a
time.

In: request messages. Out: decoded response messages, or CommandError / ServerError. It asks each
broker for its API versions and sends the highest version that both support. Requests for the
controller go to any broker, which forwards them (KRaft); a client of controllers locates the active
one itself.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from pykbroker.cli.command import CommandError, is_number
from pykbroker.errors import ErrorCode, error_message
from pykbroker.protocol.api import APIS, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import DecodeError, EncodeError, Message
from pykbroker.values import NamedTuple

_LENGTH: Final = struct.Struct(">i")
_MAX_RESPONSE_BYTES: Final = 1 << 30
_RETRY_S: Final = 0.1

# Transient errors: a coordinator, leader or controller settles, an earlier
# transaction of the same id is being ended.
RETRIABLE: Final = frozenset(
    (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )
)

_JAVA_ERRORS: Final = "org.apache.kafka.common.errors."
# Key types of FindCoordinator.
GROUP: Final = 0
TRANSACTION: Final = 1

# Endpoint types of DescribeCluster.
_BROKERS: Final = 1
_CONTROLLERS: Final = 2

T = TypeVar("T")


class ServerError(CommandError):
    """A broker answered with an error."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(message or error_message(code))
        self.code: Final = code


class Node(NamedTuple):
    id: int
    host: str
    port: int
    rack: str | None = None


def check(code: int, message: str | None = None) -> None:
    """Raise ServerError if a response contains an error."""
    if code != ErrorCode.NONE:
        raise ServerError(code, message)


def exception_name(code: int) -> str:
    """Return the name of Java's exception for a code, as some scripts print it: that of the code,
    which for a few codes is not what Java calls it.
    """
    if code == ErrorCode.NON_EMPTY_GROUP:
        return f"{_JAVA_ERRORS}GroupNotEmptyException"
    words = ErrorCode(code).name.split("_")
    name = "".join(word.capitalize() for word in words)
    name = name.removesuffix("Error").removesuffix("Exception")
    return f"{_JAVA_ERRORS}{name}Exception"


class BrokerConnection:
    """One socket to one broker."""

    def __init__(self, host: str, port: int, client_id: str, timeout_s: float) -> None:
        self.address: Final = f"{host}:{port}"
        self._client_id = client_id
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout_s)
        except OSError as error:
            why = error.strerror or str(error)
            raise CommandError(f"Cannot connect to {self.address}: {why}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._versions = self._read_versions()
        except CommandError:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def supports(self, api_key: int) -> bool:
        return api_key in self._versions

    def send(self, request: Message, version: int | None = None) -> Any:
        """Send a request, and return the response. The version is the highest that both sides
        support, unless it is given.
        """
        key = request.API_KEY
        if version is None:
            version = self._pick_version(key, request.MIN_VERSION, request.MAX_VERSION)
        return self._exchange(request, version)

    def _pick_version(self, key: int, low: int, high: int) -> int:
        name = APIS[key].name
        if key not in self._versions:
            raise CommandError(f"The broker at {self.address} does not support {name}")
        their_low, their_high = self._versions[key]
        version = min(high, their_high)
        if version < max(low, their_low):
            raise CommandError(f"The broker at {self.address} supports no common version of {name}")
        return version

    def _exchange(self, request: Message, version: int) -> Any:
        api = APIS[request.API_KEY]
        self._correlation_id += 1
        parts: Parts = []
        try:
            encode_request(api, version, self._correlation_id, self._client_id, request, parts)
        except EncodeError as error:
            raise CommandError(f"{api.name} cannot be sent: {error}") from error
        try:
            self._socket.sendall(join_parts(parts))
            frame = self._read(self._read_length())
        except TimeoutError as error:
            raise CommandError(f"{api.name}: no answer from {self.address} in time") from error
        except OSError as error:
            why = error.strerror or str(error)
            raise CommandError(f"{api.name}: connection to {self.address} failed: {why}") from error
        try:
            correlation_id, position = decode_response_header(frame, api, version)
            if correlation_id != self._correlation_id:
                raise CommandError(f"{api.name}: {self.address} answered another request")
            response, _ = response_class(api.key).decode(frame, position, version)
        except DecodeError as error:
            why = f"answer of {self.address} cannot be read: {error}"
            raise CommandError(f"{api.name}: {why}") from error
        return response

    def _read_length(self) -> int:
        (length,) = _LENGTH.unpack(self._read(4))
        if not 4 <= length <= _MAX_RESPONSE_BYTES:
            raise CommandError(f"{self.address} does not speak the Kafka protocol")
        return int(length)

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            received = self._socket.recv(min(size, 1 << 20))
            if not received:
                raise ConnectionResetError(None, "connection closed by the broker")
            parts.append(received)
            size -= len(received)
        return b"".join(parts)

    def _read_versions(self) -> dict[int, tuple[int, int]]:
        from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest

        request = ApiVersionsRequest(
            client_software_name="pykbroker-cli", client_software_version="1"
        )
        response = self._exchange(request, 3)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = self._exchange(request, 0)
        check(response.error_code)
        return {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}


class AdminClient:
    """Connections to the brokers of a cluster, or to its controllers; a context manager."""

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        client_id: str | None = None,
        timeout_ms: int = 60_000,
        request_timeout_ms: int | None = None,
        of_controllers: bool = False,
    ) -> None:
        """`timeout_ms` bounds retries; the lesser of the two bounds each wait for the network."""
        self.of_controllers: Final = of_controllers
        self._client_id = client_id or "pykbroker-cli"
        self._timeout_s = timeout_ms / 1000
        self._request_timeout_s = min(timeout_ms, request_timeout_ms or timeout_ms) / 1000
        self.timeout_ms: Final = timeout_ms
        self._connections: dict[str, BrokerConnection] = {}
        self._nodes: dict[int, Node] | None = None
        self._bootstrap = self._connect_first(bootstrap_servers)

    def __enter__(self) -> AdminClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _connect_first(self, servers: str) -> BrokerConnection:
        failure = CommandError(f"Invalid bootstrap servers: {servers!r}")
        for server in filter(None, (each.strip() for each in servers.split(","))):
            host, colon, port = server.rpartition(":")
            if not colon or not is_number(port) or int(port) > 65535:
                raise CommandError(f"Invalid bootstrap server {server}: expected HOST:PORT")
            try:
                return self._connection(host.strip("[]"), int(port))
            except CommandError as error:
                failure = error
        raise failure

    def _connection(self, host: str, port: int) -> BrokerConnection:
        address = f"{host}:{port}"
        connection = self._connections.get(address)
        if connection is None:
            connection = BrokerConnection(host, port, self._client_id, self._request_timeout_s)
            self._connections[address] = connection
        return connection

    @property
    def any_broker(self) -> BrokerConnection:
        """Return a connection for requests that any broker can serve, including those for the
        controller.
        """
        return self._bootstrap

    def at_controller(self, ask: Callable[[BrokerConnection], T]) -> T:
        """Send a request to the active controller, and retry while there is none. Any broker
        forwards it.
        """

        def attempt() -> T:
            if not self.of_controllers:
                return ask(self.any_broker)
            active = self.describe_cluster().controller_id
            node = self.nodes().get(active)
            if node is None:
                raise ServerError(ErrorCode.NOT_CONTROLLER)
            return ask(self._connection(node.host, node.port))

        return self.retry(attempt)

    def node(self, node_id: int) -> BrokerConnection:
        node = self.nodes().get(node_id)
        if node is None:
            kind = "Controller" if self.of_controllers else "Broker"
            raise CommandError(f"{kind} {node_id} does not exist")
        return self._connection(node.host, node.port)

    def nodes(self) -> dict[int, Node]:
        """Return the live brokers by id, or the controllers."""
        if self._nodes is None:
            self.describe_cluster()
            assert self._nodes is not None
        return self._nodes

    def describe_cluster(self, *, include_fenced_brokers: bool = False) -> Any:
        """Return the current state of the cluster: its id, its nodes, its controller."""
        from pykbroker.protocol.messages.describe_cluster_request import DescribeClusterRequest

        kind = _CONTROLLERS if self.of_controllers else _BROKERS
        request = DescribeClusterRequest(
            endpoint_type=kind, include_fenced_brokers=include_fenced_brokers
        )
        response = self.any_broker.send(request)
        check(response.error_code, response.error_message)
        self._nodes = {
            each.broker_id: Node(each.broker_id, each.host, each.port, each.rack)
            for each in response.brokers
            if not each.is_fenced
        }
        return response

    def metadata(self, topics: Iterable[str] | None) -> Any:
        """Return metadata of these topics, or of all; never creates one."""
        from pykbroker.protocol.messages.metadata_request import (
            MetadataRequest,
            MetadataRequestTopic,
        )

        wanted = None
        if topics is not None:
            wanted = [MetadataRequestTopic(name=topic) for topic in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        response = self.any_broker.send(request)
        self._nodes = {
            each.node_id: Node(each.node_id, each.host, each.port, each.rack)
            for each in response.brokers
        }
        return response

    def topic_names(self, *, internal: bool = True) -> list[str]:
        """Return the names of all topics, sorted."""
        topics = self.metadata(None).topics
        return sorted(each.name for each in topics if internal or not each.is_internal)

    def coordinator(self, key: str, key_type: int = GROUP) -> Node:
        """Return the coordinator of a group or of a transactional id, once there is one."""

        from pykbroker.protocol.messages.find_coordinator_request import (
            FindCoordinatorRequest,
        )

        def find() -> Node:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            (found,) = self.any_broker.send(request).coordinators
            check(found.error_code, found.error_message)
            return Node(found.node_id, found.host, found.port)

        return self.retry(find)

    def at_coordinator(
        self, key: str, ask: Callable[[BrokerConnection], T], key_type: int = GROUP
    ) -> T:
        """Send a request to the coordinator of `key`, and retry while it moves or loads."""

        def attempt() -> T:
            node = self.coordinator(key, key_type)
            return ask(self._connection(node.host, node.port))

        return self.retry(attempt)

    def retry(self, action: Callable[[], T]) -> T:
        """Repeat while the response is a transient error, for as long as the client's timeout."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                return action()
            except ServerError as error:
                if error.code not in RETRIABLE or time.monotonic() > deadline:
                    raise
            time.sleep(_RETRY_S)

    def leaders(self, partitions: Iterable[tuple[str, int]]) -> dict[int, list[tuple[str, int]]]:
        """Return partitions by the node that leads them; -1 holds those without a leader."""
        wanted = sorted(set(partitions))
        found: dict[tuple[str, int], int] = {}
        for topic in self.metadata({topic for topic, _ in wanted}).topics:
            for each in topic.partitions:
                found[topic.name, each.partition_index] = each.leader_id
        result: dict[int, list[tuple[str, int]]] = {}
        for partition in wanted:
            result.setdefault(found.get(partition, -1), []).append(partition)
        return result

    def ask_leaders(
        self,
        partitions: Iterable[tuple[str, int]],
        make_request: Callable[[Mapping[str, list[int]]], Message],
    ) -> tuple[dict[tuple[str, int], Any], list[tuple[str, int]]]:
        """Return (each partition's response from its leader, the partitions without a leader).

        `make_request` creates the request for some partitions, given as numbers by topic.
        """
        answers: dict[tuple[str, int], Any] = {}
        by_leader = self.leaders(partitions)
        leaderless = by_leader.pop(-1, [])
        for node, led in by_leader.items():
            for topic in self.node(node).send(make_request(by_topic(led))).topics:
                for each in topic.partitions:
                    answers[topic.name, each.partition_index] = each
        return answers, leaderless


def by_topic(partitions: Iterable[tuple[str, int]]) -> Mapping[str, list[int]]:
    """Return partition numbers by topic."""
    result: dict[str, list[int]] = {}
    for topic, partition in partitions:
        result.setdefault(topic, []).append(partition)
    return result

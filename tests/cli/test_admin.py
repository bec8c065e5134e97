from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from pykbroker.cli.admin import AdminClient, ServerError, by_topic, exception_name
from pykbroker.cli.command import CommandError
from pykbroker.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykbroker.testing import Broker, Cluster


@contextmanager
def stranger(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that is no Kafka broker; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1024)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


def test_nodes_topics_and_leaders(broker: Broker, topic: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        assert client.nodes()[1].host == "127.0.0.1"
        assert topic in client.topic_names()
        assert client.leaders([(topic, 0), (topic, 1), (topic, 7)]) == {
            -1: [(topic, 7)],
            1: [(topic, 0), (topic, 1)],
        }
        with pytest.raises(CommandError, match="Broker 9 does not exist"):
            client.node(9)


def test_leaders_are_asked_for_their_partitions(broker: Broker, filled: str) -> None:
    def request(numbers_by_topic: Mapping[str, list[int]]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(
                name=name,
                partitions=[
                    ListOffsetsPartition(partition_index=number, timestamp=-1) for number in numbers
                ],
            )
            for name, numbers in numbers_by_topic.items()
        ]
        return ListOffsetsRequest(topics=topics)

    with AdminClient(broker.bootstrap_servers) as client:
        wanted = [(filled, 0), (filled, 1), (filled, 7), ("nowhere", 0)]
        answers, leaderless = client.ask_leaders(wanted, request)
        assert {key: each.offset for key, each in answers.items()} == {
            (filled, 0): 5,
            (filled, 1): 5,
        }
        assert leaderless == [(filled, 7), ("nowhere", 0)]


def test_the_second_server_is_tried(broker: Broker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        closed = unused.getsockname()[1]
    servers = f"127.0.0.1:{closed},{broker.bootstrap_servers}"
    with AdminClient(servers) as client:
        assert list(client.nodes()) == [1]
    with pytest.raises(CommandError, match=f"Cannot connect to 127.0.0.1:{closed}: Connection"):
        AdminClient(f"127.0.0.1:{closed}")


@pytest.mark.parametrize("servers", ["", "localhost", "localhost:x", "localhost:70000"])
def test_bad_addresses(servers: str) -> None:
    with pytest.raises(CommandError, match="Invalid bootstrap server"):
        AdminClient(servers)


def test_a_server_that_speaks_something_else() -> None:
    with (
        stranger(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")) as address,
        pytest.raises(CommandError, match="does not speak the Kafka protocol"),
    ):
        AdminClient(address)


def test_a_server_that_hangs_up() -> None:
    with (
        stranger(lambda connection: None) as address,
        pytest.raises(CommandError, match="connection closed by the broker"),
    ):
        AdminClient(address)


def test_passing_errors_are_waited_out(broker: Broker) -> None:
    answers = [15, 14, 0]

    def action() -> str:
        code = answers.pop(0)
        if code:
            raise ServerError(code)
        return "done"

    with AdminClient(broker.bootstrap_servers) as client:
        assert client.retry(action) == "done"
        with pytest.raises(ServerError, match="The group is not empty"):
            client.retry(lambda: (_ for _ in ()).throw(ServerError(68)))


def test_waiting_ends_with_the_timeout(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ServerError(15)

    with AdminClient(broker.bootstrap_servers) as client:
        monkeypatch.setattr(client, "_timeout_s", 0)  # connecting had all the time it needs
        with pytest.raises(ServerError, match="The coordinator is not available"):
            client.retry(fail)


def test_by_topic() -> None:
    assert by_topic([("a", 0), ("b", 1), ("a", 2)]) == {"a": [0, 2], "b": [1]}


def test_a_client_of_controllers(cluster: Cluster) -> None:
    """Whichever voter is asked first, requests for the controller reach the active one."""
    ports = cluster.controller_ports.values()
    active = set()
    for first in ports:
        servers = f"127.0.0.1:{first}"
        with AdminClient(servers, of_controllers=True) as client:
            assert {node.port for node in client.nodes().values()} == set(ports)
            active.add(client.at_controller(lambda connection: connection.address))
            with pytest.raises(CommandError, match="Controller 9 does not exist"):
                client.node(9)
    assert len(active) == 1
    with AdminClient(cluster.bootstrap_servers) as client:
        assert client.at_controller(lambda connection: connection) is client.any_broker


def test_no_active_controller(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with AdminClient(cluster.bootstrap_controllers, of_controllers=True) as client:
        described = client.describe_cluster()
        described.controller_id = -1
        monkeypatch.setattr(client, "describe_cluster", lambda: described)
        monkeypatch.setattr(client, "_timeout_s", 0)
        with pytest.raises(ServerError) as caught:
            client.at_controller(lambda connection: connection)
        assert caught.value.code == 41


def test_errors_have_javas_names() -> None:
    package = "org.apache.kafka.common.errors"
    assert exception_name(56) == f"{package}.KafkaStorageException"
    assert exception_name(17) == f"{package}.InvalidTopicException"
    assert exception_name(68) == f"{package}.GroupNotEmptyException"
    assert exception_name(69) == f"{package}.GroupIdNotFoundException"
    assert exception_name(-1) == f"{package}.UnknownServerException"

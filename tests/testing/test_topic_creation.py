"""Topics are created with the partitions that were asked for, or the refusal says why."""

from __future__ import annotations

import socket
import threading

import pytest
from confluent_kafka.admin import AdminClient

from pykbroker.testing import Broker, TopicNotCreated
from pykbroker.testing.topic_creation import create_topics


def test_topics_of_a_broker() -> None:
    with Broker(num_partitions=2) as broker:
        broker.create_topics(["plain"])
        broker.create_topics({"wide": 5, "narrow": 1})
        broker.create_topics([])
        known = AdminClient({"bootstrap.servers": broker.bootstrap_servers}).list_topics(timeout=60)
        counts = {name: len(topic.partitions) for name, topic in known.topics.items()}
        assert counts == {"plain": 2, "wide": 5, "narrow": 1}
        with pytest.raises(TopicNotCreated, match=r"'plain' was not created: .*already exists"):
            broker.create_topics(["plain"])
        with pytest.raises(TopicNotCreated, match=r"'none' was not created: .*partitions"):
            broker.create_topics({"none": 0})


def test_a_connection_that_ends_early() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(ConnectionError):
            create_topics(server.getsockname(), ["topic"])
        thread.join()

"""What any cluster owes: acknowledged records are read again, and are the same everywhere."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaException, Producer

from tests.harness.waiting import wait_for

PATIENCE_SECONDS = 120.0


class HasData(Protocol):
    """A node with files."""

    @property
    def data_dir(self) -> Path | str:
        """Its log directory."""


def partitions(servers: str, topic: str) -> dict[int, Any]:
    """Of a topic that exists, although the node that is asked may not have heard of it yet, or may
    be killed while it answers."""
    producer = Producer({"bootstrap.servers": servers})
    found: dict[int, Any] = {}

    def is_known() -> bool:
        with suppress(KafkaException):
            found.update(producer.list_topics(topic, timeout=30).topics[topic].partitions)
        return bool(found)

    wait_for(is_known, f"partitions of {topic}")
    return found


def in_sync(servers: str, topic: str, count: int) -> None:
    wait_for(
        lambda: all(len(p.isrs) == count for p in partitions(servers, topic).values()),
        f"{count} in-sync replicas of {topic}",
    )


class Stream:
    """An idempotent producer with acks=all that knows what was acknowledged."""

    def __init__(self, servers: str, topic: str) -> None:
        self.acknowledged: list[bytes] = []
        self.failed: list[str] = []
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})

    def send(self, numbers: range) -> None:
        for number in numbers:
            self._producer.produce(self._topic, value=b"%d" % number, on_delivery=self._on_delivery)
            self._producer.poll(0)
        assert self._producer.flush(PATIENCE_SECONDS) == 0

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            self.acknowledged.append(message.value())
        else:
            self.failed.append(str(error))


def read_all(servers: str, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"readers-of-{topic}",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while len(values) < count and time.monotonic() < until:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            value = message.value()
            assert value is not None
            values.append(value)
    consumer.close()
    return values


def log_files(nodes: Iterable[HasData], topic: str, partition: int) -> list[bytes]:
    """The bytes of this partition's log on each node that has a replica."""
    return [
        b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))
        for node in nodes
        for directory in Path(node.data_dir).glob(f"{topic}-{partition}")
    ]

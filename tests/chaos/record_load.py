"""Stock clients that write and read all the time: idempotent producers, and a group of consumers.

The group commits what it has seen; a member that takes a partition over begins where the last one
committed, so that together they see every record, once or more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.chaos.record_history import Place, RecordHistory

GROUP = "readers"
CLOSE_S = 60.0
QUICK: dict[str, Any] = {
    "reconnect.backoff.max.ms": 500,
    "socket.timeout.ms": 10_000,
    "log_level": 0,
}


class RecordProducer:
    """Numbers in ascending order to the partitions of a topic in turn, until it is stopped."""

    def __init__(
        self,
        servers: str,
        topic: str,
        partitions: int,
        name: str,
        history: RecordHistory,
        per_second: float,
        config: Mapping[str, Any],
    ) -> None:
        self._topic = topic
        self._partitions = partitions
        self._name = name
        self._history = history
        self._pause_s = 1 / per_second
        self._stop = threading.Event()
        settings = QUICK | {
            "bootstrap.servers": servers,
            "client.id": name,
            "enable.idempotence": True,
            "message.timeout.ms": 0,
            "linger.ms": 5,
        }
        self._producer = Producer(settings | dict(config))
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(self._pause_s):
            value = f"{self._name} {number}"
            try:
                self._producer.produce(
                    self._topic,
                    value.encode(),
                    partition=number % self._partitions,
                    on_delivery=self._delivered,
                )
            except BufferError:
                self._producer.poll(0.1)
                continue
            except KafkaException as fatal:
                self._history.refuse(value, str(fatal))
                return
            number += 1
            self._history.sent[self._name] = number
            self._producer.poll(0)

    def _delivered(self, error: Any, message: Any) -> None:
        value = message.value().decode()
        if error is not None:
            self._history.refuse(value, str(error))
        elif message.offset() is not None:  # None: it was there already when it was repeated
            self._history.acknowledge(*_record(message))

    def stop(self) -> None:
        """Send no more."""
        self._stop.set()
        self._thread.join()

    def flush(self) -> None:
        """Wait until everything is acknowledged."""
        left = self._producer.flush(self._history.patience_s)
        if left:
            self._history.note(f"{left} records of {self._name} are not acknowledged")


class GroupMember:
    """A consumer of the group that sees, and then commits."""

    def __init__(self, servers: str, topic: str, name: str, history: RecordHistory) -> None:
        self._history = history
        self._stop = threading.Event()
        settings = QUICK | {
            "bootstrap.servers": servers,
            "client.id": name,
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 1000,
        }
        self._consumer = Consumer(settings)
        self._consumer.subscribe([topic])
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            messages = [each for each in self._consumer.consume(500, 0.3) if each.error() is None]
            for message in messages:
                self._history.see(*_record(message))
            if messages:
                try:
                    self._consumer.commit(asynchronous=False)
                except KafkaException:
                    continue  # no coordinator now, or another member's by now: seen again
        self._consumer.close()

    def stop(self) -> None:
        """Leave the group. A client that does not end does not keep the verdict back."""
        self._stop.set()
        self._thread.join(CLOSE_S)


def _record(message: Any) -> tuple[Place, int, str]:
    """Where it is, its offset and its value."""
    place = (message.topic(), message.partition())
    return place, message.offset(), message.value().decode()


def read_everything(servers: str, places: Iterable[Place]) -> dict[Place, list[tuple[int, str]]]:
    """All records of the partitions, as a consumer without a group finds them."""
    logs: dict[Place, list[tuple[int, str]]] = {}
    for topic, partition in places:
        logs[topic, partition] = _read_partition(servers, topic, partition)
    return logs


def _read_partition(servers: str, topic: str, partition: int) -> list[tuple[int, str]]:
    consumer = Consumer(
        QUICK
        | {
            "bootstrap.servers": servers,
            "group.id": "checker",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    found: list[tuple[int, str]] = []
    try:
        while True:
            message = consumer.poll(120)
            assert message is not None, f"{topic}-{partition}: no record arrives after {len(found)}"
            error = message.error()
            if error is None:
                found.append(_record(message)[1:])
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
    finally:
        consumer.close()


def wait_until_seen(history: RecordHistory, logs: dict[Place, list[tuple[int, str]]]) -> None:
    """Give the group time to come to the end; the verdict says whether it did."""
    until = time.monotonic() + history.patience_s
    while time.monotonic() < until and any(
        len(history.seen[place]) < len(log) for place, log in logs.items()
    ):
        time.sleep(0.2)

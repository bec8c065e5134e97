"""Stock Kafka producers in the workers: confluent-kafka where it is installed, else kafka-python.

    sender(settings)   a producer behind one small face

Latencies are sampled: every SAMPLE_EVERY-th record is timed from send to acknowledgement.
"""

from __future__ import annotations

import importlib.util
import time
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from spark_jobs.reading import name_value

CONFLUENT: Final = "confluent-kafka"
SAMPLE_EVERY: Final = 20
_FLUSH_SECONDS: Final = 120


def add_client_arguments(parser: ArgumentParser) -> None:
    """The arguments of a job that talks to a broker."""
    parser.add_argument("--bootstrap-servers", required=True, help="brokers, HOST:PORT,...")
    parser.add_argument(
        "--client",
        choices=("auto", CONFLUENT, "kafka-python"),
        default="auto",
        help="the producers' library; auto: confluent-kafka where it is installed",
    )
    parser.add_argument(
        "--producer",
        action="append",
        default=[],
        type=name_value,
        metavar="NAME=VALUE",
        help="a setting of the producers",
    )
    parser.add_argument(
        "--topic-config",
        action="append",
        default=[],
        type=name_value,
        metavar="NAME=VALUE",
        help="a setting of new topics",
    )


class Outgoing(NamedTuple):
    """A record to send; partition -1: the client chooses; timestamp None: now."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int | None = None
    headers: list[tuple[str, bytes | None]] | None = None

    @property
    def size_bytes(self) -> int:
        """Of key and value."""
        return len(self.key or b"") + len(self.value or b"")


class Sender(ABC):
    """A producer that counts.

    State: `sent` (failed ones too), `errors`, `failed_bytes` (of keys and values, as far as records
    have an answer), `first_error`, `latencies_ms` (sampled).
    """

    def __init__(self) -> None:
        self.sent = self.errors = self.failed_bytes = 0
        self.first_error: str | None = None
        self.latencies_ms: list[float] = []

    def send(self, record: Outgoing) -> None:
        """Hand a record over; waits while the client's buffer is full."""
        self.sent += 1
        began = time.perf_counter() if self.sent % SAMPLE_EVERY == 0 else 0.0
        self._send(record, began)

    def _acknowledged(self, error: object, began: float, record: Outgoing) -> None:
        if error is not None:
            self.errors += 1
            self.failed_bytes += record.size_bytes
            self.first_error = self.first_error or str(error)
        elif began:
            self.latencies_ms.append((time.perf_counter() - began) * 1000)

    @abstractmethod
    def _send(self, record: Outgoing, began: float) -> None: ...

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Let the client work for so long."""

    @abstractmethod
    def flush(self) -> None:
        """Wait until every record is acknowledged or has failed."""


class ConfluentSender(Sender):
    """librdkafka. A timestamp of 0 means now to it: such records are sent with 1 ms."""

    def __init__(self, bootstrap: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        from confluent_kafka import KafkaException, Producer

        self._refusal = KafkaException
        defaults = {"linger.ms": "5", "acks": "all", "queue.buffering.max.messages": "200000"}
        self._producer = Producer({"bootstrap.servers": bootstrap} | defaults | dict(settings))

    def _send(self, record: Outgoing, began: float) -> None:
        more: dict[str, Any] = {}
        if record.timestamp_ms is not None:
            more["timestamp"] = record.timestamp_ms or 1
        if record.headers:
            more["headers"] = record.headers

        def acknowledged(error: object, _message: object) -> None:
            self._acknowledged(error, began, record)

        while True:
            try:
                self._producer.produce(
                    record.topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    on_delivery=acknowledged,
                    **more,
                )
                break
            except BufferError:
                self._producer.poll(0.05)
            except self._refusal as fault:  # too large, say: never queued, so never delivered
                self._acknowledged(fault.args[0], began, record)
                break
        if self.sent % 256 == 0:
            self._producer.poll(0)

    def wait(self, seconds: float) -> None:
        self._producer.poll(seconds)

    def flush(self) -> None:
        left = self._producer.flush(_FLUSH_SECONDS)
        self.errors += left
        if left and self.first_error is None:
            self.first_error = f"{left} records without an answer"


class KafkaPythonSender(Sender):
    """kafka-python, with the settings that both clients know by the same name.

    It refuses headers without a value, and records with neither key nor value: these are errors.
    """

    def __init__(self, bootstrap: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        from kafka import KafkaProducer

        more = {"linger_ms": 5, "acks": "all"} | by_kafka_python(settings)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, **more)

    def _send(self, record: Outgoing, began: float) -> None:
        try:
            future = self._producer.send(
                record.topic,
                value=record.value,
                key=record.key,
                partition=None if record.partition < 0 else record.partition,
                timestamp_ms=record.timestamp_ms,
                headers=record.headers or None,
            )
        except (TypeError, ValueError) as fault:
            self._acknowledged(fault, began, record)
            return
        future.add_callback(lambda _: self._acknowledged(None, began, record))
        future.add_errback(lambda error: self._acknowledged(error, began, record))

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)  # it has a thread of its own

    def flush(self) -> None:
        self._producer.flush(_FLUSH_SECONDS)
        self._producer.close()


def by_kafka_python(settings: Mapping[str, str]) -> dict[str, Any]:
    """Settings as kafka-python names and types them: `fetch.max.bytes` is fetch_max_bytes."""
    words: dict[str, Any] = {"none": None, "true": True, "false": False}
    return {
        name.replace(".", "_"): int(value)
        if value.lstrip("-").isdigit()
        else words.get(value, value)
        for name, value in settings.items()
    }


def has_confluent() -> bool:
    """Whether confluent-kafka is installed here."""
    return importlib.util.find_spec("confluent_kafka") is not None


def is_confluent(client: str) -> bool:
    """Whether `client` (`auto`, or a library) is confluent-kafka here."""
    return client == CONFLUENT or (client == "auto" and has_confluent())


def sender(bootstrap: str, settings: Mapping[str, str], client: str = "auto") -> Sender:
    """The producer to use: `auto`, `confluent-kafka` or `kafka-python`."""
    made = ConfluentSender if is_confluent(client) else KafkaPythonSender
    return made(bootstrap, settings)

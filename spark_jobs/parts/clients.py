"""Stock Kafka producers in the workers: confluent-kafka or kafka-python.

    sender(bootstrap, settings, client)   a producer behind one small interface
    SEND_ONCE                             for the session: no failed task is retried

Latencies are sampled: every SAMPLE_EVERY-th record is timed from send to acknowledgement.
"""

from __future__ import annotations

import importlib.util
import re
import time
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from pyspark import TaskContext

from spark_jobs.parts.latencies import Latencies
from spark_jobs.parts.reading import name_value

CONFLUENT: Final = "confluent-kafka"
SAMPLE_EVERY: Final = 20
#: What a task sent before it failed would be sent again by the next attempt. Of a lost executor
#: Spark does not count the failures: see `sender`.
SEND_ONCE: Final = {
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.speculation": "false",
}
#: Settings of kafka-python that are texts whatever they look like: a password of digits.
_TEXTS: Final = re.compile(r"(_|^)(id|username|password|rack|name)$")
_FLUSH_SECONDS: Final = 120


def add_client_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of a job that connects to a broker."""
    parser.add_argument(
        "--bootstrap-servers", required=True, help="brokers to connect to, HOST:PORT,..."
    )
    parser.add_argument(
        "--client",
        choices=("auto", CONFLUENT, "kafka-python"),
        default="auto",
        help="client library; auto: confluent-kafka if it is installed; kafka-python "
        "rejects headers without a value, and records with neither key nor value",
    )
    parser.add_argument(
        "--producer",
        action="append",
        default=[],
        type=name_value,
        metavar="NAME=VALUE",
        help="producer setting; may be repeated",
    )
    parser.add_argument(
        "--topic-config",
        action="append",
        default=[],
        type=name_value,
        metavar="NAME=VALUE",
        help="setting of the topics that the job creates; may be repeated",
    )


class SenderFault(OSError):
    """It is unknown which records were already sent; not a bug."""


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
        """Return the size of key and value."""
        return len(self.key or b"") + len(self.value or b"")


class Sender(ABC):
    """A producer that counts.

    State: `sent` (failed ones too), `acknowledged` and `acknowledged_bytes` (of keys and values),
    `first_error`, `latencies` (sampled).
    """

    def __init__(self) -> None:
        self.sent = self.acknowledged = self.acknowledged_bytes = 0
        self.first_error: str | None = None
        self.latencies = Latencies()

    def send(self, record: Outgoing) -> None:
        """Pass a record to the client; waits if the client's buffer is full."""
        self.sent += 1
        began = time.perf_counter() if self.sent % SAMPLE_EVERY == 0 else 0.0
        self._send(record, began)

    @property
    def errors(self) -> int:
        """Return the number of records that were rejected, or not acknowledged; valid once all is
        flushed.
        """
        return self.sent - self.acknowledged

    def _answered(self, error: object, began: float, record: Outgoing) -> None:
        if error is not None:
            self.first_error = self.first_error or error_text(error)
            return
        self.acknowledged += 1
        self.acknowledged_bytes += record.size_bytes
        if began:
            self.latencies.add((time.perf_counter() - began) * 1000)

    def _note_missing(self) -> None:
        if self.errors and self.first_error is None:
            self.first_error = f"{self.errors} records without a response"

    @abstractmethod
    def _send(self, record: Outgoing, began: float) -> None: ...

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Let the client work for this long."""

    @abstractmethod
    def flush(self) -> None:
        """Wait, for about two minutes at most, until every record is acknowledged or has failed;
        the last call, because kafka-python's producer is closed.
        """


class ConfluentSender(Sender):
    """librdkafka. It takes a timestamp of 0 for now: such records are sent with 1 ms."""

    def __init__(self, bootstrap: str, settings: Mapping[str, Any]) -> None:
        super().__init__()
        from confluent_kafka import KafkaException, Producer

        self._refusal = KafkaException
        defaults = {"linger.ms": "5", "acks": "all", "queue.buffering.max.messages": "200000"}
        self.client = Producer({"bootstrap.servers": bootstrap} | defaults | dict(settings))

    def _send(self, record: Outgoing, began: float) -> None:
        more: dict[str, Any] = {}
        if record.timestamp_ms is not None:
            more["timestamp"] = record.timestamp_ms or 1
        if record.headers:
            more["headers"] = record.headers

        def answered(error: object, _message: object) -> None:
            self._answered(error, began, record)

        while True:
            try:
                self.client.produce(
                    record.topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    on_delivery=answered,
                    **more,
                )
                break
            except BufferError:
                self.client.poll(0.05)
            except self._refusal as fault:  # too large, say: never queued, so never delivered
                self._answered(fault.args[0], began, record)
                break
        if self.sent % 256 == 0:
            self.client.poll(0)

    def wait(self, seconds: float) -> None:
        self.client.poll(seconds)

    def flush(self) -> None:
        self.client.flush(_FLUSH_SECONDS)
        self._note_missing()


class KafkaPythonSender(Sender):
    """kafka-python; names of settings may have dots or underscores.

    It rejects headers without a value, and records with neither key nor value: these are errors.
    """

    def __init__(self, bootstrap: str, settings: Mapping[str, str]) -> None:
        super().__init__()
        from kafka import KafkaProducer

        more = {"linger_ms": 5, "acks": "all"} | by_kafka_python(settings)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, **more)

    def _send(self, record: Outgoing, began: float) -> None:
        from kafka.errors import KafkaError

        try:
            future = self._producer.send(
                record.topic,
                value=record.value,
                key=record.key,
                partition=None if record.partition < 0 else record.partition,
                timestamp_ms=record.timestamp_ms,
                headers=record.headers or None,
            )
        except (TypeError, ValueError, KafkaError) as fault:
            self._answered(fault, began, record)
            return
        future.add_callback(lambda _: self._answered(None, began, record))
        future.add_errback(lambda error: self._answered(error, began, record))

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)  # it has a thread of its own

    def flush(self) -> None:
        from kafka.errors import KafkaTimeoutError

        try:
            self._producer.flush(_FLUSH_SECONDS)
        except KafkaTimeoutError:
            with suppress(KafkaTimeoutError):  # it waits for them once more
                self._producer.close(timeout=0)
        else:
            self._producer.close()
        self._note_missing()


def error_text(error: object) -> str:
    """Return the text of an error: confluent-kafka's own text, not its repr."""
    return str(error.str()) if hasattr(error, "str") else str(error)


def by_kafka_python(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return settings with kafka-python's names and types: fetch_max_bytes, an int."""
    words: dict[str, Any] = {"none": None, "true": True, "false": False}

    def typed(text: str) -> Any:
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else words.get(text, text)

    named = {name.replace(".", "_"): text for name, text in settings.items()}
    return {name: text if _TEXTS.search(name) else typed(text) for name, text in named.items()}


def has_confluent() -> bool:
    """Return whether confluent-kafka is installed here."""
    return importlib.util.find_spec("confluent_kafka") is not None


def is_confluent(client: str) -> bool:
    """Return whether `client` (`auto`, or a library) is confluent-kafka here."""
    return client == CONFLUENT or (client == "auto" and has_confluent())


def sender(bootstrap: str, settings: Mapping[str, str], client: str = "auto") -> Sender:
    """Return the producer to use: `auto`, `confluent-kafka` or `kafka-python`.

    Raises SenderFault in a task that Spark retries.
    """
    task = TaskContext.get()
    if task is not None and task.attemptNumber():
        raise SenderFault(
            f"Spark runs task {task.partitionId()} again: its first attempt may have sent records, "
            "which are not sent again"
        )
    made = ConfluentSender if is_confluent(client) else KafkaPythonSender
    return made(bootstrap, settings)

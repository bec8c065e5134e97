"""Stock Kafka clients in the workers: confluent-kafka where it is installed, else kafka-python.

    sender(settings)           a producer behind one small face
    read_to_end(...)           a consumer that reads given partitions to given ends
    describe, create, delete   topics, by kafka-python's admin client, in the driver

Latencies are sampled: every SAMPLE_EVERY-th record is timed from send to acknowledgement.
"""

from __future__ import annotations

import importlib.util
import socket
import time
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from spark_jobs.reading import name_value

SAMPLE_EVERY: Final = 20
_FLUSH_SECONDS: Final = 120
_CONNECT_SECONDS: Final = 5
_IDLE_SECONDS: Final = 30.0
_FAR: Final = 1 << 62


def add_client_arguments(parser: ArgumentParser) -> None:
    """The arguments of a job that talks to a broker."""
    parser.add_argument("--bootstrap-servers", required=True, help="brokers, HOST:PORT,...")
    parser.add_argument(
        "--client",
        choices=("auto", "confluent-kafka", "kafka-python"),
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

        more = {"linger_ms": 5, "acks": "all"} | _by_kafka_python(settings)
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


def _by_kafka_python(settings: Mapping[str, str]) -> dict[str, Any]:
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


def sender(bootstrap: str, settings: Mapping[str, str], client: str = "auto") -> Sender:
    """The producer to use: `auto`, `confluent-kafka` or `kafka-python`."""
    if client == "confluent-kafka" or (client == "auto" and has_confluent()):
        return ConfluentSender(bootstrap, settings)
    return KafkaPythonSender(bootstrap, settings)


class Received(NamedTuple):
    """What one call of a consumer brought."""

    records: int
    bytes: int


def read_to_end(
    bootstrap: str,
    topic: str,
    ends: Mapping[int, tuple[int, int]],
    settings: Mapping[str, str],
    client: str = "auto",
) -> Iterator[Received]:
    """Read partitions from start to end offsets ({partition: (start, end)}); one item a call.

    The last offset must be that of a record, not of a transaction's marker.
    """
    ranges = {
        partition: ends[partition] for partition in ends if ends[partition][0] < ends[partition][1]
    }
    is_confluent = client == "confluent-kafka" or (client == "auto" and has_confluent())
    read = _read_confluent if is_confluent else _read_kafka_python
    yield from read(bootstrap, topic, ranges, settings)


def _read_confluent(
    bootstrap: str, topic: str, ranges: dict[int, tuple[int, int]], settings: Mapping[str, str]
) -> Iterator[Received]:
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    defaults = {"group.id": "pykbroker-throughput", "enable.auto.commit": "false"}
    consumer = Consumer({"bootstrap.servers": bootstrap} | defaults | dict(settings))
    open_ends = {partition: end for partition, (_, end) in ranges.items()}
    try:
        starts = [TopicPartition(topic, p, start) for p, (start, _) in ranges.items()]
        consumer.assign(starts)
        idle_until = time.monotonic() + _IDLE_SECONDS
        left = sum(end - start for start, end in ranges.values())
        while open_ends:
            # No more than can come: a call that is not filled waits its time out.
            messages = consumer.consume(max(1, min(500, left)), 0.2)
            left -= len(messages)
            if messages:
                idle_until = time.monotonic() + _IDLE_SECONDS
            elif time.monotonic() > idle_until:
                raise TimeoutError(f"nothing more of {topic} came, {open_ends} are not reached")
            size = count = 0
            for message in messages:
                if message.error():
                    raise KafkaException(message.error())
                count += 1
                size += len(message.value() or b"") + len(message.key() or b"")
            for message in messages[-1:] if len(ranges) == 1 else messages:
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None
                if offset + 1 >= open_ends.get(partition, _FAR):
                    del open_ends[partition]
            yield Received(count, size)
    finally:
        consumer.close()


def _read_kafka_python(
    bootstrap: str, topic: str, ranges: dict[int, tuple[int, int]], settings: Mapping[str, str]
) -> Iterator[Received]:
    from kafka import KafkaConsumer, TopicPartition

    more = {"enable_auto_commit": False} | _by_kafka_python(settings)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, **more)
    open_ends = {partition: end for partition, (_, end) in ranges.items()}
    try:
        consumer.assign([TopicPartition(topic, partition) for partition in ranges])
        for partition, (start, _) in ranges.items():
            consumer.seek(TopicPartition(topic, partition), start)
        idle_until = time.monotonic() + _IDLE_SECONDS
        while open_ends:
            polled = consumer.poll(200)
            if polled:
                idle_until = time.monotonic() + _IDLE_SECONDS
            elif time.monotonic() > idle_until:
                raise TimeoutError(f"nothing more of {topic} came, {open_ends} are not reached")
            size = count = 0
            for partition, messages in polled.items():
                count += len(messages)
                size += sum(len(each.value or b"") + len(each.key or b"") for each in messages)
                if messages[-1].offset + 1 >= open_ends.get(partition.partition, _FAR):
                    del open_ends[partition.partition]
            yield Received(count, size)
    finally:
        consumer.close()


# -- topics, in the driver ----------------------------------------------------------------------


class BrokerRefusal(OSError):
    """No broker answers, or it refuses."""


def _check_reachable(bootstrap: str) -> None:
    """The clients would try for half a minute."""
    faults = []
    for server in bootstrap.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, ValueError) as fault:
            faults.append(str(fault))
        else:
            return
    raise BrokerRefusal(f"no broker answers at {bootstrap}: {faults[0]}")


@contextmanager
def _admin(bootstrap: str) -> Iterator[Any]:
    """An admin client; BrokerRefusal in one line in place of whatever kafka-python raises."""
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError

    _check_reachable(bootstrap)
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    except KafkaError as fault:
        raise BrokerRefusal(f"no broker answers at {bootstrap}: {fault}") from None
    try:
        yield admin
    except KafkaError as fault:
        raise BrokerRefusal(f"the broker at {bootstrap} refuses: {fault}") from None
    finally:
        admin.close()


def partition_counts(bootstrap: str) -> dict[str, int]:
    """Partitions of every topic."""
    with _admin(bootstrap) as admin:
        return {each["name"]: len(each["partitions"]) for each in admin.describe_topics()}


def create_topics(
    bootstrap: str, partitions: Mapping[str, int], configs: Mapping[str, str]
) -> None:
    """Make the topics that are not there, and wait until they can be written to."""
    from kafka.admin import NewTopic

    new = [
        NewTopic(name, num_partitions=count, replication_factor=-1, topic_configs=dict(configs))
        for name, count in partitions.items()
    ]
    with _admin(bootstrap) as admin:
        admin.create_topics(new)


def delete_topics(bootstrap: str, names: Sequence[str]) -> None:
    """Delete topics."""
    with _admin(bootstrap) as admin:
        admin.delete_topics(list(names))

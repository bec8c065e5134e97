"""Transactional producers of stock clients, behind one small interface.

    begin, send (to partition 0 or 1), send_offset, commit, abort, close

`commit` of a producer that another one has replaced raises `Fenced`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as AioTopicPartition
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from kafka import KafkaProducer
from kafka.consumer.group import ConsumerGroupMetadata
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as PythonTopicPartition

PATIENCE_S = 60.0
TIMEOUT_MS = 600_000


class Fenced(Exception):
    """The client says that another producer has taken its place."""


class Librdkafka:
    """confluent-kafka."""

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> None:
        self._servers = servers
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                "linger.ms": 0,
            }
        )
        self._producer.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, partition: int, value: str) -> None:
        self._producer.produce(topic, value.encode(), partition=partition)
        self._producer.flush(PATIENCE_S)

    def send_offset(self, group: str, topic: str, partition: int, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": group})
        self._producer.send_offsets_to_transaction(
            [TopicPartition(topic, partition, offset)],
            consumer.consumer_group_metadata(),
            PATIENCE_S,
        )
        consumer.close()

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(PATIENCE_S)
        except KafkaException as failure:
            error = failure.args[0]
            if error.fatal():
                raise Fenced(error.str()) from failure
            raise

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        with contextlib.suppress(KafkaException):  # fenced
            self._producer.flush(0)


class KafkaPython:
    """kafka-python."""

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=servers,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, partition: int, value: str) -> None:
        self._producer.send(topic, value.encode(), partition=partition).get(PATIENCE_S)

    def send_offset(self, group: str, topic: str, partition: int, offset: int) -> None:
        self._producer.send_offsets_to_transaction(
            {PythonTopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)},
            ConsumerGroupMetadata(group, -1, "", None),
        )

    def commit(self) -> None:
        try:
            self._producer.commit_transaction()
        except KafkaError as failure:
            raise Fenced(repr(failure)) from failure

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=5)


class Aiokafka:
    """aiokafka, on an event loop of its own."""

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> None:
        self._loop = asyncio.new_event_loop()
        self._producer: Any = None
        self._run(self._start(servers, transactional_id, timeout_ms))

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    async def _start(self, servers: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=servers,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        await self._producer.start()

    def begin(self) -> None:
        self._run(self._producer.begin_transaction())

    def send(self, topic: str, partition: int, value: str) -> None:
        self._run(self._producer.send_and_wait(topic, value.encode(), partition=partition))

    def send_offset(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = {AioTopicPartition(topic, partition): offset}
        self._run(self._producer.send_offsets_to_transaction(offsets, group))

    def commit(self) -> None:
        try:
            self._run(self._producer.commit_transaction())
        except AioKafkaError as failure:
            raise Fenced(repr(failure)) from failure

    def abort(self) -> None:
        self._run(self._producer.abort_transaction())

    def close(self) -> None:
        self._run(self._producer.stop())
        self._loop.close()


CLIENTS: dict[str, Callable[..., Any]] = {
    "librdkafka": Librdkafka,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}

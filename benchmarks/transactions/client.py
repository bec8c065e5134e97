"""Transactions of a client in a process of its own; prints one line of JSON.

python -m benchmarks.transactions.client latency SERVERS TOPIC COUNT
python -m benchmarks.transactions.client produce SERVERS TOPIC SIZE COUNT
python -m benchmarks.transactions.client many SERVERS TOPIC IDS ROUNDS

TOPIC has three partitions. `latency` and `produce` are librdkafka's, `many` has 50 raw connections
to a broker that leads all and has transaction.version 2.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from confluent_kafka import Producer

from benchmarks.command_line import count as at_least_one
from benchmarks.command_line import parser_for
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.end_txn_request import EndTxnRequest
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from tests.harness.raw_client import RawClient

PARTITIONS = 3
RECORDS = 10
RECORDS_AT_ONCE = 2000
CONNECTIONS = 50
_NOT_READY = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def _producer(servers: str, topic: str, linger_ms: int) -> Producer:
    producer = Producer(
        {"bootstrap.servers": servers, "transactional.id": topic, "linger.ms": linger_ms}
    )
    producer.init_transactions(60)
    return producer


def latency(servers: str, topic: str, count: int) -> dict[str, float]:
    """Run transactions of 10 records one after another: milliseconds of each, and of its commit."""
    producer = _producer(servers, topic, 0)
    value = os.urandom(100)
    transactions, commits = [], []
    for _ in range(count):
        started = time.perf_counter()
        producer.begin_transaction()
        for number in range(RECORDS):
            producer.produce(topic, value, partition=number % PARTITIONS)
        if producer.flush(30):
            raise SystemExit("records were not acknowledged within 30 s")
        flushed = time.perf_counter()
        producer.commit_transaction(30)
        ended = time.perf_counter()
        transactions.append((ended - started) * 1000)
        commits.append((ended - flushed) * 1000)
    return {
        "p50_ms": _part(transactions, 0.5),
        "p99_ms": _part(transactions, 0.99),
        "commit_p50_ms": _part(commits, 0.5),
        "commit_p99_ms": _part(commits, 0.99),
    }


def _part(samples: list[float], part: float) -> float:
    return sorted(samples)[int(len(samples) * part)]


def produce(servers: str, topic: str, size: int, count: int) -> dict[str, float]:
    """Run transactions of 2,000 records of `size` bytes over the partitions."""
    producer = _producer(servers, topic, 5)
    value = os.urandom(size)
    started = time.perf_counter()
    for _ in range(count):
        producer.begin_transaction()
        for number in range(RECORDS_AT_ONCE):
            producer.produce(topic, value, partition=number % PARTITIONS)
        producer.commit_transaction(60)
    elapsed = time.perf_counter() - started
    return {"seconds": elapsed, "records_per_second": count * RECORDS_AT_ONCE / elapsed}


class _Ids:
    """Transactional ids over a few connections, one request in flight on each."""

    def __init__(self, servers: str, topic: str, ids: int) -> None:
        self._topic = topic
        self._names = [f"{topic}-{number}" for number in range(ids)]
        self._clients = [RawClient(servers) for _ in range(min(ids, CONNECTIONS))]
        self._producers: list[tuple[int, int]] = []

    def each(
        self, api: str, version: int, make: Callable[[int], Message]
    ) -> Iterator[tuple[int, Any]]:
        """Send a request for every id and yield its response."""
        for first in range(0, len(self._names), len(self._clients)):
            wave = range(first, min(first + len(self._clients), len(self._names)))
            for number, client in zip(wave, self._clients, strict=False):
                client.request(api, version, make(number))
            for number, client in zip(wave, self._clients, strict=False):
                yield number, client.answer()

    def initialise(self) -> None:
        """Request a producer id for every one."""

        def request(number: int) -> Message:
            return InitProducerIdRequest(
                transactional_id=self._names[number],
                transaction_timeout_ms=60_000,
                producer_id=-1,
                producer_epoch=-1,
            )

        for number, answer in self.each("InitProducerId", 5, request):
            while answer.error_code in _NOT_READY:
                time.sleep(0.01)
                answer = self._clients[0].ask("InitProducerId", 5, request(number))
            _check(answer.error_code)
            self._producers.append((answer.producer_id, answer.producer_epoch))

    def produce(self) -> None:
        """Produce one record each, which begins the transaction."""

        def request(number: int) -> Message:
            batch = build_batch(
                [(None, b"v" * 100, int(time.time() * 1000), ())],
                producer_id=self._producers[number][0],
                producer_epoch=self._producers[number][1],
                base_sequence=0,
                is_transactional=True,
            )
            partition = PartitionProduceData(index=number % PARTITIONS, records=batch)
            topics = [TopicProduceData(name=self._topic, partition_data=[partition])]
            return ProduceRequest(
                transactional_id=self._names[number], acks=-1, timeout_ms=30_000, topic_data=topics
            )

        def code_of(answer: Any) -> int:
            code: int = answer.responses[0].partition_responses[0].error_code
            return code

        for number, answer in self.each("Produce", 12, request):
            while code_of(answer) == ErrorCode.CONCURRENT_TRANSACTIONS:  # its last one ends still
                time.sleep(0.005)
                answer = self._clients[0].ask("Produce", 12, request(number))
            _check(code_of(answer))

    def commit(self) -> None:
        """Commit each; the next transaction has the producer epoch of the response."""

        def request(number: int) -> Message:
            producer_id, epoch = self._producers[number]
            return EndTxnRequest(
                transactional_id=self._names[number],
                producer_id=producer_id,
                producer_epoch=epoch,
                committed=True,
            )

        for number, answer in self.each("EndTxn", 5, request):
            _check(answer.error_code)
            self._producers[number] = (answer.producer_id, answer.producer_epoch)


def _check(error_code: int) -> None:
    if error_code:
        raise SystemExit(f"error code {error_code}")


def many(servers: str, topic: str, ids: int, rounds: int) -> dict[str, float]:
    """Let all ids produce, then commit, and repeat: transactions per second."""
    _producer(servers, topic, 0)  # the first one has the coordinator's topic made
    all_ids = _Ids(servers, topic, ids)
    all_ids.initialise()
    started = time.perf_counter()
    for _ in range(rounds):
        all_ids.produce()
        all_ids.commit()
    elapsed = time.perf_counter() - started
    return {"seconds": elapsed, "per_second": ids * rounds / elapsed}


VERBS: dict[str, tuple[Callable[..., dict[str, float]], tuple[str, ...]]] = {
    "latency": (latency, ("count",)),
    "produce": (produce, ("size", "count")),
    "many": (many, ("ids", "rounds")),
}


def main(words: Sequence[str] | None = None) -> None:
    """Run it once and print the figures."""
    parser = parser_for("benchmarks.transactions.client", __doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (work, numbers) in VERBS.items():
        made = verbs.add_parser(verb, help=work.__doc__)
        made.add_argument("servers")
        made.add_argument("topic")
        for number in numbers:
            made.add_argument(number, type=at_least_one)
    arguments = parser.parse_args(words)
    work, numbers = VERBS[arguments.verb]
    figures = work(
        arguments.servers, arguments.topic, *(getattr(arguments, each) for each in numbers)
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

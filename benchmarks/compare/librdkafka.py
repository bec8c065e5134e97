"""A librdkafka client in a process of its own; prints one line of JSON.

python -m benchmarks.compare.librdkafka produce SERVERS TOPIC SIZE COUNT
python -m benchmarks.compare.librdkafka consume SERVERS TOPIC COUNT
python -m benchmarks.compare.librdkafka latency SERVERS TOPIC SIZE COUNT
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from benchmarks.command_line import count as at_least_one
from benchmarks.command_line import parser_for


def produce(servers: str, topic: str, size: int, count: int) -> dict[str, Any]:
    """Produce `count` records of `size` bytes, acks=all, one partition."""
    failed: list[Any] = []

    def report(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(error)

    producer = Producer(
        {
            "bootstrap.servers": servers,
            "acks": "all",
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    value = os.urandom(size)
    started = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, on_delivery=report)
                break
            except BufferError:
                producer.poll(0.05)
        if not number & 0x3FF:
            producer.poll(0)
    left = producer.flush(120)
    elapsed = time.perf_counter() - started
    if left or failed:
        raise SystemExit(f"{left} left, {len(failed)} failed: {failed[:1]}")
    return {"seconds": elapsed, "per_second": count / elapsed}


def consume(servers: str, topic: str, count: int) -> dict[str, Any]:
    """Consume `count` records from the beginning of one partition; timed from the first one on."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 8_388_608,
            "queued.max.messages.kbytes": 262_144,
            "queued.min.messages": 1_000_000,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    received = len(consumer.consume(1, timeout=30))
    started = time.perf_counter()
    while received < count:
        messages = consumer.consume(min(50_000, count - received), timeout=30)
        if not messages:
            raise SystemExit(f"only {received} of {count} records arrived")
        received += len(messages)
    elapsed = time.perf_counter() - started
    consumer.close()
    return {"seconds": elapsed, "per_second": count / elapsed}


def latency(servers: str, topic: str, size: int, count: int) -> dict[str, Any]:
    """Produce one record at a time, acks=all, each awaited: milliseconds."""
    producer = Producer({"bootstrap.servers": servers, "acks": "all", "linger.ms": 0})
    value = os.urandom(size)
    samples = []
    for _ in range(count):
        started = time.perf_counter()
        producer.produce(topic, value)
        if producer.flush(30):
            raise SystemExit("a record was not acknowledged within 30 s")
        samples.append((time.perf_counter() - started) * 1000)
    samples.sort()
    return {"p50_ms": statistics.median(samples), "p99_ms": samples[int(len(samples) * 0.99)]}


VERBS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[str, ...]]] = {
    "produce": (produce, ("size", "count")),
    "consume": (consume, ("count",)),
    "latency": (latency, ("size", "count")),
}


def main(words: Sequence[str] | None = None) -> None:
    """Run it once and print the figures."""
    parser = parser_for("benchmarks.compare.librdkafka", __doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (work, numbers) in VERBS.items():
        made = verbs.add_parser(verb, help=work.__doc__)
        made.add_argument("servers")
        made.add_argument("topic")
        for number in numbers:
            made.add_argument(number, type=at_least_one)
    arguments = parser.parse_args(words)
    work, numbers = VERBS[arguments.verb]
    sizes = [getattr(arguments, number) for number in numbers]
    print(json.dumps(work(arguments.servers, arguments.topic, *sizes)))


if __name__ == "__main__":
    main()

"""`pykbroker perf end-to-end`: kafka-e2e-latency.sh."""

from __future__ import annotations

import argparse
import random
import time
from typing import Any, Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.client_library import (
    client_errors,
    make_consumer,
    make_producer,
    servers_of,
    stop_by_signal,
)
from pykbroker.cli.client_settings import file_settings
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.perf_statistics import percentiles
from pykbroker.values import NamedTuple

DESCRIPTION: Final = "Measure the latency from producer to consumer (kafka-e2e-latency.sh)."

_POLL_MS: Final = 60_000
_LEAST: Final = {
    "num_records": 1, "record_size": 0, "record_key_size": 0, "record_header_key_size": 0,
    "record_header_size": 0, "num_headers": 0,
}  # fmt: skip


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument("--topic", required=True, help="topic to use; created if it does not exist")
    whole = whole_number(32)
    count = "number of records to send, one at a time"
    parser.add_argument("--num-records", required=True, type=whole, metavar="N", help=count)
    acks = "acknowledgements that the producer waits for"
    parser.add_argument("--producer-acks", required=True, choices=("1", "all"), help=acks)
    size = "size of each value in bytes"
    parser.add_argument("--record-size", required=True, type=whole, metavar="BYTES", help=size)
    sizes = {
        "record-key-size": "size of each key in bytes (default: no keys)",
        "record-header-key-size": "size of each header name in bytes",
        "record-header-size": "size of each header value in bytes",
    }
    for flag, text in sizes.items():
        parser.add_argument(f"--{flag}", type=whole, default=0, metavar="BYTES", help=text)
    headers = "number of headers of each record (default 0)"
    parser.add_argument("--num-headers", type=whole, default=0, metavar="N", help=headers)
    config = "properties file of producer and consumer"
    parser.add_argument("--command-config", metavar="FILE", help=config)


def run(options: argparse.Namespace) -> int:
    for name, least in _LEAST.items():
        if getattr(options, name) < least:
            kind = "positive" if least else "non-negative"
            flag = name.replace("_", "-")
            raise CommandError(f"Value for --{flag} must be a {kind} integer.")
    settings = file_settings(options.command_config)
    servers = servers_of(options, settings)
    _create_topic(servers, options.topic)
    fetch = {"enable.auto.commit": "false", "fetch.max.wait.ms": "0"}
    with stop_by_signal(), client_errors():
        consumer = make_consumer(servers, settings | fetch)
        try:
            at_once = {"linger.ms": "0", "acks": options.producer_acks}
            producer = make_producer(servers, settings | at_once)
            try:
                measure(consumer, producer, options)
            finally:
                producer.close()
        finally:
            consumer.close()
    return 0


def _create_topic(servers: str, topic: str) -> None:
    """Create the topic with one partition and one replica, unless it exists."""
    from pykbroker.cli.admin import check
    from pykbroker.protocol.messages.create_topics_request import (
        CreatableTopic,
        CreateTopicsRequest,
    )

    with AdminClient(servers) as client:
        if topic in client.topic_names():
            return
        print(
            f'Topic "{topic}" does not exist. Will create topic with 1 partition(s) and '
            "replication factor = 1",
            flush=True,
        )
        wanted = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=60_000)
        (created,) = client.at_controller(lambda broker: broker.send(request)).topics
        check(created.error_code, created.error_message)


class Content(NamedTuple):
    """The content of a record: the same must come back."""

    key: bytes | None
    value: bytes
    headers: list[tuple[str, bytes]]


def measure(consumer: Any, producer: Any, options: argparse.Namespace) -> None:
    """Send records one by one, wait for each, and print how long it took."""
    from kafka import TopicPartition

    numbers = consumer.partitions_for_topic(options.topic) or ()
    partitions = [TopicPartition(options.topic, number) for number in numbers]
    consumer.assign(partitions)
    consumer.seek_to_end(*partitions)
    for each in partitions:
        consumer.position(each)
    letters = random.Random(0)
    latencies_ns = []
    for number in range(options.num_records):
        content = _content(letters, options)
        began_ns = time.monotonic_ns()
        sent = producer.send(
            options.topic, value=content.value, key=content.key, headers=content.headers
        )
        sent.get(timeout=_POLL_MS / 1000)
        polled = consumer.poll(timeout_ms=_POLL_MS)
        elapsed_ns = time.monotonic_ns() - began_ns
        _compare(content, [record for records in polled.values() for record in records])
        if number % 1000 == 0:
            print(f"{number}\t{elapsed_ns / 1e6}", flush=True)
        latencies_ns.append(elapsed_ns)
    print(f"Avg latency: {sum(latencies_ns) / len(latencies_ns) / 1e6:.4f} ms")
    whole_ms = [each // 1_000_000 for each in latencies_ns]
    p50, p99, p999 = percentiles(whole_ms, 0.5, 0.99, 0.999)
    print(f"Percentiles: 50th = {p50}, 99th = {p99}, 99.9th = {p999}")


def _content(letters: random.Random, options: argparse.Namespace) -> Content:
    def text(size: int) -> bytes:
        return bytes([letters.randrange(26) + 65]) * size

    key = text(options.record_key_size) if options.record_key_size else None
    headers = [
        (text(options.record_header_key_size).decode(), text(options.record_header_size))
        for _ in range(options.num_headers)
    ]
    return Content(key, text(options.record_size), headers)


def _compare(sent: Content, received: list[Any]) -> None:
    if not received:
        raise CommandError(f"poll() timed out before finding a result (timeout:[{_POLL_MS}ms])")
    if len(received) != 1:
        raise CommandError(
            f"Only one result was expected during this test. We found [{len(received)}]"
        )
    (record,) = received
    read = Content(record.key, record.value, list(record.headers))
    for name, one, other in zip(Content._fields, sent, read, strict=True):
        if one != other:
            raise CommandError(
                f"The message {name} read [{other!r}] did not match the message {name} sent "
                f"[{one!r}]"
            )

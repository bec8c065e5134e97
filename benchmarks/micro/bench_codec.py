"""Codec: microseconds per decode and encode of the messages that a broker sees most.

    python -m benchmarks.micro.bench_codec [--rounds N] [--scale X]

Each row is the best of its rounds.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.command_line import add_effort, parser_for
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import decode_request_header, encode_request, encode_response
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.primitives import Message

ROUNDS = 5
ROUND_SECONDS = 0.1
TOPIC_ID = bytes(range(16))


def produce(partitions: int, size: int) -> ProduceRequest:
    records = memoryview(bytes(size))
    rows = [PartitionProduceData(index=i, records=records) for i in range(partitions)]
    topic = TopicProduceData(name="events", topic_id=TOPIC_ID, partition_data=rows)
    return ProduceRequest(acks=-1, timeout_ms=30000, topic_data=[topic])


def produced(partitions: int) -> ProduceResponse:
    rows = [PartitionProduceResponse(index=i, base_offset=10**6) for i in range(partitions)]
    topic = TopicProduceResponse(name="events", topic_id=TOPIC_ID, partition_responses=rows)
    return ProduceResponse(responses=[topic])


def fetch(partitions: int) -> FetchRequest:
    rows = [
        FetchPartition(partition=i, fetch_offset=10**6, partition_max_bytes=2**20)
        for i in range(partitions)
    ]
    topic = FetchTopic(topic="events", topic_id=TOPIC_ID, partitions=rows)
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic])


def fetched(partitions: int, size: int) -> FetchResponse:
    records = memoryview(bytes(size))
    rows = [
        PartitionData(partition_index=i, high_watermark=10**6, records=records)
        for i in range(partitions)
    ]
    topic = FetchableTopicResponse(topic="events", topic_id=TOPIC_ID, partitions=rows)
    return FetchResponse(responses=[topic])


def metadata_answer(topics: int, partitions: int) -> MetadataResponse:
    brokers = [MetadataResponseBroker(node_id=i, host="127.0.0.1", port=9092 + i) for i in range(3)]
    rows = [
        MetadataResponsePartition(
            partition_index=i, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3]
        )
        for i in range(partitions)
    ]
    named = [
        MetadataResponseTopic(name=f"topic-{i}", topic_id=TOPIC_ID, partitions=rows)
        for i in range(topics)
    ]
    return MetadataResponse(brokers=brokers, topics=named, cluster_id="a" * 22)


def cases() -> list[tuple[str, Message, int]]:
    topics = [MetadataRequestTopic(name="events")]
    beat = HeartbeatRequest(group_id="group", member_id="member-" + "1" * 36, generation_id=3)
    return [
        ("Produce 1x100 B", produce(1, 100), 7),
        ("Produce 1x100 B", produce(1, 100), 9),
        ("Produce 16x1000 B", produce(16, 1000), 9),
        ("Produce 1x100 B", produce(1, 100), 13),
        ("Produce answer, 1", produced(1), 7),
        ("Produce answer, 1", produced(1), 13),
        ("Fetch 1", fetch(1), 11),
        ("Fetch 1", fetch(1), 18),
        ("Fetch 100", fetch(100), 18),
        ("Fetch answer, 1x64 KiB", fetched(1, 65536), 11),
        ("Fetch answer, 1x64 KiB", fetched(1, 65536), 18),
        ("Fetch answer, 100x64 KiB", fetched(100, 65536), 18),
        ("Metadata 1 topic", MetadataRequest(topics=topics), 12),
        ("Metadata answer, 10x6", metadata_answer(10, 6), 12),
        ("Heartbeat", beat, 4),
        ("Heartbeat answer", HeartbeatResponse(), 4),
    ]


def encoded(message: Message, version: int) -> list[Any]:
    parts: list[Any] = []
    message.encode(parts, version)
    return parts


def on_the_wire(message: Message, version: int) -> memoryview:
    return memoryview(join_parts(encoded(message, version)))


def best_us(call: Callable[[], object], rounds: int, seconds: float) -> float:
    """Microseconds per call, the best of rounds that take so long."""
    timer = timeit.Timer(call)
    timer.timeit(1)  # the first call compiles, or imports
    loops = 1
    while (taken := timer.timeit(loops)) < seconds / 10:
        loops *= 2
    loops = max(1, int(loops * seconds / taken))
    return min(timer.repeat(rounds, loops)) / loops * 1e6


def main(words: Sequence[str] | None = None) -> None:
    """Print one row for each message and version, then a request header and a whole frame."""
    parser = parser_for("benchmarks.micro.bench_codec", __doc__)
    add_effort(parser, ROUNDS)
    options = parser.parse_args(words)
    measure = partial(best_us, rounds=options.rounds, seconds=ROUND_SECONDS * options.scale)
    print(f"{'message':28}{'version':>8}{'bytes':>9}{'decode us':>11}{'encode us':>11}")
    for name, message, version in cases():
        wire = on_the_wire(message, version)
        decoded, _ = type(message).decode(wire, 0, version)
        assert on_the_wire(decoded, version) == wire, name
        decode = measure(partial(type(message).decode, wire, 0, version))
        encode = measure(partial(encoded, message, version))
        print(f"{name:28}{version:>8}{len(wire):>9}{decode:>11.2f}{encode:>11.2f}")
    frame: list[Any] = []
    encode_request(APIS[0], 9, 7, "a-client", produce(1, 100), frame)
    header = memoryview(join_parts(frame))[4:]
    decode = measure(partial(decode_request_header, header))
    print(f"{'request header':36}{'':>9}{decode:>11.2f}")
    answer = produced(1)
    whole = measure(lambda: encode_response(APIS[0], 9, 7, answer, []))
    print(f"{'Produce answer, whole frame':36}{'':>9}{'':>11}{whole:>11.2f}")


if __name__ == "__main__":
    main()

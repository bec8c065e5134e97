"""Stock Kafka consumers in the workers, of the same libraries as the producers.

read_to_end(...)   reads given partitions to given ends
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from spark_jobs.parts.clients import by_kafka_python, is_confluent

_IDLE_SECONDS: Final = 30.0


class ConsumerFault(OSError):
    """The records do not arrive, because of the broker or the settings; not a bug."""


class Received(NamedTuple):
    """The result of one call of a consumer."""

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

    The last offset must be that of a record, not of a transaction's marker. Raises ConsumerFault if
    nothing arrives for half a minute, or the client reports an error.
    """
    ranges = {
        partition: ends[partition] for partition in ends if ends[partition][0] < ends[partition][1]
    }
    read = _read_confluent if is_confluent(client) else _read_kafka_python
    yield from read(bootstrap, topic, ranges, settings)


def confluent_consumer(bootstrap: str, settings: Mapping[str, Any]) -> Any:
    from confluent_kafka import Consumer

    defaults = {"group.id": "pykbroker-throughput", "enable.auto.commit": "false"}
    return Consumer({"bootstrap.servers": bootstrap} | defaults | dict(settings))


def kafka_python_consumer(bootstrap: str, settings: Mapping[str, str]) -> Any:
    from kafka import KafkaConsumer

    more = {"enable_auto_commit": False} | by_kafka_python(settings)
    return KafkaConsumer(bootstrap_servers=bootstrap, **more)


def _read_confluent(
    bootstrap: str, topic: str, ranges: dict[int, tuple[int, int]], settings: Mapping[str, str]
) -> Iterator[Received]:
    from confluent_kafka import TopicPartition

    consumer = confluent_consumer(bootstrap, settings)
    open_ends = {partition: end for partition, (_, end) in ranges.items()}
    try:
        starts = [TopicPartition(topic, p, start) for p, (start, _) in ranges.items()]
        consumer.assign(starts)
        idle_until = time.monotonic() + _IDLE_SECONDS
        left = sum(end - start for start, end in ranges.values())
        while open_ends:
            # No more than can come: a call that is not filled waits its time out.
            messages = consumer.consume(max(1, min(500, left)), 0.2)
            if messages:
                idle_until = time.monotonic() + _IDLE_SECONDS
            elif time.monotonic() > idle_until:
                raise ConsumerFault(
                    f"no more records of {topic} arrived; end offsets not reached: {open_ends}"
                )
            for message in messages:
                if message.error():
                    raise ConsumerFault(f"{topic}: {message.error().str()}")
            wanted = _wanted(messages, open_ends)
            left -= len(wanted)
            size = sum(len(each.value() or b"") + len(each.key() or b"") for each in wanted)
            yield Received(len(wanted), size)
    finally:
        consumer.close()


def _wanted(messages: list[Any], open_ends: dict[int, int]) -> list[Any]:
    """Return the records before the ends; an end that is reached is no longer open."""
    found = []
    for message in messages:
        partition, offset = message.partition(), message.offset()
        end = open_ends.get(partition, 0)  # 0: nothing more of it counts
        if offset < end:
            found.append(message)
        if end and offset + 1 >= end:
            del open_ends[partition]
    return found


def _read_kafka_python(
    bootstrap: str, topic: str, ranges: dict[int, tuple[int, int]], settings: Mapping[str, str]
) -> Iterator[Received]:
    from kafka import TopicPartition

    consumer = kafka_python_consumer(bootstrap, settings)
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
                raise ConsumerFault(
                    f"no more records of {topic} arrived; end offsets not reached: {open_ends}"
                )
            size = count = 0
            for partition, messages in polled.items():
                end = open_ends.get(partition.partition, 0)  # 0: nothing more of it counts
                wanted = [each for each in messages if each.offset < end]
                count += len(wanted)
                size += sum(len(each.value or b"") + len(each.key or b"") for each in wanted)
                if messages[-1].offset + 1 >= end:
                    open_ends.pop(partition.partition, None)
            yield Received(count, size)
    finally:
        consumer.close()

"""The data: topics of one record size each, written to Apache Kafka 4.4 by librdkafka."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 4
KEYS = 20_000


@dataclass(frozen=True)
class Topic:
    """A topic whose values are `value_bytes` long."""

    name: str
    value_bytes: int
    records: int


def fill(servers: str, topic: Topic) -> None:
    """Create the topic and write its records: keys of 11 bytes, values of digits and letters."""
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    config = {"retention.ms": "-1", "segment.bytes": str(128 << 20)}
    new = NewTopic(topic.name, PARTITIONS, 1, config=config)
    admin.create_topics([new])[topic.name].result(30)
    chance = random.Random(topic.value_bytes)
    values = [chance.randbytes(topic.value_bytes // 2 + 1).hex()[: topic.value_bytes].encode()
              for _ in range(997)]  # fmt: skip
    keys = [b"user-%06d" % number for number in range(KEYS)]
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "linger.ms": 20,
            "batch.size": 16384 if topic.value_bytes < 512 else 1 << 20,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 262_144,
            "acks": 1,
        }
    )
    produce = producer.produce
    for number in range(topic.records):
        while True:
            try:
                produce(
                    topic.name,
                    values[number % 997],
                    keys[number * 7919 % KEYS],
                    number // 500 % PARTITIONS,
                )
                break
            except BufferError:
                producer.poll(0.2)
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0


def segments(data_dir: Path, topic: Topic) -> list[Path]:
    """Return the segment files of a topic."""
    return sorted(data_dir.glob(f"{topic.name}-*/*.log"))


def size(data_dir: Path, topic: Topic) -> int:
    """Return the total bytes of a topic."""
    return sum(path.stat().st_size for path in segments(data_dir, topic))

"""Topics with everything in them, written through a running broker by librdkafka."""

from __future__ import annotations

from random import Random

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.markers import await_markers

BASE_MS = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def create_topic(servers: str, name: str, partitions: int, **config: str) -> None:
    """Create a topic and wait for it."""
    admin = AdminClient({"bootstrap.servers": servers})
    config = {"retention_ms": "-1"} | config
    settings = {key.replace("_", "."): value for key, value in config.items()}
    topic = NewTopic(name, partitions, 1, config=settings)
    admin.create_topics([topic])[name].result(60)


def produce_everything(servers: str, topic: str, partitions: int, rounds: int = 12) -> int:
    """Nulls, empty and long fields, headers, times forth and back, all codecs; records written."""
    written = 0
    for turn in range(rounds):
        producer = Producer(
            {
                "bootstrap.servers": servers,
                "compression.type": CODECS[turn % len(CODECS)],
                "linger.ms": 20,
                "message.max.bytes": 900_000,
            }
        )
        for number in range(60):
            serial = turn * 60 + number
            producer.produce(
                topic,
                value=_value(serial),
                key=None if serial % 5 == 0 else b"key-%d" % (serial % 17),
                partition=serial % partitions,
                timestamp=BASE_MS + serial * 10 - (5_000 if serial % 13 == 0 else 0),
                headers=_headers(serial),
            )
            written += 1
        assert producer.flush(60) == 0
    return written


def _value(serial: int) -> bytes | None:
    if serial % 7 == 0:
        return None
    if serial % 11 == 0:
        return b""
    if serial % 19 == 0:
        return Random(serial).randbytes(120_000)
    return (b"%d:" % serial) * (3000 if serial % 97 == 0 else 1 + serial % 40)


def _headers(serial: int) -> list[tuple[str, str | bytes | None]] | None:
    if serial % 3:
        return None
    return [(f"h{n}", None if n == 1 else b"x" * (n + serial % 5)) for n in range(1 + serial % 4)]


def produce_transactions(servers: str, topic: str, partitions: int) -> None:
    """Committed and aborted ones in turn, plain records between; the last one is left open."""
    plain = Producer({"bootstrap.servers": servers})
    for turn in range(6):
        producer = Producer(
            {
                "bootstrap.servers": servers,
                "transactional.id": f"tx-{turn}",
                "transaction.timeout.ms": 900_000,  # the open one stays so while tests look at it
                "log_level": 2,  # one outlives the broker, and would tell so many times a second
            }
        )
        producer.init_transactions(60)
        producer.begin_transaction()
        for number in range(30):
            text = b"%d-%d" % (turn, number)
            producer.produce(topic, text, key=text, partition=number % partitions)
        producer.flush(60)
        plain.produce(topic, b"plain-%d" % turn, partition=turn % partitions)
        plain.flush(60)
        if turn % 2:
            producer.abort_transaction(60)
        elif turn < 4:
            producer.commit_transaction(60)
        else:
            _OPEN.append(producer)


def produce_old_transactions(servers: str, topic: str) -> None:
    """Records of another time than their markers: committed, aborted, plain, committed."""
    plain = Producer({"bootstrap.servers": servers})
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"old-{topic}"})
    producer.init_transactions(60)
    for first, ends in ((0, "commit"), (1_000_000, "abort"), (20, None), (40, "commit")):
        if ends is not None:
            producer.begin_transaction()
        chosen = plain if ends is None else producer
        for number in range(10):
            at = BASE_MS + first + number
            chosen.produce(topic, b"%d" % (first + number), partition=0, timestamp=at)
        chosen.flush(60)
        if ends == "commit":
            producer.commit_transaction(60)
        elif ends == "abort":
            producer.abort_transaction(60)
    await_markers(servers, topic, 0)


#: Producers whose end would abort what they left open.
_OPEN: list[Producer] = []

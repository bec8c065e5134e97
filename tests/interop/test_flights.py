"""Real input: a year of flights through six partitions with every codec, and through a crash."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.consumed import partition_of, value_of
from tests.harness.flights import Flight, flights
from tests.harness.waiting import wait_for
from tests.interop.samples import CODECS

PARTITIONS = 6
PATIENCE_S = 600.0
Row = tuple[str | None, str, int]


def _create(servers: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    config = {"retention.ms": "-1"}
    admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=config)])[topic].result(60)


def _produce(
    producer: Producer, topic: str, rows: list[Flight], acknowledged: dict[int, list[Row]]
) -> None:
    """Send `rows`; `acknowledged` gets what each partition has confirmed, in that order."""

    def reported(flight: Flight) -> Callable[[Any, Any], None]:
        key = None if flight.key is None else flight.key.decode()
        row = (key, flight.value.decode(), flight.timestamp_ms)

        def report(error: Any, message: Any) -> None:
            if error is None:
                acknowledged.setdefault(message.partition(), []).append(row)

        return report

    for flight in rows:
        while True:
            try:
                producer.produce(
                    topic,
                    flight.value,
                    flight.key,
                    timestamp=flight.timestamp_ms,
                    on_delivery=reported(flight),
                )
            except BufferError:
                producer.poll(0.1)
            else:
                break
        producer.poll(0)


def _read_all(servers: str, topic: str, counts: dict[int, int]) -> dict[int, list[Row]]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in counts])
    rows: dict[int, list[Row]] = {p: [] for p in counts}
    left = sum(counts.values())
    deadline = time.monotonic() + PATIENCE_S
    while left > 0 and time.monotonic() < deadline:
        for message in consumer.consume(10_000, timeout=0.5):
            assert message.error() is None
            key = message.key()
            row = (
                None if key is None else key.decode(),
                value_of(message).decode(),
                message.timestamp()[1],
            )
            rows[partition_of(message)].append(row)
            left -= 1
    consumer.close()
    return rows


class _GroupMember:
    """One consumer process; a thread collects what it prints."""

    def __init__(self, servers: str, group: str, topic: str) -> None:
        command = [sys.executable, "-m", "tests.interop.flight_consumer", servers, group, topic]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # what a killed one printed half does not count
                self.lines.append(line)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("codec", CODECS)
def test_every_flight_is_where_it_belongs(servers: str, name: str, codec: str):
    _create(servers, name)
    rows = flights()
    acknowledged: dict[int, list[Row]] = {}
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",
            "linger.ms": 50,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    _produce(producer, name, rows, acknowledged)
    assert producer.flush(PATIENCE_S) == 0
    counts = {p: len(acknowledged[p]) for p in range(PARTITIONS)}
    assert sum(counts.values()) == len(rows)
    partition_of: dict[str, int] = {}
    for partition, sent in acknowledged.items():
        for key, _, _ in sent:
            if key is not None:
                assert partition_of.setdefault(key, partition) == partition
    assert _read_all(servers, name, counts) == acknowledged


@pytest.mark.timeout(1200)
def test_a_group_of_three_loses_nothing_when_one_is_killed(servers: str, name: str):
    _create(servers, name)
    acknowledged: dict[int, list[Row]] = {}
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": "lz4",
            "acks": "all",
            "linger.ms": 50,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    _produce(producer, name, flights(), acknowledged)
    assert producer.flush(PATIENCE_S) == 0
    total = sum(len(sent) for sent in acknowledged.values())
    members = [_GroupMember(servers, name, name) for _ in range(3)]
    try:
        wait_for(
            lambda: sum(len(m.lines) for m in members) > total // 2, "half of them", PATIENCE_S
        )
        members[0].kill()
        seen = _wait_for_everything(members, total)
    finally:
        for member in members:
            member.kill()
    for partition, sent in acknowledged.items():
        assert [seen[partition, offset] for offset in range(len(sent))] == sent


def _wait_for_everything(members: list[_GroupMember], total: int) -> dict[tuple[int, int], Row]:
    """Every (partition, offset) once, whoever read it; the same row whenever read twice."""
    seen: dict[tuple[int, int], Row] = {}
    read = [0] * len(members)

    def complete() -> bool:
        for index, member in enumerate(members):
            fresh = member.lines[read[index] :]
            read[index] += len(fresh)
            for line in fresh:
                partition, offset, *row = json.loads(line)
                assert seen.setdefault((partition, offset), tuple(row)) == tuple(row)
        return len(seen) == total

    wait_for(complete, "all of them", PATIENCE_S)
    return seen


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("idempotent", [True, False])
def test_acknowledged_flights_survive_kill_9(make_broker, name: str, idempotent: bool):
    with make_broker() as broker:
        _create(broker.bootstrap_servers, name)
        producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "acks": "all",
                "enable.idempotence": idempotent,
                "linger.ms": 5,
                "message.timeout.ms": 600_000,
                "reconnect.backoff.max.ms": 200,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        rows = flights()[:120_000]
        acknowledged: dict[int, list[Row]] = {}
        half = len(rows) // 2
        _produce(producer, name, rows[:half], acknowledged)
        broker.kill()
        broker.restart()
        _produce(producer, name, rows[half:], acknowledged)
        assert producer.flush(PATIENCE_S) == 0
        assert sum(map(len, acknowledged.values())) == len(rows)
        counts = _end_offsets(broker.bootstrap_servers, name)
        stored = _read_all(broker.bootstrap_servers, name, counts)
        for partition, sent in acknowledged.items():
            if idempotent:
                assert stored[partition] == sent
            else:
                _assert_all_there(stored[partition], sent)


def _end_offsets(servers: str, topic: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "unused"})
    watermarks = {
        p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=60)
        for p in range(PARTITIONS)
    }
    consumer.close()
    return {p: high - low for p, (low, high) in watermarks.items()}


def _assert_all_there(stored: list[Row], sent: list[Row]) -> None:
    """Each acknowledged row is stored; a retry without idempotence may store some twice."""
    places: dict[Row, int] = {}
    for place, row in enumerate(stored):
        places.setdefault(row, place)
    missing = [row for row in sent if row not in places]
    assert missing == []

"""Consumers come, go and vanish while records flow: nothing is lost, commits are never ahead."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.consumed import partition_of, value_of
from tests.harness.waiting import wait_for

PARTITIONS = 6
SECONDS = 12.0
LEAST_STARTS = 6


class Churn:
    """One topic, one group, and everybody who works on them."""

    def __init__(self, servers: str, name: str, strategy: str) -> None:
        self.servers = servers
        self.name = name
        self.strategy = strategy
        self.stop = threading.Event()
        self.produced: Counter[int] = Counter()
        self.seen: dict[int, set[int]] = defaultdict(set)
        self.errors: list[str] = []
        self.live: list[tuple[threading.Event, threading.Thread]] = []

    def produce(self) -> None:
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 5})
        for number in range(1 << 30):
            if self.stop.is_set():
                break
            partition = number % PARTITIONS
            value = str(self.produced[partition]).encode()
            producer.produce(self.name, value, partition=partition)
            self.produced[partition] += 1
            if number % 50 == 0:
                producer.poll(0.02)
        if producer.flush(60):
            self.errors.append("records that nobody acknowledged")

    def consumer(self, **config: Any) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": self.name,
                "auto.offset.reset": "earliest",
                "partition.assignment.strategy": self.strategy,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 300,
                "auto.commit.interval.ms": 200,
                "log_level": 0,
                **config,
            }
        )

    def consume(self, leave: threading.Event, config: dict[str, Any], says_goodbye: bool) -> None:
        consumer = self.consumer(**config)
        consumer.subscribe([self.name])
        while not leave.is_set():
            message = consumer.poll(0.1)
            if message is None:
                continue
            if message.error():
                self.errors.append(str(message.error()))
            else:
                self.seen[partition_of(message)].add(int(value_of(message)))
        if says_goodbye:
            consumer.close()

    def start(self, config: dict[str, Any], says_goodbye: bool) -> None:
        leave = threading.Event()
        thread = threading.Thread(
            target=self.consume, args=(leave, config, says_goodbye), daemon=True
        )
        thread.start()
        self.live.append((leave, thread))

    @property
    def complete(self) -> bool:
        return all(len(self.seen[p]) == self.produced[p] for p in range(PARTITIONS))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_churn(servers: str, name: str, strategy: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(name, PARTITIONS, 1)]).values():
        future.result(60)
    churn = Churn(servers, name, strategy)
    producing = threading.Thread(target=churn.produce, daemon=True)
    producing.start()
    choice = random.Random(strategy)
    started = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or started < LEAST_STARTS:
        if len(churn.live) < 5 and (len(churn.live) < 2 or choice.random() < 0.6):
            config = {"group.instance.id": f"i{started}"} if choice.random() < 0.3 else {}
            churn.start(config, says_goodbye=started % 3 != 0)
            started += 1
        else:
            leave, _ = churn.live.pop(choice.randrange(len(churn.live)))
            leave.set()
        time.sleep(choice.random())  # the pace of the churn
    churn.stop.set()
    producing.join()
    churn.start({}, says_goodbye=True)
    deadline = time.monotonic() + 120
    while not churn.complete and time.monotonic() < deadline:
        time.sleep(0.05)
    # What a vanished consumer did not commit others read again, and commit.
    reader = churn.consumer()
    asked = [TopicPartition(name, partition) for partition in range(PARTITIONS)]
    wait_for(
        lambda: all(found.offset > 0 for found in reader.committed(asked, 60)),
        "commits of all partitions",
    )
    for leave, _ in churn.live:
        leave.set()
    for _, thread in churn.live:
        thread.join(60)
    assert churn.errors == []
    assert {p: len(churn.seen[p]) for p in range(PARTITIONS)} == dict(churn.produced)
    committed = {found.partition: found.offset for found in reader.committed(asked, 60)}
    reader.close()
    # What is committed is never ahead of what was read.
    assert all(0 < committed[p] <= churn.produced[p] for p in range(PARTITIONS))

"""A node is killed with -9 again and again while a stock producer and a group work on.

After every kill: each record that was acknowledged is there, once, in order; the idempotent
producer goes on over all the restarts; the group's committed offsets never go back.

PYKBROKER_KILL_ROUNDS=50 runs more rounds.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker
from tests.harness.consumed import partition_of, value_of
from tests.harness.waiting import wait_for

ROUNDS = int(os.environ.get("PYKBROKER_KILL_ROUNDS", "3"))
TOPIC, GROUP = "killed", "followers"
PARTITIONS = 3


class Load:
    """Numbers 0, 1, 2 ... to every partition, until it is stopped."""

    def __init__(self, servers: str) -> None:
        self.acknowledged: Counter[int] = Counter()
        self.errors: list[object] = []
        self._stop = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "compression.type": "lz4",
                "linger.ms": 2,
                "log_level": 0,
                "reconnect.backoff.max.ms": 100,
                "message.timeout.ms": 600_000,
                "queue.buffering.max.messages": 2000,
            }
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.001):  # all of it is read again after every kill
            for partition in range(PARTITIONS):
                value = b"%d " % number + bytes(number % 500)
                while True:
                    try:
                        self._producer.produce(
                            TOPIC, value, partition=partition, on_delivery=self._delivered
                        )
                        break
                    except BufferError:
                        self._producer.poll(0.01)
            number += 1
            self._producer.poll(0)

    def _delivered(self, error: object, message: object) -> None:
        if error is not None:
            self.errors.append(error)
        else:
            self.acknowledged[message.partition()] += 1  # type: ignore[attr-defined]

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(300) == 0


class Follower:
    """A group that commits what it has read."""

    def __init__(self, servers: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": GROUP,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "log_level": 0,
                "reconnect.backoff.max.ms": 100,
            }
        )
        self._partitions = [TopicPartition(TOPIC, each) for each in range(PARTITIONS)]
        self._consumer.assign([TopicPartition(TOPIC, each, 0) for each in range(PARTITIONS)])
        self.committed = dict.fromkeys(range(PARTITIONS), 0)

    def follow(self, least: int) -> None:
        """Read on a little, commit, remember what was confirmed."""
        for message in self._consumer.consume(least, 5):
            if message.error() is None:
                assert int(value_of(message).split(b" ")[0]) == message.offset()
        for at in self._consumer.commit(asynchronous=False) or ():
            if at.error is None and at.offset >= 0:
                self.committed[at.partition] = at.offset

    def begin(self) -> None:
        """Until something is committed: at first there is no coordinator."""

        def has_committed() -> bool:
            with suppress(KafkaException):
                self.follow(1)
            return any(self.committed.values())

        wait_for(has_committed, "the first commit")

    def check(self) -> None:
        """No commit that was confirmed is lost, once a coordinator answers."""
        found: list[TopicPartition] = []

        def is_told() -> bool:
            with suppress(KafkaException):
                found.extend(self._consumer.committed(self._partitions, timeout=10))
            return bool(found)

        wait_for(is_told, "the committed offsets")
        assert all(at.error is None for at in found), found
        for at in found:
            assert max(at.offset, 0) >= self.committed[at.partition]

    def close(self) -> None:
        self._consumer.close()


def check_all(servers: str, acknowledged: Counter[int]) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "checker",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
            "check.crcs": True,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(TOPIC, each, 0) for each in range(PARTITIONS)])
    found: Counter[int] = Counter()
    unfinished = set(range(PARTITIONS))
    while unfinished:
        message = consumer.poll(60)
        assert message is not None
        if message.error() is not None:
            unfinished.discard(message.partition())
            continue
        number = int(value_of(message).split(b" ")[0])
        assert number == message.offset() == found[partition_of(message)]
        found[partition_of(message)] += 1
    consumer.close()
    for partition, count in acknowledged.items():
        assert found[partition] >= count


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    dice = random.Random(random.random())  # --randomly-seed repeats it
    overrides = {"log.segment.bytes": "1048576", "log.index.interval.bytes": "500"}
    with Broker(data_dir=tmp_path / "data", overrides=overrides) as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(60)
        load = Load(servers)
        follower = Follower(servers)
        try:
            follower.begin()
            for _ in range(ROUNDS):
                with suppress(KafkaException):  # a coordinator that is still loading
                    follower.follow(dice.randint(1, 3000))
                broker.kill()
                acknowledged = Counter(load.acknowledged)
                broker.start()
                check_all(servers, acknowledged)
                follower.check()
        finally:
            load.stop()
        assert load.errors == []
        check_all(servers, load.acknowledged)
        follower.close()
        assert min(load.acknowledged.values()) > 100
        assert any(follower.committed.values())
        assert "Traceback" not in broker.log_text

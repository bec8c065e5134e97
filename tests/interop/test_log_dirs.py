"""Several log directories with stock clients: a partition moves while it is written and read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.admin import KafkaAdminClient
from kafka.structs import TopicPartitionReplica

from tests.harness.consumed import value_of
from tests.harness.waiting import wait_for

TOPIC = "wanderer"


class Load:
    """An idempotent producer that writes 0, 1, 2 … until it is stopped."""

    def __init__(self, servers: str) -> None:
        self.acknowledged = 0
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "queue.buffering.max.messages": 2000,  # all of it is read again
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.005):
            try:
                for _ in range(500):
                    self._producer.produce(TOPIC, b"%d" % number, on_delivery=self._delivered)
                    number += 1
            except BufferError:  # the broker is slower than we are
                self._producer.poll(0.01)
            self._producer.poll(0)

    def _delivered(self, error: object, message: object) -> None:
        assert error is None
        self.acknowledged += 1

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(60) == 0
        return self.acknowledged


def read_all(servers: str, count: int) -> list[int]:
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": TOPIC, "auto.offset.reset": "earliest"}
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[int] = []
    deadline = time.monotonic() + 300
    while len(found) < count and time.monotonic() < deadline:
        found += [int(value_of(message)) for message in consumer.consume(5000, 1)]
    consumer.close()
    return found


def test_a_partition_moves_while_it_is_written(
    make_broker: Callable[..., Any], tmp_path: Path
) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    config = {"log.dirs": f"{first},{second}", "metadata.log.dir": first}
    with make_broker(config) as broker:
        servers = str(broker.bootstrap_servers)
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
        load = Load(servers)
        wait_for(lambda: load.acknowledged > 2000, "records")
        home = first if Path(first, f"{TOPIC}-0").is_dir() else second
        away = second if home == first else first
        mover = KafkaAdminClient(bootstrap_servers=servers)
        replica = TopicPartitionReplica(TOPIC, 0, 1)
        mover.alter_replica_log_dirs({replica: away})
        wait_for(Path(away, f"{TOPIC}-0").is_dir, "the move")
        before = load.acknowledged
        wait_for(lambda: load.acknowledged > before + 2000, "more records")
        mover.alter_replica_log_dirs({replica: home})
        wait_for(Path(home, f"{TOPIC}-0").is_dir, "the move back")
        mover.close()
        count = load.stop()
        assert count > 4000
        assert read_all(servers, count) == list(range(count))

"""Exactly once: what Apache's copiers make is the same as their source, whoever is killed.

PYKBROKER_COPY_SECONDS=600 has the faults come for so long; PYKBROKER_COPY_SEED decides them;
PYKBROKER_COPY_CLUSTERS=o,ooo,aao,aoo names the clusters by their nodes: ours and Apache's.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker, Cluster
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.interop.copiers import Copier, pause_s

SECONDS = float(os.environ.get("PYKBROKER_COPY_SECONDS", "15"))
SEED = int(os.environ.get("PYKBROKER_COPY_SEED", "1"))
CLUSTERS = os.environ.get("PYKBROKER_COPY_CLUSTERS", "o,ooo").split(",")
PARTITIONS = 2
RECORDS_PER_SECOND = 150
END_S = 300.0

SETTINGS = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
}
REPLICATED = {
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "5",
    "min.insync.replicas": "2",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


def fill(servers: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number in range(count):
        producer.produce(topic, b"%d" % number, key=b"%d" % number, partition=number % PARTITIONS)
        if number % 1000 == 0:
            producer.flush(60)
    assert producer.flush(60) == 0


def committed(servers: str, topic: str, index: int) -> list[int]:
    """The numbers in a partition, as a read_committed consumer sees them, in their order."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "checker",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0)])
    found: list[int] = []
    while True:
        message = consumer.poll(60)
        assert message is not None, f"{topic}-{index}: nothing comes behind {len(found)} records"
        if message.error():
            consumer.close()
            return found
        found.append(int(message.value()))


def cluster_of(kinds: str, directory: Path) -> Broker | Cluster | MixedCluster:
    """One node, or several that replicate everything; `kinds` has an o or an a for each."""
    if kinds == "o":
        return Broker(overrides=SETTINGS, data_dir=directory)
    settings = SETTINGS | REPLICATED
    if set(kinds) == {"o"}:
        return Cluster(len(kinds), overrides=settings, directory=directory)
    directory.mkdir()
    names = [APACHE if kind == "a" else OURS for kind in kinds]
    config = {key.replace(".", "_"): value for key, value in settings.items()}
    return MixedCluster(directory, *names, **config)


@pytest.mark.timeout(600 + 3 * SECONDS)
@pytest.mark.parametrize("kinds", CLUSTERS)
def test_the_copy_is_exact(tmp_path: Path, kinds: str) -> None:
    dice = random.Random(SEED)
    count = int(SECONDS * RECORDS_PER_SECOND) // PARTITIONS * PARTITIONS
    with cluster_of(kinds, tmp_path / "data") as cluster:
        servers = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        topics = [NewTopic(name, PARTITIONS, len(kinds)) for name in ("source", "target")]
        for future in admin.create_topics(topics).values():
            future.result(30)
        fill(servers, "source", count)
        copiers = [
            Copier(servers, "source", "target", index, tmp_path) for index in range(PARTITIONS)
        ]
        try:
            members = [cluster] if isinstance(cluster, Broker) else list(cluster.nodes)
            kills = _disturb(members, copiers, dice)
            _await_end(copiers)
        finally:
            for copier in copiers:
                copier.close()
        starts = [copier.starts for copier in copiers]
        print(f"seed {SEED}, {kinds}: {count} records, {kills} kills, starts: {starts}")
        for index in range(PARTITIONS):
            assert committed(servers, "target", index) == list(range(index, count, PARTITIONS))


def _disturb(nodes: list[Any], copiers: list[Copier], dice: random.Random) -> int:
    """Kill a node or a copier every few seconds; how often."""
    kills = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for copier in copiers:
            copier.tend()
        time.sleep(pause_s(dice))
        if dice.random() < 0.5:
            victim = dice.choice(nodes)
            victim.kill()
            if len(nodes) > 1:
                time.sleep(dice.uniform(0, 6))  # long enough to be fenced, or not
            victim.start()
        else:
            dice.choice(copiers).kill()
        kills += 1
    return kills


def _await_end(copiers: list[Copier]) -> None:
    end = time.monotonic() + END_S
    while not all(copier.is_done for copier in copiers):
        assert time.monotonic() < end, "a copier does not come to its end"
        for copier in copiers:
            copier.tend()
        time.sleep(0.2)

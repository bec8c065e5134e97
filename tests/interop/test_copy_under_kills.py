"""Exactly once: the output of Apache's copiers equals their source, whichever process is killed.

PYKBROKER_COPY_SECONDS=600 has the faults come for so long; PYKBROKER_COPY_SEED decides them;
PYKBROKER_COPY_CLUSTERS=o,ooo,aao,aoo names the clusters by their nodes: ours and Apache's.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.harness.consumed import value_of
from tests.harness.markers import await_markers
from tests.harness.ways import ALL_WAYS
from tests.interop.committed import committed, make_topics
from tests.interop.copiers import Copier, pause_s
from tests.interop.killable import KillableCluster, cluster_of, nodes_of

SECONDS = float(os.environ.get("PYKBROKER_COPY_SECONDS", "15"))
SEED = int(os.environ.get("PYKBROKER_COPY_SEED", "1"))
CLUSTERS = os.environ.get("PYKBROKER_COPY_CLUSTERS", "o,ooo" if ALL_WAYS else "ooo").split(",")
PARTITIONS = 2
RECORDS_PER_SECOND = 150
END_S = 300.0


def fill(servers: str, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number in range(count):
        producer.produce(topic, b"%d" % number, key=b"%d" % number, partition=number % PARTITIONS)
        if number % 1000 == 0:
            producer.flush(60)
    assert producer.flush(60) == 0


@contextmanager
def copied(tmp_path: Path, kinds: str, count: int) -> Iterator[KillableCluster]:
    """A cluster whose topic `target` was made of `count` records of `source`, under kills."""
    dice = random.Random(SEED)
    with cluster_of(kinds, tmp_path / "data") as cluster:
        servers = cluster.bootstrap_servers
        make_topics(servers, ("source", "target"), PARTITIONS, len(kinds))
        fill(servers, "source", count)
        copiers = [
            Copier(servers, "source", "target", index, tmp_path) for index in range(PARTITIONS)
        ]
        try:
            kills = _disturb(nodes_of(cluster), copiers, dice)
            _await_end(copiers)
        finally:
            for copier in copiers:
                copier.close()
        starts = [copier.starts for copier in copiers]
        print(f"seed {SEED}, {kinds}: {count} records, {kills} kills, starts: {starts}")
        yield cluster


@pytest.mark.timeout(600 + 3 * SECONDS)
@pytest.mark.parametrize("kinds", CLUSTERS)
def test_the_copy_is_exact(tmp_path: Path, kinds: str) -> None:
    count = int(SECONDS * RECORDS_PER_SECOND) // PARTITIONS * PARTITIONS
    with copied(tmp_path, kinds, count) as cluster:
        servers = cluster.bootstrap_servers
        for index in range(PARTITIONS):
            await_markers(servers, "target", index)
            found = [int(value_of(message)) for message in committed(servers, "target", index)]
            assert found == list(range(index, count, PARTITIONS))


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

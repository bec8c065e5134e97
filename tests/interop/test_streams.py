"""Kafka Streams with exactly_once_v2: a word count is exact, whichever process is killed.

PYKBROKER_STREAMS_SECONDS=300 has the faults come for so long; PYKBROKER_STREAMS_SEED decides them;
PYKBROKER_STREAMS_CLUSTERS=o,ooo,aoo names the clusters by their nodes: ours and Apache's.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.harness.apache import java_command
from tests.harness.consumed import key_of, value_of
from tests.harness.flights import flights
from tests.harness.tools import streams_classpath
from tests.harness.waiting import wait_for
from tests.interop.committed import committed, make_topics
from tests.interop.killable import KillableCluster, Program, cluster_of, nodes_of

SOURCE = Path(__file__).parent / "java" / "WordCount.java"
SECONDS = float(os.environ.get("PYKBROKER_STREAMS_SECONDS", "6"))
SEED = int(os.environ.get("PYKBROKER_STREAMS_SEED", "1"))
CLUSTERS = os.environ.get("PYKBROKER_STREAMS_CLUSTERS", "o").split(",")
PARTITIONS = 3
INSTANCES = 2
FLIGHTS_PER_SECOND = 500
END_S = 300.0


class Feeder(threading.Thread):
    """Produces flights, so many a second; `carriers` is what has to be counted."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        self._topic = topic
        self._is_over = threading.Event()
        self.carriers: Counter[str] = Counter()
        self.left = 0

    def run(self) -> None:
        started = time.monotonic()
        for number, flight in enumerate(itertools.cycle(flights())):
            due = started + number / FLIGHTS_PER_SECOND
            if self._is_over.wait(max(0.0, due - time.monotonic())):
                break
            self._producer.produce(self._topic, flight.value, flight.key)
            self._producer.poll(0)
            self.carriers[json.loads(flight.value)["carrier"]] += 1
        self.left = self._producer.flush(120)

    def finish(self) -> int:
        """Stop, and wait until all is written; how many flights that is."""
        self._is_over.set()
        self.join()
        assert self.left == 0
        return self.carriers.total()


def counts(servers: str) -> dict[str, list[int]]:
    """By carrier the committed counts, in their order."""
    found: dict[str, list[int]] = defaultdict(list)
    for message in committed(servers, "counts", *range(PARTITIONS)):
        found[key_of(message).decode()].append(int.from_bytes(value_of(message)))
    return found


@contextmanager
def instances_of(servers: str, replicas: int, directory: Path) -> Iterator[list[Program]]:
    """Word counts that run, each with a state directory of its own."""
    instances = []
    for number in range(INSTANCES):
        state = str(directory / f"state-{number}")
        arguments = (servers, "word-count", "flights", "counts", state, str(replicas))
        command = java_command(str(SOURCE), *arguments, classpath=streams_classpath())
        instances.append(Program(command, directory / f"instance-{number}.log"))
    try:
        for instance in instances:
            instance.start()
        yield instances
    finally:
        for instance in instances:
            instance.close()


@contextmanager
def counted(tmp_path: Path, kinds: str) -> Iterator[tuple[KillableCluster, Counter[str]]]:
    """A cluster with the counts of flights that were fed to it, and what these must be."""
    dice = random.Random(SEED)
    with cluster_of(kinds, tmp_path / "data") as cluster:
        servers = cluster.bootstrap_servers
        make_topics(servers, ("flights", "counts"), PARTITIONS, len(kinds))
        feeder = Feeder(servers, "flights")
        feeder.start()
        with instances_of(servers, len(kinds), tmp_path) as instances:
            wait_for(lambda: counts(servers), "the first counts", END_S)
            kills = 0
            end = time.monotonic() + SECONDS
            for victim in itertools.cycle(("instance", "node")):
                if victim == "instance":
                    chosen = dice.choice(instances)
                    chosen.check()
                    chosen.kill()
                    chosen.start()
                else:
                    node = dice.choice(nodes_of(cluster))
                    node.kill()
                    time.sleep(dice.uniform(0, 4) if len(kinds) > 1 else 0)  # to be fenced, or not
                    node.start()
                kills += 1
                time.sleep(dice.uniform(1, 5))
                if time.monotonic() > end and kills > 1:
                    break
            fed = feeder.finish()

            def are_counted() -> bool:
                for instance in instances:
                    instance.check()
                return sum(map(len, counts(servers).values())) >= fed

            wait_for(are_counted, f"counts of {fed} flights", END_S)
            starts = [instance.starts for instance in instances]
        print(f"seed {SEED}, {kinds}: {fed} flights, {kills} kills, starts: {starts}")
        yield cluster, feeder.carriers


@pytest.mark.slow
@pytest.mark.timeout(600 + 3 * SECONDS)
@pytest.mark.parametrize("kinds", CLUSTERS)
def test_the_counts_are_exact(tmp_path: Path, kinds: str) -> None:
    with counted(tmp_path, kinds) as (cluster, carriers):
        found = counts(cluster.bootstrap_servers)
        assert found == {carrier: list(range(1, count + 1)) for carrier, count in carriers.items()}

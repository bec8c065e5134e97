"""Records under faults: nothing acknowledged is lost, nothing is there twice, order is kept.

Two idempotent producers of librdkafka (one of them with snappy and large batches) and a group of
two consumers work through the proxy until the faults are over. Then everything is flushed and read
again, and the files of the replicas are compared byte by byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.cluster import ProxiedCluster, tracebacks
from tests.chaos.faults import Nemesis
from tests.chaos.proxy import Proxy
from tests.chaos.record_history import Place, RecordHistory
from tests.chaos.record_load import GroupMember, RecordProducer, read_everything, wait_until_seen
from tests.harness.replicated import in_sync, log_files
from tests.harness.waiting import wait_for
from tests.interop.committed import make_topics

TOPIC = "ledger"
PARTITIONS = 3
LARGE_BATCHES: dict[str, Any] = {"compression.type": "snappy", "linger.ms": 200}
WEAK: dict[str, Any] = {"enable.idempotence": False, "acks": 1}
"""Producers that lose records when their leader does: to see that the verdict says so."""


def run(
    seconds: float,
    seed: int,
    directory: Path,
    say: Callable[[str], None],
    per_second: float = 100.0,
    is_weak: bool = False,
    in_flight: int = 5,
) -> list[str]:
    """Bring faults for so long; return what was wrong.

    `in_flight`: requests of a producer at a time.
    """
    dice = random.Random(seed)
    history = RecordHistory()
    weakness: dict[str, Any] = {"max.in.flight": in_flight} | (WEAK if is_weak else {})
    with Proxy() as proxy, ProxiedCluster(directory, proxy) as cluster:
        servers = cluster.bootstrap_servers
        make_topics(servers, (TOPIC,), PARTITIONS, 3)
        producers = [
            RecordProducer(servers, TOPIC, PARTITIONS, name, history, per_second, config)
            for name, config in (("one", weakness), ("two", LARGE_BATCHES | weakness))
        ]
        members = [GroupMember(servers, TOPIC, f"reader-{n}", history) for n in (1, 2)]
        nemesis = Nemesis(cluster, proxy, dice, say, history.note)
        try:
            nemesis.run(seconds)
            nemesis.calm()
            for producer in producers:
                producer.stop()
            for producer in producers:
                producer.flush()
            logs = read_everything(servers, [(TOPIC, index) for index in range(PARTITIONS)])
            wait_until_seen(history, logs)
        finally:
            for producer in producers:
                producer.stop()
            for member in members:
                member.stop()
        faults = history.verdict(logs)
        faults += _differing_replicas(cluster, logs)
        faults += tracebacks(cluster)
        acknowledged = sum(len(each) for each in history.acknowledged.values())
        say(
            f"{nemesis.count} faults; {sum(history.sent.values())} records sent, {acknowledged}"
            f" acknowledged, {sum(map(len, logs.values()))} in the logs,"
            f" {sum(map(len, history.seen.values()))} read by the group meanwhile"
        )
    return faults


def _differing_replicas(
    cluster: ProxiedCluster, logs: dict[Place, list[tuple[int, str]]]
) -> list[str]:
    """Partitions whose files are not the same on all nodes."""
    in_sync(cluster.bootstrap_servers, TOPIC, 3)

    def differing() -> list[str]:
        places = [(topic, index) for topic, index in logs]
        return [
            f"{topic}-{index}: the replicas' files differ"
            for topic, index in places
            if len(set(log_files(cluster.nodes, topic, index))) != 1
        ]

    try:
        wait_for(lambda: not differing(), "equal files")
    except AssertionError:
        return differing()
    return []

"""The rows of the table: what is measured, and the goals."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from functools import partial
from typing import Any

from confluent_kafka import Producer

from benchmarks.cluster.clusters import ClusterServer, until
from benchmarks.command_line import times
from benchmarks.compare.measure import Row
from benchmarks.compare.servers import Server
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from tests.harness.mixed_cluster import MixedNode
from tests.harness.raw_client import RawClient

FAILOVER_PARTITIONS = 100
REQUEST_TIMEOUT_MS = 1000
_NAMES = itertools.count(1)


def _librdkafka(verb: str, server: Server, *arguments: object) -> dict[str, float]:
    module = "benchmarks.compare.librdkafka"
    command = [sys.executable, "-m", module, verb, server.address, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _produce(size: int, count: int, server: Server, scale: float) -> float:
    topic = server.new_topic()
    figures = _librdkafka("produce", server, topic, size, times(count, scale))
    server.delete_topic(topic)
    return figures["per_second"]


def _latency(figure: str, server: Server, scale: float) -> float:
    topic = server.new_topic()
    figures = _librdkafka("latency", server, topic, 100, max(100, int(2000 * scale)))
    server.delete_topic(topic)
    return figures[figure]


def _catch_up(server: Server, scale: float) -> float:
    """Return MB per second from the addition of an empty replica until it is in sync."""
    cluster = _cluster(server)
    topic = cluster.assigned_topic([[1, 2]])
    count = times(300_000, scale)
    _librdkafka("produce", server, topic, 1024, count)
    moved = AlterPartitionReassignmentsRequest(
        timeout_ms=30_000,
        topics=[
            ReassignableTopic(
                name=topic,
                partitions=[ReassignablePartition(partition_index=0, replicas=[1, 2, 3])],
            )
        ],
    )
    started = time.perf_counter()
    with RawClient(cluster.nodes[0].bootstrap_server) as client:
        answer: Any = client.ask("AlterPartitionReassignments", 0, moved)
    _check(answer.error_code or answer.responses[0].partitions[0].error_code)
    cluster.await_in_sync(topic, [[1, 2, 3]])
    elapsed = time.perf_counter() - started
    server.delete_topic(topic)
    return count * 1024 / 1e6 / elapsed


def _failover(server: Server, scale: float) -> float:
    """Return seconds until each partition acknowledges a record; their leader was not the quorum's
    leader.
    """
    cluster = _cluster(server)
    controller = cluster.quorum_leader()
    victim, other = (node.id for node in cluster.nodes if node.id != controller)
    count = times(FAILOVER_PARTITIONS, min(1.0, scale * 10))
    assignment = [[victim, controller, other]] * count
    topic = cluster.assigned_topic(assignment)
    settings = {
        "acks": "all",
        "linger.ms": 0,
        "reconnect.backoff.max.ms": 100,
        "retry.backoff.ms": 20,
    }
    producer = Producer(cluster.client_config() | settings | {"retry.backoff.max.ms": 50})
    for partition in range(count):
        producer.produce(topic, b"before", partition=partition)
    _flush(producer)
    cluster.broker.node(victim).kill()
    started = time.perf_counter()
    for partition in range(count):
        producer.produce(topic, b"after", partition=partition)
    _flush(producer)
    elapsed = time.perf_counter() - started
    cluster.bring_back(cluster.broker.node(victim))
    cluster.await_in_sync(topic, assignment)
    server.delete_topic(topic)
    return elapsed


def _flush(producer: Producer) -> None:
    if producer.flush(60):
        raise RuntimeError("records were not acknowledged within 60 s")


def _controller_failover(server: Server, _scale: float) -> float:
    """Return seconds from the kill of the quorum's leader until a CreateTopics succeeds."""
    cluster = _cluster(server)
    leader: MixedNode = cluster.broker.node(cluster.quorum_leader())
    survivors = itertools.cycle(node for node in cluster.nodes if node is not leader)
    leader.kill()
    started = time.perf_counter()
    until(lambda: _try_to_create(next(survivors)), "topic")
    elapsed = time.perf_counter() - started
    cluster.bring_back(leader)
    return elapsed


def _try_to_create(node: MixedNode) -> bool:
    try:
        with RawClient(node.bootstrap_server, timeout_s=REQUEST_TIMEOUT_MS / 1000) as client:
            return _create(client, REQUEST_TIMEOUT_MS) == 0
    except OSError:
        return False


def _create(client: RawClient, timeout_ms: int) -> int:
    """Return the error code for a new topic."""
    topic = CreatableTopic(name=f"made-{next(_NAMES)}", num_partitions=1, replication_factor=2)
    answer: Any = client.ask(
        "CreateTopics", 5, CreateTopicsRequest(timeout_ms=timeout_ms, topics=[topic])
    )
    if isinstance(answer, str):  # closed, or silent
        return int(ErrorCode.REQUEST_TIMED_OUT)
    code: int = answer.topics[0].error_code
    return code


def _create_topics(server: Server, scale: float) -> float:
    """Return the median milliseconds of topics that are created one after another."""
    samples = []
    with RawClient(_cluster(server).nodes[0].bootstrap_server) as client:
        for _ in range(max(20, int(200 * scale))):
            started = time.perf_counter()
            _check(_create(client, 30_000))
            samples.append((time.perf_counter() - started) * 1000)
    return sorted(samples)[len(samples) // 2]


def _rss(server: Server, _scale: float) -> float:
    return server.rss_mb()


def _cluster(server: Server) -> ClusterServer:
    assert isinstance(server, ClusterServer)
    return server


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"error code {code}")


ROWS = (
    Row("librdkafka produce, 100 B, acks=all", "rec/s", partial(_produce, 100, 600_000), 1.0),
    Row("librdkafka produce, 1 KiB, acks=all", "rec/s", partial(_produce, 1024, 200_000), 1.2),
    Row("one record at a time, p50", "ms", partial(_latency, "p50_ms"), 1.25, True),
    Row("one record at a time, p99", "ms", partial(_latency, "p99_ms"), 1.25, True),
    Row("an empty replica catches up", "MB/s", _catch_up, 1.0),
    Row("CreateTopics, p50", "ms", _create_topics, 1.0, True),
    Row("failover of 100 partitions", "s", _failover, 1.0, True),
    Row("controller failover", "s", _controller_failover, 1.0, True),
    Row("resident memory of the three", "MB", _rss, 5.0, True),
)

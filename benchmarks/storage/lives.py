"""Starts, stops, recoveries and memory of whole nodes.

`starts_and_stops` and `recovery` open a directory that our node filled with both nodes in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker
from tests.harness.apache import SHIPPED_JVM, ApacheBroker

RECOVERY_POINTS = "recovery-point-offset-checkpoint"


def seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def ours_on(apache: ApacheBroker) -> Broker:
    """Return our node on the directory and the ports of the other one, not yet started."""
    controller = f"127.0.0.1:{apache.controller_port}"
    overrides = {
        "listeners": f"PLAINTEXT://127.0.0.1:{apache.port},CONTROLLER://{controller}",
        "controller.quorum.bootstrap.servers": controller,
    }
    return Broker(data_dir=apache.data_dir, overrides=overrides)


def make_topic(servers: str, name: str, partitions: int, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    settings = {key.replace("_", "."): value for key, value in config.items()}
    admin.create_topics([NewTopic(name, partitions, 1, config=settings)])[name].result(120)


def make_topics(servers: str, name: str, partitions: int) -> dict[str, int]:
    """Spread partitions over topics of 1000 (Kafka creates at most 10,000 a request); return the
    partitions of each topic.
    """
    topics = {
        f"{name}-{first}": min(1000, partitions - first) for first in range(0, partitions, 1000)
    }
    for topic, size in topics.items():
        make_topic(servers, topic, size)
    return topics


def write(servers: str, topic: str, partitions: int, total_bytes: int, value_bytes: int) -> None:
    """Write records, spread over the partitions."""
    producer = Producer(
        {"bootstrap.servers": servers, "linger.ms": 5, "batch.size": 900_000, "log_level": 0}
    )
    value = bytes(range(256)) * (value_bytes // 256 + 1)
    for number in range(max(total_bytes // value_bytes, partitions)):
        while True:
            try:
                producer.produce(topic, value[:value_bytes], partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.05)
    if producer.flush(300):
        raise SystemExit("not everything was acknowledged")


def starts_and_stops(directory: Path, partitions: int, with_apache: bool) -> dict[str, float]:
    """Measure starts and stops of both, in seconds, with a record in every partition."""
    apache = ApacheBroker(directory / "starts", jvm=SHIPPED_JVM)
    node = ours_on(apache)
    found: dict[str, float] = {}
    try:
        node.start()
        for topic, size in make_topics(node.bootstrap_servers, "many", partitions).items():
            write(node.bootstrap_servers, topic, size, 0, 100)
        node.stop()
        servers: list[tuple[str, Broker | ApacheBroker]] = [("ours", node)]
        if with_apache:
            servers.append(("Apache", apache))
        for _ in range(2):  # the second round counts: caches are warm for both
            for name, server in servers:
                found[f"clean start, {name} (s)"] = seconds(server.start)
                server.kill()
                found[f"start after a kill, {name} (s)"] = seconds(server.start)
                found[f"clean stop, {name} (s)"] = seconds(server.stop)
    finally:
        node.kill()
        apache.close()
    return found


def recovery(
    directory: Path, gigabytes: float, with_apache: bool, partitions: int = 8
) -> dict[str, float]:
    """Measure the time until a node serves again after a kill, without a recovery point, so that
    it checks every segment.
    """
    apache = ApacheBroker(directory / "recovery", heap="2g", jvm=SHIPPED_JVM)
    node = ours_on(apache)
    found: dict[str, float] = {}
    try:
        node.start()
        make_topic(node.bootstrap_servers, "dirty", partitions)
        write(node.bootstrap_servers, "dirty", partitions, int(gigabytes * 1e9), 10_000)
        node.kill()
        servers: list[tuple[str, Broker | ApacheBroker]] = [("ours", node)]
        if with_apache:
            servers.append(("Apache", apache))
        for name, server in servers:
            (apache.data_dir / RECOVERY_POINTS).unlink(missing_ok=True)
            found[f"recovery of {gigabytes:g} GB, {name} (s)"] = seconds(server.start)
            server.kill()
    finally:
        node.kill()
        apache.close()
    return found


def idle_memory(directory: Path, partitions: int) -> dict[str, float]:
    """Measure the resident memory of our idle node, just after the start."""
    node = Broker(data_dir=directory / "idle")
    try:
        node.start()
        make_topics(node.bootstrap_servers, "idle", partitions)
        grown = rss_mb(node.pid)
        node.restart()
        return {
            f"{partitions} idle partitions, just made (MB)": grown,
            f"{partitions} idle partitions, after a start (MB)": rss_mb(node.pid),
        }
    finally:
        node.kill()

"""What a steady producer feels while the node has other work, in milliseconds.

The load is one connection with one record a request, at most 250 requests a second, in a process of
its own; the quiet value is measured before each kind of other work, and both are told, for our node
and for Apache's.
"""

from __future__ import annotations

import os
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from benchmarks.command_line import times
from benchmarks.compare.frames import produce
from benchmarks.storage.lives import make_topic, write
from pykbroker.testing import Broker
from tests.harness.apache import SHIPPED_JVM, ApacheBroker

AnyBroker = Broker | ApacheBroker

STEADY = "steady"
PAUSE_SECONDS = 0.004
SECONDS = 5.0
LEAST_ROUND_TRIPS = 10
PATIENCE_SECONDS = 60


class Effort(NamedTuple):
    """How much other work there is, and how long the quiet phase lasts."""

    scale: float
    seconds: float


Kind = Callable[[AnyBroker, Path, Effort], Callable[[], object]]


def send_for_ever(port: int) -> None:
    """The load: prints the milliseconds of each round trip until it is killed."""
    frame = produce(STEADY, 1000)
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            started = time.perf_counter()
            sock.sendall(frame)
            size = int.from_bytes(sock.recv(4, socket.MSG_WAITALL), "big")
            sock.recv(size, socket.MSG_WAITALL)
            took = time.perf_counter() - started
            os.write(1, b"%.3f\n" % (took * 1000))
            time.sleep(max(PAUSE_SECONDS - took, 0))


def felt(broker: AnyBroker, work: Callable[[], object]) -> list[float]:
    """Return the milliseconds of the round trips while `work` runs (at least a few), sorted."""
    code = f"from benchmarks.storage.latency import send_for_ever as f; f({broker.port})"
    load = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    told = load.stdout
    assert told is not None
    for _ in range(100):
        told.readline()  # it is warm
    drain: list[bytes] = []
    os.set_blocking(told.fileno(), False)
    told.read()
    stop = threading.Event()

    def collect() -> None:
        while not stop.wait(0.02):
            drain.append(told.read() or b"")

    def work_elsewhere() -> None:
        # The clients of the other work would have machines of their own: here they get what
        # the node and the steady producer leave. A thread's children have its class.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        work()

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(work_elsewhere).result()
        # Small work is done before a reply or two.
        wait_until(lambda: b"".join(drain).count(b"\n") > LEAST_ROUND_TRIPS, "round trips")
        if load.poll() is not None:
            raise SystemExit("the steady producer has ended")
    finally:
        stop.set()
        collector.join()
        load.kill()
        load.wait()
        told.close()
    return sorted(float(word) for word in b"".join(drain).split(b"\n")[1:-1] if word)


def percentile(figures: list[float], of: float) -> float:
    return figures[min(int(len(figures) * of), len(figures) - 1)]


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {PATIENCE_SECONDS} s")
        time.sleep(0.05)


def compaction(broker: AnyBroker, directory: Path, effort: Effort) -> Callable[[], None]:
    """Compact a topic of 1 GB; the work lasts until it is clean."""
    records = times(1_000_000, effort.scale)
    keys = max(1, records * 3 // 100)
    make_topic(
        broker.bootstrap_servers,
        "table",
        1,
        cleanup_policy="compact",
        segment_bytes=str(max(1 << 20, times(50 << 20, effort.scale))),
        min_cleanable_dirty_ratio="0",
        min_compaction_lag_ms="3600000",
    )
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 5})
    dice = random.Random(1)
    for number in range(records):
        producer.produce("table", dice.randbytes(1000), b"%d" % (number % keys))
        if number % 1000 == 0:
            producer.flush()
    producer.flush()
    # The first call of an API loads its module: that is no part of compaction.
    alter(broker, "table", "min.compaction.lag.ms", "3600000")
    log = directory / "table-0"

    def work() -> None:
        alter(broker, "table", "min.compaction.lag.ms", "0")
        wait_until(lambda: size_of(log) <= records * 500, "a clean log")

    return work


def deletion(broker: AnyBroker, directory: Path, effort: Effort) -> Callable[[], None]:
    """Delete a topic of 2 GB, and soon after its files; at least four seconds, if the quiet phase
    has them.
    """
    make_topic(broker.bootstrap_servers, "large", 4, segment_bytes="104857600")
    write(broker.bootstrap_servers, "large", 4, times(2_000_000_000, effort.scale), 10_000)

    def work() -> None:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
        until = time.monotonic() + min(4.0, effort.seconds)
        admin.delete_topics(["large"])["large"].result(30)
        wait_until(lambda: not list(directory.glob("large-*")), "a deleted topic")
        time.sleep(max(0.0, until - time.monotonic()))

    return work


def cold_reads(broker: AnyBroker, directory: Path, effort: Effort) -> Callable[[], None]:
    """Consume 2 GB that the page cache does not hold."""
    records = times(200_000, effort.scale)
    make_topic(broker.bootstrap_servers, "cold", 2)
    write(broker.bootstrap_servers, "cold", 2, records * 10_000, 10_000)
    read_topic(broker, "cold", 1)  # makes the topic of the groups: that is no part of reading
    forget_pages(directory, "cold")  # nor is it to sync them
    return lambda: read_topic(broker, "cold", records)


def read_topic(broker: AnyBroker, topic: str, records: int) -> None:
    """Read at least this many records of its two partitions, with a stock consumer."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": topic,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(2)])
    read = 0
    while read < records:
        messages = consumer.consume(min(5000, records - read), PATIENCE_SECONDS)
        read += len(messages)
        if not messages:
            raise SystemExit(f"the consumer got {read} of {records} records")
    consumer.close()


def recompression(broker: AnyBroker, _directory: Path, effort: Effort) -> Callable[[], None]:
    """Produce 900 KB batches in lz4 to a topic of zstd, as fast as possible."""
    make_topic(broker.bootstrap_servers, "squeezed", 1, compression_type="zstd")

    def work() -> None:
        producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "compression.type": "lz4",
                "linger.ms": 50,
                "batch.size": 900_000,
                "queue.buffering.max.messages": 20_000,
            }
        )
        dice = random.Random(1)
        values = [dice.randbytes(300) * 2 for _ in range(1000)]
        deadline = time.monotonic() + effort.seconds
        number = 0
        while time.monotonic() < deadline:
            try:
                producer.produce("squeezed", values[number % 1000])
                number += 1
            except BufferError:
                producer.poll(0.01)
        if producer.flush(20):
            raise SystemExit("not everything was acknowledged")

    return work


def size_of(partition: Path) -> int:
    """Of the segments; one that is being replaced has no file of its name for a moment."""
    size = 0
    for path in partition.glob("*.log"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def forget_pages(directory: Path, topic: str) -> None:
    for path in directory.glob(f"{topic}-*/*.log"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def alter(broker: AnyBroker, topic: str, name: str, value: str) -> None:
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    (future,) = admin.incremental_alter_configs([resource]).values()
    future.result(20)


KINDS = (compaction, deletion, cold_reads, recompression)


def latencies(
    directory: Path, kinds: list[str], effort: Effort, with_apache: bool
) -> dict[str, float]:
    """Return percentiles in quiet and under each of these kinds of work, for ours and, if asked,
    for Apache's.
    """
    found: dict[str, float] = {}
    overrides = {
        "log.cleaner.backoff.ms": "200",
        "log.initial.task.delay.ms": "100",
        "log.segment.delete.delay.ms": "500",  # of deleted topics: theirs does not count
    }
    for kind in KINDS:
        if kind.__name__ not in kinds:
            continue
        brokers: dict[str, AnyBroker] = {
            "ours": Broker(data_dir=directory / f"{kind.__name__}-ours", overrides=overrides)
        }
        if with_apache:
            brokers["Apache"] = ApacheBroker(
                directory / f"{kind.__name__}-apache", config=overrides, jvm=SHIPPED_JVM
            )
        for owner, made in brokers.items():
            with made as broker:
                quiet, busy = quiet_and_busy(broker, kind, effort)
            name = f"{kind.__name__}, {owner}"
            found[f"{name}: quiet p50 (ms)"] = statistics.median(quiet)
            found[f"{name}: quiet p99 (ms)"] = percentile(quiet, 0.99)
            found[f"{name}: p50 (ms)"] = percentile(busy, 0.5)
            found[f"{name}: p99 (ms)"] = percentile(busy, 0.99)
            found[f"{name}: p99.9 (ms)"] = percentile(busy, 0.999)
            found[f"{name}: requests"] = len(busy)
    return found


def quiet_and_busy(
    broker: AnyBroker, kind: Kind, effort: Effort
) -> tuple[list[float], list[float]]:
    """Return the round trips before and during one kind of work."""
    make_topic(broker.bootstrap_servers, STEADY, 1)
    work = kind(broker, Path(broker.data_dir), effort)
    time.sleep(min(1.0, effort.seconds))
    return felt(broker, lambda: time.sleep(effort.seconds)), felt(broker, work)

"""The rows of the table: what is measured, and the goals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from benchmarks.command_line import times
from benchmarks.compare import frames, group_frames
from benchmarks.compare.measure import Row
from benchmarks.compare.servers import Server
from tests.harness.apache import CONSUMER_PERFORMANCE, PRODUCER_PERFORMANCE, java_command
from tests.harness.tools import java

_HERE = Path(__file__).parent


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


def _librdkafka(verb: str, server: Server, *arguments: object) -> dict[str, float]:
    module = "benchmarks.compare.librdkafka"
    command = [sys.executable, "-m", module, verb, server.address, *map(str, arguments)]
    figures: dict[str, float] = json.loads(_run(command))
    return figures


def _produce(size: int, count: int, server: Server, scale: float) -> float:
    topic = server.new_topic()
    figures = _librdkafka("produce", server, topic, size, times(count, scale))
    server.delete_topic(topic)
    return figures["per_second"]


def _consume(size: int, count: int, server: Server, scale: float) -> float:
    topic = server.new_topic()
    records = times(count, scale)
    _librdkafka("produce", server, topic, size, records)
    figures = _librdkafka("consume", server, topic, records)
    server.delete_topic(topic)
    return figures["per_second"]


def _latency(figure: str, server: Server, scale: float) -> float:
    topic = server.new_topic()
    return _librdkafka("latency", server, topic, 100, max(200, int(3000 * scale)))[figure]


def _java_produce(size: int, count: int, server: Server, scale: float) -> float:
    topic = server.new_topic()
    output = _run(
        java_command(
            PRODUCER_PERFORMANCE,
            *("--topic", topic, "--num-records", str(times(count, scale))),
            *("--record-size", str(size), "--throughput", "-1"),
            *("--bootstrap-server", server.address, "--command-property", "acks=1"),
        )
    )
    server.delete_topic(topic)
    return float(re.findall(r"([\d.]+) records/sec", output)[-1])


def _java_consume(size: int, count: int, server: Server, scale: float) -> float:
    topic = server.new_topic()
    records = times(count, scale)
    _librdkafka("produce", server, topic, size, records)
    output = _run(
        java_command(
            CONSUMER_PERFORMANCE,
            *("--topic", topic, "--num-records", str(records)),
            *("--bootstrap-server", server.address),
        )
    )
    server.delete_topic(topic)
    columns = output.splitlines()[-1].split(", ")
    return float(columns[9])  # fetch.nMsg.sec: without the time to join the group


def _raw(
    make_frame: Callable[[str], bytes],
    connections: int,
    figure: str,
    server: Server,
    scale: float,
    *,
    in_flight: int = 1,
    idempotent: bool = False,
    in_sessions: bool = False,
) -> float:
    """Send one frame repeatedly, with its sequence number or session patched if asked; `cpu_us` is
    the processor time of the server's process per request.
    """
    topic = server.new_topic()
    producer = Producer(server.client_config())
    producer.produce(topic, b"x" * 100)
    producer.flush(30)
    with tempfile.NamedTemporaryFile() as file:
        frame = make_frame(topic)
        file.write(frame)
        file.flush()
        host, port = server.address.split(":")
        seconds = str(max(6 * scale, min(1.0, 40 * scale)))  # a second at least, but for a look
        program = [java(), "-Xmx256m", "-XX:+UseSerialGC", str(_HERE / "RawLoad.java")]
        batch_at = frames.batch_at(frame) if idempotent else -1
        session_at = frames.session_at(frame) if in_sessions else -1
        shape = map(str, (connections, seconds, in_flight, batch_at, session_at))
        before = server.cpu_seconds()
        output = _run([*program, host, port, file.name, *shape])
        spent = server.cpu_seconds() - before
    server.delete_topic(topic)
    figures: dict[str, float] = json.loads(output)
    figures["cpu_us"] = spent / figures["count"] * 1e6
    return figures[figure]


def _raw_member(
    make_frame: Callable[[str, str], bytes], figure: str, server: Server, scale: float
) -> float:
    return _raw(partial(make_frame, server.address), 50, figure, server, scale)


def _start_to_first_acknowledgement(server: Server, _scale: float) -> float:
    """Return seconds from the start of the process to the first acknowledged record.

    On a formatted directory that contains the topic; the client is created once the broker serves.
    """
    broker: Any = server.make()
    with broker:
        config = Server(server.name, broker, server.make).client_config()
        warm = Producer(config)
        warm.produce("first", b"x")
        warm.flush(30)
        broker.stop()
        config |= {
            "reconnect.backoff.ms": 5,
            "reconnect.backoff.max.ms": 10,
            "acks": "all",
            "linger.ms": 0,
        }
        started = time.perf_counter()
        broker.restart()
        producer = Producer(config)
        producer.produce("first", b"x")
        if producer.flush(30):
            raise RuntimeError("not acknowledged within 30 s")
        return time.perf_counter() - started


def _idle_rss(server: Server, _scale: float) -> float:
    broker: Any = server.make()
    with broker:
        time.sleep(2)
        return Server(server.name, broker, server.make).rss_mb()


def _one_record(topic: str) -> bytes:
    return frames.produce(topic, 100)


def _many_records(topic: str) -> bytes:
    return frames.produce(topic, 1000, records=900)


ROWS = (
    Row("start to first acknowledged produce", "s", _start_to_first_acknowledgement, 1.0, True),
    Row("idle resident memory", "MB", _idle_rss, 1.0, True),
    Row("librdkafka produce, 100 B, acks=all", "rec/s", partial(_produce, 100, 1_500_000), 0.8),
    Row("librdkafka produce, 1 KiB, acks=all", "rec/s", partial(_produce, 1024, 500_000), 0.8),
    Row("librdkafka consume, 100 B", "rec/s", partial(_consume, 100, 1_500_000), 0.8),
    Row("librdkafka consume, 1 KiB", "rec/s", partial(_consume, 1024, 500_000), 0.8),
    Row("Java ProducerPerformance, 100 B, acks=1", "rec/s", partial(_java_produce, 100, 1_500_000)),
    Row("Java ProducerPerformance, 1 KiB, acks=1", "rec/s", partial(_java_produce, 1024, 300_000)),
    Row("Java ConsumerPerformance, 100 B", "rec/s", partial(_java_consume, 100, 1_500_000)),
    Row("Java ConsumerPerformance, 1 KiB", "rec/s", partial(_java_consume, 1024, 300_000)),
    Row("librdkafka, one record at a time, p50", "ms", partial(_latency, "p50_ms"), 1.0, True),
    Row("librdkafka, one record at a time, p99", "ms", partial(_latency, "p99_ms"), None, True),
    Row("raw produce, 1 connection, p50", "ms", partial(_raw, _one_record, 1, "p50_ms"), 1.0, True),
    Row("raw produce, 1 connection, p99", "ms", partial(_raw, _one_record, 1, "p99_ms"), 0.7, True),
    Row("raw produce, 50 connections", "req/s", partial(_raw, _one_record, 50, "per_second"), 1.0),
    Row(
        "raw produce, 50 connections, p99",
        "ms",
        partial(_raw, _one_record, 50, "p99_ms"),
        1.0,
        True,
    ),
    Row(
        "raw idempotent produce, 50 connections",
        "req/s",
        partial(_raw, _one_record, 50, "per_second", idempotent=True),
        1.0,
    ),
    Row(
        "raw produce, 8 connections, 20 in flight",
        "req/s",
        partial(_raw, _one_record, 8, "per_second", in_flight=20),
        1.2,
    ),
    Row("raw fetch, 50 connections", "req/s", partial(_raw, frames.fetch, 50, "per_second"), 1.0),
    Row(
        "raw session fetch, 50 connections",
        "req/s",
        partial(_raw, frames.session_fetch, 50, "per_second", in_sessions=True),
        1.0,
    ),
    Row(
        "raw metadata, 50 connections",
        "req/s",
        partial(_raw, frames.metadata, 50, "per_second"),
        1.2,
    ),
    Row(
        "raw heartbeat, 50 connections",
        "req/s",
        partial(_raw_member, group_frames.heartbeat, "per_second"),
        1.0,
    ),
    Row(
        "raw offset commit, 50 connections",
        "req/s",
        partial(_raw_member, group_frames.commit, "per_second"),
        1.0,
    ),
    Row(
        "CPU of a produce, 50 connections",
        "us",
        partial(_raw, _one_record, 50, "cpu_us"),
        None,
        True,
    ),
    Row(
        "CPU of one by idempotent producers",
        "us",
        partial(_raw, _one_record, 50, "cpu_us", idempotent=True),
        None,
        True,
    ),
    Row(
        "CPU of a fetch, 50 connections",
        "us",
        partial(_raw, frames.fetch, 50, "cpu_us"),
        None,
        True,
    ),
    Row(
        "CPU of a session fetch, 50 connections",
        "us",
        partial(_raw, frames.session_fetch, 50, "cpu_us", in_sessions=True),
        None,
        True,
    ),
    Row(
        "CPU of a produce, 8 conn., 20 in flight",
        "us",
        partial(_raw, _one_record, 8, "cpu_us", in_flight=20),
        None,
        True,
    ),
    Row(
        "CPU of a metadata, 50 connections",
        "us",
        partial(_raw, frames.metadata, 50, "cpu_us"),
        None,
        True,
    ),
    Row(
        "CPU of a heartbeat, 50 connections",
        "us",
        partial(_raw_member, group_frames.heartbeat, "cpu_us"),
        None,
        True,
    ),
    Row(
        "CPU of an offset commit, 50 connections",
        "us",
        partial(_raw_member, group_frames.commit, "cpu_us"),
        None,
        True,
    ),
    Row(
        "raw 0.9 MB produce, 4 connections",
        "MB/s",
        partial(_raw, _many_records, 4, "mb_per_second"),
    ),
)

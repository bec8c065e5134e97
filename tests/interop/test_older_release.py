"""A directory that `pykbroker storage format --release-version` makes goes to Apache and back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.harness.apache import ApacheBroker
from tests.interop.test_both_ways import ours


def format_for(release: str, properties: Path) -> None:
    arguments = ["-t", "e62swP6mSqqOBMmGnL4lng", "-c", str(properties), "-r", release]
    command = [sys.executable, "-m", "pykbroker", "storage", "format", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def produce(servers: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("kept", value, partition=0)
    assert producer.flush(120) == 0


def consume(servers: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g"})
    try:
        consumer.assign([TopicPartition("kept", 0, 0)])
        return [message.value() for message in consumer.consume(count, 120)]
    finally:
        consumer.close()


@pytest.mark.parametrize("release", ["3.3", "3.6", "3.9"])
def test_apache_serves_it_and_so_do_we(tmp_path: Path, release: str) -> None:
    apache = ApacheBroker(tmp_path / "data")
    try:
        format_for(release, apache.properties)
        with ours(apache) as broker:
            produce(broker.bootstrap_servers, b"ours")
            broker.stop()
        apache.start()
        assert consume(apache.bootstrap_servers, 1) == [b"ours"]
        produce(apache.bootstrap_servers, b"theirs")
        apache.stop()
        with ours(apache) as broker:
            assert consume(broker.bootstrap_servers, 2) == [b"ours", b"theirs"]
            produce(broker.bootstrap_servers, b"ours again")
    finally:
        apache.close()

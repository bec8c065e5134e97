"""Producers that keep sending while a test does other things: librdkafka's and Java's."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Producer

from tests.harness.apache import VERIFIABLE_PRODUCER, java_command
from tests.harness.waiting import wait_for

PATIENCE_SECONDS = 300.0
PERIOD_SECONDS = 0.004
JAVA_PER_SECOND = 150
JAVA_SETTINGS = """\
retries=2147483647
enable.idempotence=true
delivery.timeout.ms=600000
request.timeout.ms=10000
"""


class Acknowledged(Protocol):
    """A producer that knows what was acknowledged."""

    @property
    def count(self) -> int:
        """How many records were acknowledged until now."""

    def stop(self) -> list[bytes]:
        """Send no more; the values that were acknowledged. AssertionError when one failed."""


class Flow:
    """An idempotent producer of librdkafka with acks=all."""

    def __init__(self, servers: str, topic: str) -> None:
        self._topic = topic
        self._acknowledged: list[bytes] = []
        self._failed: list[str] = []
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "acks": "all",
                "message.timeout.ms": 600_000,
                "log_level": 0,
            }
        )
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        return len(self._acknowledged)

    def _send(self) -> None:
        number = 0
        while not self._end.wait(PERIOD_SECONDS):
            value = b"%d" % number + b"." * (number % 300)
            key = b"%d" % number
            self._producer.produce(self._topic, value, key, on_delivery=self._on_delivery)
            self._producer.poll(0)
            number += 1

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            self._acknowledged.append(message.value())
        else:
            self._failed.append(str(error))

    def stop(self) -> list[bytes]:
        self._end.set()
        self._thread.join()
        assert self._producer.flush(PATIENCE_SECONDS) == 0
        assert self._failed == []
        return self._acknowledged


class JavaFlow:
    """Apache's VerifiableProducer: the idempotent Java client with acks=all."""

    def __init__(self, servers: str, topic: str, directory: Path) -> None:
        settings = directory / "producer.properties"
        settings.write_text(JAVA_SETTINGS)
        self._told = directory / "producer.json"
        command = java_command(
            VERIFIABLE_PRODUCER,
            *("--bootstrap-server", servers, "--topic", topic, "--acks", "-1"),
            *("--max-messages", "-1", "--throughput", str(JAVA_PER_SECOND)),
            *("--value-prefix", "7", "--command-config", str(settings)),
        )
        with self._told.open("wb") as told, (directory / "producer.log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=told, stderr=log)

    @property
    def count(self) -> int:
        return self._told.read_text().count('"producer_send_success"')

    def stop(self) -> list[bytes]:
        self._process.terminate()
        self._process.wait(PATIENCE_SECONDS)
        lines = self._told.read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        assert [event for event in events if event["name"] == "producer_send_error"] == []
        sent = [event for event in events if event["name"] == "producer_send_success"]
        return [event["value"].encode() for event in sent]

    def close(self) -> None:
        """Leave nothing running, whatever happened."""
        self._process.kill()
        self._process.wait()


def await_more(flows: list[Acknowledged], count: int) -> None:
    """Wait until each of them was acknowledged `count` records more than now."""
    wanted = [flow.count + count for flow in flows]
    wait_for(
        lambda: all(flow.count >= least for flow, least in zip(flows, wanted, strict=True)),
        f"{count} more acknowledgements of each producer",
    )

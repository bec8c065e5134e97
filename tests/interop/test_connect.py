"""Kafka Connect with exactly-once sources: lines of a file to a topic to a file, each line once.

The worker and the broker are killed while the file grows; PYKBROKER_CONNECT_KILLS=20 does it so
often.
"""

from __future__ import annotations

import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pykbroker.environment.real.ports import free_ports
from pykbroker.testing import Broker
from tests.harness.apache import java_command
from tests.harness.consumed import value_of
from tests.harness.tools import connect_classpath
from tests.harness.waiting import wait_for
from tests.interop.committed import committed, make_topics
from tests.interop.killable import Program, cluster_of, nodes_of

KILLS = int(os.environ.get("PYKBROKER_CONNECT_KILLS", "1"))
LINES_AT_ONCE = 20
END_S = 300.0
WORKER = "org.apache.kafka.connect.cli.ConnectDistributed"
SETTINGS = """bootstrap.servers={servers}
group.id=connect
listeners=http://127.0.0.1:{port}
exactly.once.source.support=enabled
config.storage.topic=connect-configs
offset.storage.topic=connect-offsets
status.storage.topic=connect-status
config.storage.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
offset.storage.partitions=2
status.storage.partitions=1
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
plugin.discovery=service_load
session.timeout.ms=6000
heartbeat.interval.ms=1000
scheduled.rebalance.max.delay.ms=0
offset.flush.interval.ms=1000
consumer.isolation.level=read_committed
"""

SOURCE = {
    "connector.class": "FileStreamSource",
    "topic": "lines",
    "exactly.once.support": "required",
    # A full batch would leave lines in the buffer of the source until the file grows again.
    "batch.size": "1000000",
}
SINK = {"connector.class": "FileStreamSink", "topics": "lines"}


class Worker(Program):
    """A distributed worker, and its REST interface."""

    def __init__(self, servers: str, directory: Path) -> None:
        (port,) = free_ports(1)
        properties = directory / "worker.properties"
        properties.write_text(SETTINGS.format(servers=servers, port=port))
        command = java_command(WORKER, str(properties), classpath=connect_classpath())
        super().__init__(command, directory / "worker.log")
        self._url = f"http://127.0.0.1:{port}"

    def ask(self, path: str, config: dict[str, str] | None = None) -> Any:
        """GET, or PUT of a connector's config; None while the worker cannot answer."""
        self.check()
        body = None if config is None else json.dumps(config).encode()
        request = urllib.request.Request(
            self._url + path,
            body,
            {"Content-Type": "application/json"},
            method="GET" if config is None else "PUT",
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            said = error.read().decode()
            if error.code not in (404, 409) and "timed out" not in said:  # while it rebalances
                raise AssertionError(f"{error.code} {said}") from error
        except OSError:
            pass
        return None

    def connect(self, name: str, config: dict[str, str]) -> None:
        """Make a connector, as soon as the worker takes it."""
        wait_for(lambda: self.ask(f"/connectors/{name}/config", config), f"connector {name}", END_S)

    def wait_until_running(self, name: str) -> None:
        """Until the connector's task runs."""

        def states() -> list[str]:
            status = self.ask(f"/connectors/{name}/status") or {"tasks": []}
            for task in status["tasks"]:
                assert task["state"] != "FAILED", task
            return [task["state"] for task in status["tasks"]]

        wait_for(lambda: states() == ["RUNNING"], f"task of {name}", END_S)


@contextmanager
def worker_of(servers: str, directory: Path) -> Iterator[Worker]:
    """A worker that runs."""
    worker = Worker(servers, directory)
    try:
        worker.start()
        yield worker
    finally:
        worker.close()


def committed_lines(servers: str) -> list[str]:
    """What a read_committed consumer sees."""
    return [value_of(message).decode() for message in committed(servers, "lines", 0)]


class Writer(threading.Thread):
    """Appends lines to a file, a few at a time, until it is stopped."""

    def __init__(self, file: Path) -> None:
        super().__init__(daemon=True)
        self._file = file
        self._is_over = threading.Event()
        self.lines: list[str] = []

    def run(self) -> None:
        with self._file.open("a") as out:
            while not self._is_over.wait(0.05):
                more = [f"line {len(self.lines) + number}" for number in range(LINES_AT_ONCE)]
                out.writelines(f"{line}\n" for line in more)
                out.flush()
                self.lines += more

    def finish(self) -> list[str]:
        """Stop; all the lines of the file."""
        self._is_over.set()
        self.join()
        return self.lines


def kill_both(worker: Worker, broker: Broker) -> None:
    """While the source's lines come in; both come back."""
    before = len(committed_lines(broker.bootstrap_servers))
    wait_for(lambda: len(committed_lines(broker.bootstrap_servers)) > before, "more lines", END_S)
    worker.check()
    worker.kill()
    broker.kill()
    broker.start()
    worker.start()


@contextmanager
def delivered(tmp_path: Path) -> Iterator[tuple[Broker, list[str], Path]]:
    """A broker, the lines of a file that came to its topic, and the file they were written to."""
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.touch()
    with cluster_of("o", tmp_path / "data") as cluster:
        (broker,) = nodes_of(cluster)
        servers = broker.bootstrap_servers
        make_topics(servers, ("lines",), 1, 1)
        with worker_of(servers, tmp_path) as worker:
            worker.connect("source", SOURCE | {"file": str(source)})
            writer = Writer(source)
            writer.start()
            for _ in range(KILLS):
                kill_both(worker, broker)
            lines = writer.finish()
            wait_for(lambda: len(committed_lines(servers)) >= len(lines), "all lines", END_S)
            worker.connect("sink", SINK | {"file": str(sink)})
            worker.wait_until_running("sink")
            worker.wait_until_running("source")
            wait_for(lambda: sink.read_text().count("\n") >= len(lines), "sink", END_S)
        print(f"{len(lines)} lines, {KILLS} kills of worker and broker")
        yield broker, lines, sink


@pytest.mark.slow
def test_each_line_once(tmp_path: Path) -> None:
    with delivered(tmp_path) as (broker, lines, sink):
        assert committed_lines(broker.bootstrap_servers) == lines
        assert sink.read_text().splitlines() == lines

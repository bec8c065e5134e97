"""Prometheus scrapes a node by the configuration in config/, and every query of the dashboard in
config/grafana/ finds something there."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, Producer

from pykbroker.testing import Broker
from tests.harness.tools import prometheus
from tests.harness.waiting import wait_for

pytestmark = pytest.mark.interop

CONFIG = Path(__file__).resolve().parents[2] / "config"
DASHBOARD = json.loads((CONFIG / "grafana" / "pykbroker.json").read_text("utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


class Prometheus:
    """A server that scrapes one node every second."""

    def __init__(self, target: str, directory: Path) -> None:
        config = yaml.safe_load((CONFIG / "prometheus.yml").read_text("utf-8"))
        (job,) = config["scrape_configs"]
        job["static_configs"] = [{"targets": [target]}]
        config["global"]["scrape_interval"] = "1s"
        file = directory / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        self._log = directory / "log"
        flags = (
            f"--config.file={file}",
            f"--storage.tsdb.path={directory / 'data'}",
            "--web.listen-address=127.0.0.1:0",
        )
        with self._log.open("w") as log:
            self.process = subprocess.Popen([prometheus(), *flags], stderr=log, stdout=log)
        self.url = ""

    def wait_until_ready(self) -> None:
        """Until it has said where it listens, and answers: it listens before it is ready."""

        def listens() -> bool:
            assert self.process.poll() is None, self._log.read_text()
            found = re.search(r"Listening on\" address=(\S+)", self._log.read_text())
            self.url = f"http://{found[1]}" if found else ""
            return bool(found)

        def is_ready() -> bool:
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=60) as answer:
                    return bool(answer.status == HTTPStatus.OK)
            except OSError:  # 503, or no connection
                return False

        wait_for(listens, "Prometheus")
        wait_for(is_ready, "Prometheus to be ready")

    def query(self, text: str) -> list[Any]:
        """The result of a query, now."""
        words = urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{words}", timeout=60) as answer:
            result: list[Any] = json.load(answer)["data"]["result"]
            return result

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A node with a topic, and with a group that has read some of it and has a member."""
    with Broker(pykbroker_metrics_listen="127.0.0.1:0") as node:
        yield node


@pytest.fixture(scope="module")
def member(broker: Broker) -> Iterator[Consumer]:
    """The only member of the group `readers`: it has committed 30 of 100 records."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for _ in range(100):
        producer.produce("flights", b"v" * 100)
    assert producer.flush(120) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["flights"])
    read: list[Any] = []

    def has_all() -> bool:
        read.extend(consumer.consume(30 - len(read), 1))
        return len(read) == 30

    wait_for(has_all, "records")
    consumer.commit(message=read[-1], asynchronous=False)
    yield consumer
    consumer.close()


@pytest.fixture(scope="module")
def server(
    broker: Broker, member: Consumer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    found = re.search(r"metrics=http://(\S+)/metrics", broker.ready_line)
    assert found is not None
    running = Prometheus(found[1], tmp_path_factory.mktemp("prometheus"))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.close()


def as_grafana(query: str) -> str:
    """With the variables of the dashboard filled in."""
    for name, value in (("job", ".*"), ("instance", ".*"), ("__rate_interval", "1m")):
        query = query.replace(f"${name}", value)
    assert "$" not in query
    return query


def test_every_query_of_the_dashboard_finds_something(server: Prometheus) -> None:
    assert QUERIES
    for each in QUERIES:
        query = as_grafana(each)
        wait_for(partial(server.query, query), query)  # a rate needs two scrapes


def test_lag_of_a_group(server: Prometheus) -> None:
    lag = 'kafka_consumergroup_lag{consumergroup="readers",topic="flights"}'
    wait_for(lambda: server.query(lag), "a scrape")
    (found,) = server.query(lag)
    assert found["metric"]["partition"] == "0"
    assert float(found["value"][1]) == 70


def test_the_target_is_up(server: Prometheus) -> None:
    wait_for(lambda: server.query('up{job="pykbroker"} == 1'), "a scrape")

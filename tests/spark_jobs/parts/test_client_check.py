"""Settings that cannot work are reported by name, before the work and within seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pykbroker.testing import Broker
from spark_jobs.parts import client_check
from spark_jobs.parts.client_check import ClientRefusal

pytestmark = pytest.mark.interop

CLIENTS = ("confluent-kafka", "kafka-python")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory):
    with Broker(data_dir=tmp_path_factory.mktemp("check") / "logs") as broker:
        yield broker


@pytest.mark.parametrize("client", CLIENTS)
def test_settings_are_looked_at_before_the_work(broker: Broker, client: str):
    servers = broker.bootstrap_servers
    client_check.check_clients(servers, client, {"linger.ms": "1"}, {"fetch.max.bytes": "2000000"})
    with pytest.raises(ClientRefusal, match=r"^producer: .*no.such.setting"):
        client_check.check_clients(servers, client, {"no.such.setting": "1"})
    with pytest.raises(ClientRefusal, match=r"^consumer: .*no.such.setting"):
        client_check.check_clients(servers, client, {}, {"no.such.setting": "1"})


def test_values_are_looked_at_before_the_work(broker: Broker):
    with pytest.raises(ClientRefusal, match=r"^producer: .*brotli"):
        client_check.check_clients(
            broker.bootstrap_servers, "confluent-kafka", {"compression.type": "brotli"}
        )


def test_a_client_that_is_not_installed(broker: Broker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(ClientRefusal, match="producer: import of confluent_kafka"):
        client_check.check_clients(broker.bootstrap_servers, "confluent-kafka", {})


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("side", ["producer", "consumer"])
def test_a_client_that_gets_no_answer(broker: Broker, client: str, side: str):
    """The broker has no TLS: clients would try for minutes, and workers tell it as a bug.

    In a process of its own, as kafka-python leaves sockets open when its constructor fails.
    """
    settings = {"security.protocol": "SSL"}
    given = (settings, {}) if side == "producer" else ({}, settings)
    asking = (
        "from spark_jobs.parts.client_check import ClientRefusal, check_clients\n"
        f"try: check_clients({broker.bootstrap_servers!r}, {client!r}, *{given!r})\n"
        "except ClientRefusal as fault: print(fault)\n"
    )
    command = [sys.executable, "-c", asking]
    root = Path(client_check.__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith(f"{side}: "), done.stderr
    assert broker.bootstrap_servers in done.stdout


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "name",
    ["bootstrap.servers", "bootstrap_servers", "transactional.id", "key.serializer"],
)
def test_what_the_jobs_do_not_take(broker: Broker, client: str, name: str):
    with pytest.raises(ClientRefusal, match=f"^producer: {name} is "):
        client_check.check_clients(broker.bootstrap_servers, client, {name: "x"})


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "name, value",
    [("group.id", ""), ("value.deserializer", "foo"), ("bootstrap.servers", "127.0.0.1:2")],
)
def test_what_the_consumers_do_not_take(broker: Broker, client: str, name: str, value: str):
    with pytest.raises(ClientRefusal, match=f"^consumer: {name} is "):
        client_check.check_clients(broker.bootstrap_servers, client, {}, {name: value})


@pytest.mark.parametrize(
    "name, value",
    [
        ("linger.ms", "abc"),
        ("retries", "abc"),
        ("acks", "7"),
        ("batch.size", "-5"),
        ("enable.idempotence", "perhaps"),
    ],
)
def test_values_that_kafka_python_does_not_look_at(broker: Broker, name: str, value: str):
    with pytest.raises(ClientRefusal, match=f"^producer: {name} must be .*, not '{value}'"):
        client_check.check_clients(broker.bootstrap_servers, "kafka-python", {name: value})


@pytest.mark.parametrize(
    "name, value",
    [("fetch.max.bytes", "abc"), ("auto.offset.reset", "foo"), ("check.crcs", "maybe")],
)
def test_values_of_kafka_python_consumers(broker: Broker, name: str, value: str):
    with pytest.raises(ClientRefusal, match=f"^consumer: {name} must be .*, not '{value}'"):
        client_check.check_clients(broker.bootstrap_servers, "kafka-python", {}, {name: value})


@pytest.mark.parametrize("name", ["_check_names", "_check_values"])
def test_a_bug_of_ours_is_no_refusal(broker: Broker, monkeypatch: pytest.MonkeyPatch, name: str):
    def wrong(*_: object) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(client_check, name, wrong)
    with pytest.raises(TypeError, match="a bug"):
        client_check.check_clients(broker.bootstrap_servers, "kafka-python", {})


@pytest.mark.parametrize(
    "client, name",
    [
        ("confluent-kafka", "stats_cb"),  # TypeError
        ("confluent-kafka", "throttle_cb"),  # ValueError
        ("confluent-kafka", "default.topic.config"),  # AttributeError
        ("kafka-python", "metric.reporters"),
    ],
)
def test_settings_that_are_objects_of_python(broker: Broker, client: str, name: str):
    with pytest.raises(ClientRefusal, match=r"^producer: .*(callable|keys)"):
        client_check.check_clients(broker.bootstrap_servers, client, {name: "x"})


def test_half_a_millisecond(broker: Broker):
    """As librdkafka takes it."""
    settings = {"linger.ms": "0.5", "acks": "all", "retries": "3"}
    client_check.check_clients(broker.bootstrap_servers, "kafka-python", settings)

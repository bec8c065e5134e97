"""Both stock clients behind the same face, against a running broker."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest
from kafka.errors import KafkaTimeoutError

from pykbroker.offline import open_log
from pykbroker.testing import Broker
from spark_jobs.parts import brokers, clients, consumers
from spark_jobs.parts.clients import Outgoing

pytestmark = pytest.mark.interop

CLIENTS = ("confluent-kafka", "kafka-python")
STAMP = 1_700_000_000_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory):
    with Broker(data_dir=tmp_path_factory.mktemp("clients") / "logs") as broker:
        yield broker


@pytest.mark.parametrize("client", CLIENTS)
def test_records_arrive_as_they_are(broker: Broker, client: str):
    topic = f"sent-by-{client}"
    brokers.create_topics(broker.bootstrap_servers, {topic: 2}, {"retention.ms": "-1"})
    assert brokers.partition_counts(broker.bootstrap_servers)[topic] == 2
    sender = clients.sender(broker.bootstrap_servers, {"compression.type": "gzip"}, client)
    count = 3 * clients.SAMPLE_EVERY
    # kafka-python knows no header without a value.
    last = ("last", None if client == "confluent-kafka" else b"")
    for number in range(count):
        headers = [("n", b"%d" % number), last] if number % 2 else None
        value = None if number == 5 else b"value"
        record = Outgoing(topic, number % 2, b"%d" % number, value, STAMP + number, headers)
        sender.send(record)
    sender.flush()
    assert (sender.sent, sender.errors, sender.first_error) == (count, 0, None)
    assert len(sender.latencies) == 3
    assert all(each > 0 for each, _ in sender.latencies.pairs)
    found = open_log(str(broker.data_dir), topic, headers=True).to_pandas()
    assert len(found) == count
    for row in found.to_dict("records"):
        number = int(row["key"])
        assert row["partition"] == number % 2
        assert row["value"] == (None if number == 5 else b"value")
        assert row["timestamp"].value // 1_000_000 == STAMP + number
        expected = [("n", b"%d" % number), last] if number % 2 else []
        there = [] if row["headers"] is None else row["headers"]
        assert [(each["key"], each["value"]) for each in there] == expected


@pytest.mark.parametrize("client", CLIENTS)
def test_errors_are_counted(broker: Broker, client: str):
    topic = f"narrow-{client}"
    brokers.create_topics(broker.bootstrap_servers, {topic: 1}, {"max.message.bytes": "1000"})
    sender = clients.sender(broker.bootstrap_servers, {}, client)
    sender.send(Outgoing(topic, 0, None, b"x" * 5000))
    sender.flush()
    assert sender.errors == 1
    assert "large" in (sender.first_error or "").lower()


def test_what_kafka_python_refuses_is_counted(broker: Broker):
    brokers.create_topics(broker.bootstrap_servers, {"refused": 1}, {})
    sender = clients.sender(broker.bootstrap_servers, {}, "kafka-python")
    sender.send(Outgoing("refused", 0, b"k", b"v", headers=[("none", None)]))
    sender.send(Outgoing("refused", 0, None, None))
    sender.flush()
    assert (sender.sent, sender.errors) == (2, 2)
    assert "headers" in (sender.first_error or "")


@pytest.mark.parametrize("read", [consumers._read_confluent, consumers._read_kafka_python])
def test_read_to_end(broker: Broker, read):
    topic = f"read-by-{read.__name__}"
    brokers.create_topics(broker.bootstrap_servers, {topic: 2}, {})
    sender = clients.sender(broker.bootstrap_servers, {})
    for number in range(100):
        sender.send(Outgoing(topic, number % 2, b"k", b"four"))
    sender.flush()
    found = list(read(broker.bootstrap_servers, topic, {0: (0, 50), 1: (10, 50)}, {}))
    assert sum(each.records for each in found) == 90
    assert sum(each.bytes for each in found) == 90 * 5
    for ends in ({1: (10, 30)}, {0: (0, 5), 1: (10, 50)}, {0: (40, 45), 1: (0, 1)}):
        part = list(read(broker.bootstrap_servers, topic, ends, {}))
        wanted = sum(end - start for start, end in ends.values())
        assert sum(each.records for each in part) == wanted
        assert sum(each.bytes for each in part) == wanted * 5


def test_records_behind_the_end_are_not_counted():
    """Of a topic that grows: one call may bring more than was asked for."""
    messages = [fake_message(partition, offset) for partition in (0, 1) for offset in range(10)]
    open_ends = {0: 4, 1: 20}
    assert consumers._wanted(messages, open_ends) == [*messages[:4], *messages[10:]]
    assert open_ends == {1: 20}
    assert consumers._wanted(messages[:10], open_ends) == []


def fake_message(partition: int, offset: int) -> MagicMock:
    return MagicMock(
        partition=MagicMock(return_value=partition), offset=MagicMock(return_value=offset)
    )


def test_deleted(broker: Broker):
    brokers.create_topics(broker.bootstrap_servers, {"passing": 1}, {})
    brokers.delete_topics(broker.bootstrap_servers, ["passing"])
    assert "passing" not in brokers.partition_counts(broker.bootstrap_servers)


def test_a_broker_that_refuses(broker: Broker):
    """In its own sentence, without request and response."""
    brokers.create_topics(broker.bootstrap_servers, {"there": 1}, {})
    for name, more, told in (
        ("odd", {"no.such.config": "1"}, r"Unknown topic config name: no\.such\.config"),
        ("there", {}, r"Topic 'there' already exists\."),
        ("bad/name", {}, "Topic name is invalid: 'bad/name' contains .*"),
    ):
        with pytest.raises(brokers.BrokerRefusal, match=f"^the broker at .* refuses: {told}$"):
            brokers.create_topics(broker.bootstrap_servers, {name: 1}, more)


@pytest.mark.parametrize("nowhere", ["nonsense", "", "h:²"])
def test_what_is_no_broker(nowhere: str):
    with pytest.raises(brokers.BrokerRefusal, match=f"'{nowhere}' is not HOST:PORT"):
        brokers.check_reachable(nowhere)


@pytest.mark.parametrize("nowhere", ["127.0.0.1:1", "127.0.0.1:1,127.0.0.1:2", "127.0.0.1", "x:y"])
def test_no_broker(nowhere: str):
    with pytest.raises(brokers.BrokerRefusal, match=f"no broker answers at {nowhere}: "):
        brokers.partition_counts(nowhere)


def test_a_record_that_the_client_refuses_is_counted():
    pytest.importorskip("confluent_kafka")
    sender = clients.ConfluentSender("127.0.0.1:1", {"message.max.bytes": "1000"})
    sender.send(Outgoing("any", 0, None, b"x" * 5000))
    assert (sender.sent, sender.errors, sender.acknowledged_bytes) == (1, 1, 0)
    assert "size too large" in (sender.first_error or "")
    assert "KafkaError{" not in (sender.first_error or "")


class Unheard(clients.Sender):
    """A producer that is answered every other record."""

    def _send(self, record: Outgoing, began: float) -> None:
        if self.sent % 2:
            self._answered(None, began, record)

    def wait(self, seconds: float) -> None: ...

    def flush(self) -> None:
        self._note_missing()


def test_records_without_an_answer():
    """They were not acknowledged, and so their bytes were not."""
    sender = Unheard()
    for _ in range(5):
        sender.send(Outgoing("any", 0, b"key", b"value"))
    sender.flush()
    assert (sender.acknowledged, sender.errors, sender.acknowledged_bytes) == (3, 2, 24)
    assert sender.first_error == "2 records without a response"


def test_no_metadata_is_an_error_of_the_record():
    class Waiting:
        def send(self, *_: object, **__: object) -> None:
            raise KafkaTimeoutError("no metadata")

    sender = object.__new__(clients.KafkaPythonSender)
    clients.Sender.__init__(sender)
    sender._producer = Waiting()
    sender.send(Outgoing("any", 0, b"key", b"value"))
    assert sender.errors == 1
    assert "no metadata" in (sender.first_error or "")


def test_settings_by_the_names_and_types_of_kafka_python():
    given = {"compression.type": "none", "enable.idempotence": "false", "linger.ms": "5"}
    expected = {"compression_type": None, "enable_idempotence": False, "linger_ms": 5}
    assert clients.by_kafka_python(given) == expected
    texts = {"client.id": "5", "sasl.plain.password": "00123", "group.id": "none"}
    named = {name.replace(".", "_"): text for name, text in texts.items()}
    assert clients.by_kafka_python(texts) == named

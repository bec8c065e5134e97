"""Our dump-log on a directory of Apache Kafka with what our broker does not write yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from tests.harness.apache import DUMP_LOG, ApacheBroker, run_tool

TOPIC = "dumped"


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """Committed and aborted transactions, a group of KIP-848, every feature finalised."""
    with ApacheBroker(features=()) as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
        producer = Producer({"bootstrap.servers": servers, "transactional.id": "dump"})
        producer.init_transactions(60)
        for number in range(4):
            producer.begin_transaction()
            producer.produce(TOPIC, b"v%d" % number, b"k")
            producer.flush(60)
            end = producer.commit_transaction if number % 2 else producer.abort_transaction
            end(60)
        consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "dump",
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([TOPIC])
        assert len(consumer.consume(2, timeout=60)) == 2
        consumer.commit(asynchronous=False)
        consumer.close()
        broker.stop()
        yield broker.data_dir


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        ("__transaction_state-*/*.log", ("--transaction-log-decoder",)),
        ("__consumer_offsets-*/*.log", ("--offsets-decoder",)),
        ("__cluster_metadata-0/*.log", ("--cluster-metadata-decoder",)),
        ("__cluster_metadata-0/*.checkpoint", ("--cluster-metadata-decoder",)),
        (f"{TOPIC}-0/*.log", ("--print-data-log",)),
        (f"{TOPIC}-0/*.txnindex", ()),
        (f"{TOPIC}-0/*.snapshot", ()),
    ],
)
def test_the_same_lines(
    data_dir: Path, capsys: pytest.CaptureFixture[str], pattern: str, flags: tuple[str, ...]
) -> None:
    files = [str(each) for each in sorted(data_dir.glob(pattern)) if each.stat().st_size]
    assert files
    arguments = (*flags, "--files", ",".join(files))
    capsys.readouterr()
    assert main(["dump-log", *arguments]) == 0
    assert capsys.readouterr().out == run_tool(DUMP_LOG, *arguments)


def test_nothing_is_wrong_with_it(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump-log", "--verify", "--files", str(data_dir)]) == 0, capsys.readouterr().out

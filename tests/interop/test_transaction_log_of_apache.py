"""Our dump-log on `__transaction_state` of Apache Kafka, in both versions of its values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from pykbroker.offline import transaction_state
from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest
from tests.harness.apache import DUMP_LOG, ApacheBroker, run_tool
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for
from tests.harness.ways import ways

TOPIC = "ledger"
SECONDS = 120
FORGETFUL = {
    "transaction.state.log.num.partitions": "3",
    "transactional.id.expiration.ms": "10000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}


class Written(NamedTuple):
    """A directory, and the version of the values in its transaction log."""

    data_dir: Path
    value_version: int


@pytest.fixture(scope="module", params=ways([2], [0]))
def written(request: pytest.FixtureRequest) -> Iterator[Written]:
    """Transactions that were committed, aborted, too slow, left open; forgotten ids."""
    features = (f"transaction.version={request.param}",)
    with ApacheBroker(config=FORGETFUL, features=features) as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 2, 1)])[TOPIC].result(SECONDS)
        _commit_with_offsets(servers)
        begun(servers, "aborted").abort_transaction(SECONDS)
        slow = begun(servers, "slow", **{"transaction.timeout.ms": 1000})
        unused = Producer({"bootstrap.servers": servers, "transactional.id": "unused"})
        unused.init_transactions(SECONDS)
        still_open = begun(servers, "öffen", **{"transaction.timeout.ms": 900_000})
        wait_for(lambda: listed(servers) == {"öffen"}, "the other ids to be forgotten")
        broker.stop()
        del slow, still_open
        yield Written(broker.data_dir, min(request.param, 1))


def begun(servers: str, transactional_id: str, **config: Any) -> Producer:
    """A producer with a record in each partition in an open transaction."""
    settings = {"bootstrap.servers": servers, "transactional.id": transactional_id}
    producer = Producer(settings | config)
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for partition in range(2):
        producer.produce(TOPIC, b"v", b"k", partition)
    assert producer.flush(SECONDS) == 0
    return producer


def _commit_with_offsets(servers: str) -> None:
    producer = begun(servers, "committed")
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "readers"})
    offsets = [TopicPartition(TOPIC, 1, 1)]
    producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), SECONDS)
    producer.commit_transaction(SECONDS)
    consumer.close()


def listed(servers: str) -> set[str]:
    """The ids that the coordinator knows."""
    client = RawClient(servers)
    answer = client.ask("ListTransactions", 0, ListTransactionsRequest())
    client.close()
    return {each.transactional_id for each in answer.transaction_states}


def test_the_same_lines(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    logs = [
        str(each)
        for each in sorted(written.data_dir.glob("__transaction_state-*/*.log"))
        if each.stat().st_size
    ]
    for more in ((), ("--skip-record-metadata",)):
        arguments = ("--transaction-log-decoder", *more, "--files", ",".join(logs))
        capsys.readouterr()
        assert main(["dump-log", *arguments]) == 0
        ours = capsys.readouterr().out
        assert ours == run_tool(DUMP_LOG, *arguments)
        assert ours.count("<DELETE>") == 4
        assert '{"type":"0","data":{"transactionalId":"öffen"}}' in ours
        for status in ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit"):
            assert f'"transactionStatus":"{status}"' in ours
        assert '"topic":"__consumer_offsets"' in ours
        assert f'"version":"{1 - written.value_version}"' not in ours


def test_the_same_rows(written: Written) -> None:
    rows = transaction_state(str(written.data_dir)).to_pylist()
    last = {row["transactional_id"]: row for row in rows}
    assert {each for each, row in last.items() if row["is_tombstone"]} == {
        *("aborted", "committed", "slow", "unused"),
    }
    assert last["öffen"]["state"] == "Ongoing"
    assert sorted(last["öffen"]["partitions"]) == [f"{TOPIC}-0", f"{TOPIC}-1"]
    assert {row["version"] for row in rows} == {None, written.value_version}
    assert not any(row["fault"] for row in rows)

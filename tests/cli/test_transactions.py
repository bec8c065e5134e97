"""What `pykbroker transactions` takes and prints; beside Apache's script: tests/interop."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages import (
    describe_producers_response,
    describe_transactions_response,
    list_transactions_response,
    write_txn_markers_response,
)
from pykbroker.protocol.messages.init_producer_id_response import InitProducerIdResponse
from tests.cli.conftest import Run
from tests.cli.scripted_cluster import ScriptedCluster

NOW_MS = 1_700_000_000_000
START_MS = NOW_MS - 90_500


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ScriptedCluster:
    """Partition t-0, with a transaction of producer 7 open in it since 90.5 seconds."""
    cluster = ScriptedCluster({("t", 0): 1}).use(monkeypatch)
    monkeypatch.setattr(time, "time", lambda: NOW_MS / 1000)
    open_one = list_transactions_response.TransactionState(
        transactional_id="id", producer_id=7, transaction_state="Ongoing"
    )
    cluster.answers |= {
        "ListTransactions": lambda node, request: (
            list_transactions_response.ListTransactionsResponse(
                transaction_states=[open_one] if node == 2 else []
            )
        ),
        "DescribeTransactions": lambda node, request: described("id", START_MS, [0, 1]),
        "DescribeProducers": lambda node, request: producers(),
    }
    return cluster


def described(
    transactional_id: str, start_ms: int, partitions: list[int]
) -> describe_transactions_response.DescribeTransactionsResponse:
    topics = [describe_transactions_response.TopicData(topic="t", partitions=partitions)]
    state = describe_transactions_response.TransactionState(
        transactional_id=transactional_id,
        transaction_state="Ongoing",
        transaction_timeout_ms=60_000,
        transaction_start_time_ms=start_ms,
        producer_id=7,
        producer_epoch=3,
        topics=topics if partitions else [],
    )
    return describe_transactions_response.DescribeTransactionsResponse(transaction_states=[state])


def producers() -> describe_producers_response.DescribeProducersResponse:
    """Producer 7 with a transaction, 8 without one."""
    states = [
        describe_producers_response.ProducerState(
            producer_id=7,
            producer_epoch=3,
            last_sequence=4,
            last_timestamp=START_MS,
            coordinator_epoch=-1,
            current_txn_start_offset=5,
        ),
        describe_producers_response.ProducerState(producer_id=8, coordinator_epoch=2),
    ]
    partition = describe_producers_response.PartitionResponse(
        partition_index=0, active_producers=states
    )
    topic = describe_producers_response.TopicResponse(name="t", partitions=[partition])
    return describe_producers_response.DescribeProducersResponse(topics=[topic])


def test_list(cluster: ScriptedCluster, run: Run) -> None:
    assert run("transactions", "list").lines == [
        "TransactionalId\tCoordinator\tProducerId\tTransactionState\t",
        "id             \t2          \t7         \tOngoing         \t",
    ]
    flags = ("--duration-filter", "-5", "--transactional-id-pattern", "i.*")
    assert json.loads(run("transactions", "list", *flags, "--json").out) == [
        {"transactionalId": "id", "coordinator": 2, "producerId": 7, "state": "Ongoing"}
    ]
    _, request = cluster.requests("ListTransactions")[-1]
    assert (request.duration_filter, request.transactional_id_pattern) == (-5, "i.*")


def test_describe(cluster: ScriptedCluster, run: Run) -> None:
    titles, row = run("transactions", "describe", "--transactional-id", "id").lines
    assert titles.split("\t")[0] == "CoordinatorId"
    assert row.split() == [
        "2",
        "id",
        "7",
        "3",
        "Ongoing",
        "60000",
        str(START_MS),
        "90500",
        "t-0,t-1",
    ]
    shown = json.loads(run("transactions", "describe", "--transactional-id", "id", "--json").out)
    assert shown[0]["topicPartitions"] == ["t-0", "t-1"]
    cluster.answers["DescribeTransactions"] = lambda node, request: described("id", -1, [])
    _, row = run("transactions", "describe", "--transactional-id", "id").lines
    assert row.split()[5:] == ["60000", "None", "None"]
    shown = json.loads(run("transactions", "describe", "--transactional-id", "id", "--json").out)
    assert (shown[0]["startTimeMs"], shown[0]["durationMs"]) == (None, None)


def test_describe_producers(cluster: ScriptedCluster, run: Run) -> None:
    of = ("--topic", "t", "--partition", "0")
    titles, first, second = run("transactions", "describe-producers", *of).lines
    assert titles.split()[-1] == "CurrentTransactionStartOffset"
    assert first.split() == ["7", "3", "-1", "4", str(START_MS), "5"]
    assert second.split() == ["8", "0", "2", "-1", "-1", "None"]
    run("transactions", "describe-producers", *of, "--broker-id", "2")
    assert [node for node, _ in cluster.requests("DescribeProducers")] == [1, 2]


def test_find_hanging(cluster: ScriptedCluster, run: Run) -> None:
    search = ("transactions", "find-hanging", "--topic", "t", "--max-transaction-timeout", "1")
    assert len(run(*search).lines) == 1  # its coordinator knows it
    cluster.answers["DescribeTransactions"] = lambda node, request: described("id", START_MS, [1])
    _, row = run(*search).lines
    assert row.split() == ["t", "0", "7", "3", "-1", "5", str(START_MS), "1"]
    (found,) = json.loads(run(*search, "--partition", "0", "--json").out)
    assert (found["producerId"], found["durationMinutes"]) == (7, 1)
    assert len(run(*search[:-2]).lines) == 1  # 15 minutes by default
    assert len(run(*search[:2], "--broker-id", "2", *search[-2:]).lines) == 1
    (asked,) = {node for node, _ in cluster.requests("DescribeProducers")}
    assert asked == 1  # broker 2 has no partition


def test_abort(cluster: ScriptedCluster, run: Run) -> None:
    code = 0

    def answer(node: int, request: object) -> write_txn_markers_response.WriteTxnMarkersResponse:
        partition = write_txn_markers_response.WritableTxnMarkerPartitionResult(error_code=code)
        topic = write_txn_markers_response.WritableTxnMarkerTopicResult(partitions=[partition])
        marker = write_txn_markers_response.WritableTxnMarkerResult(topics=[topic])
        return write_txn_markers_response.WriteTxnMarkersResponse(markers=[marker])

    cluster.answers["WriteTxnMarkers"] = answer
    at = ("transactions", "abort", "--topic", "t", "--partition", "0")
    named = ("--producer-id", "9", "--producer-epoch", "1", "--coordinator-epoch")
    for flags in (("--start-offset", "5"), (*named, "-1"), (*named, "6")):
        assert run(*at, *flags) == (0, "", "")
    sent = [request.markers[0] for _, request in cluster.requests("WriteTxnMarkers")]
    assert [(m.producer_id, m.producer_epoch, m.coordinator_epoch) for m in sent] == [
        (7, 3, 0),
        (9, 1, 0),
        (9, 1, 6),
    ]
    code = ErrorCode.INVALID_PRODUCER_EPOCH
    outcome = run(*at, "--start-offset", "5")
    assert (outcome.code, outcome.out) == (1, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith(
        "Failed to abort transaction AbortTransactionSpec(topicPartition=t-0, pr"
    )
    for offset in ("6", "-1"):
        (line,) = run(*at, "--start-offset", offset).err.splitlines()
        assert line == (
            f"Could not find any open transactions starting at offset {offset} on partition t-0"
        )


def test_force_terminate(cluster: ScriptedCluster, run: Run) -> None:
    cluster.answers["InitProducerId"] = lambda node, request: InitProducerIdResponse()
    end = ("transactions", "forceTerminateTransaction", "--transactionalId", "id")
    assert run(*end) == (0, "", "")
    cluster.answers["InitProducerId"] = lambda node, request: InitProducerIdResponse(
        error_code=ErrorCode.INVALID_TRANSACTION_TIMEOUT
    )
    (line,) = run(*end).err.splitlines()
    assert line.startswith(
        "Failed to force terminate transactionalId `id`: The transaction timeout"
    )


PARTITION = ("--topic", "t", "--partition", "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the following arguments are required: {list,"),
        (("lists",), "argument {list,"),
        (
            ("list", "--duration-filter", "soon"),
            "argument --duration-filter: 'soon' is not a whole",
        ),
        (("describe",), "the following arguments are required: --transactional-id"),
        (("describe-producers", "--topic", "t"), "the following arguments are required: --partiti"),
        (("describe-producers", "--topic", "t", "--partition", "2147483648"), "argument --partit"),
        (
            ("abort", *PARTITION, "--producer-epoch", "40000"),
            "argument --producer-epoch: 40000 is not from -32768 to 32767",
        ),
        (("forceTerminateTransaction",), "the following arguments are required: --transactionalId"),
    ],
)
def test_wrong_usage(run: Run, arguments: Sequence[str], message: str) -> None:
    outcome = run("transactions", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.partition(": ")[2].startswith(message), outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("abort", *PARTITION), "The transaction to abort must be identified either with --start-"),
        (("abort", *PARTITION, "--producer-id", "1"), "Missing required argument --producer-epoch"),
        (
            ("abort", *PARTITION, "--producer-id", "1", "--producer-epoch", "1"),
            "Missing required argument --coordinator-epoch",
        ),
        (("find-hanging",), "The `find-hanging` command requires either --topic or --broker-id"),
        (("find-hanging", "--partition", "0", "--broker-id", "1"), "The --partition argument requ"),
        (
            ("describe-producers", "--topic", "t", "--partition", "1"),
            (
                "Failed to describe producers"
                " for partition t-1 on leader: t-1 does not exist or has no leader"
            ),
        ),
        (
            ("describe-producers", *PARTITION, "--broker-id", "7"),
            ("Failed to describe producers for partition t-0 on broker 7: Broker 7 does not exist"),
        ),
        (
            ("abort", "--topic", "t", "--partition", "1", "--start-offset", "1"),
            (
                "Failed to validate "
                "producer state for partition t-1: t-1 does not exist or has no leader"
            ),
        ),
        (("find-hanging", "--topic", "nowhere"), "Failed to find hanging transactions: This serv"),
    ],
)
def test_refusals(
    cluster: ScriptedCluster, run: Run, arguments: Sequence[str], message: str
) -> None:
    outcome = run("transactions", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith(message)

"""DescribeLogDirs: directories, sizes, lags, offline ones."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers.describe_log_dirs import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import batch


def describe(broker: Broker, *topics: tuple[str, int], version: int = 5) -> list[Any]:
    """The results; of all topics when none is named."""
    message = DescribeLogDirsRequest(
        topics=[DescribableLogDirTopic(topic=t, partitions=[p]) for t, p in topics] or None
    )
    return list(Call(broker, HANDLER, message, version).answer.results)


def partitions(result: Any) -> dict[tuple[str, int], tuple[int, int, bool]]:
    return {
        (t.name, p.partition_index): (p.partition_size, p.offset_lag, p.is_future_key)
        for t in result.topics
        for p in t.partitions
    }


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.node.append(broker.node.create_topic(partitions=2), b"a")
    return broker


@pytest.mark.parametrize("version", range(1, 6))
def test_all_of_them(broker: Broker, version: int) -> None:
    (result,) = describe(broker, version=version)
    assert (result.error_code, result.log_dir) == (0, broker.config.log_directories[0])
    assert partitions(result) == {
        ("t", 0): (len(batch(b"a")), 0, False),
        ("t", 1): (0, 0, False),
    }
    assert (result.total_bytes > 0) is (version >= 4)
    assert not result.is_cordoned


def test_only_those_asked_for(broker: Broker) -> None:
    (result,) = describe(broker, ("t", 1), ("t", 9), ("missing", 0))
    assert list(partitions(result)) == [("t", 1)]


def test_an_offline_directory(broker: Broker) -> None:
    partition = broker.node.manager.partition(TopicPartition("t", 0))
    broker.node.manager.append(partition, batch(), 1, broker.node.now_ms)
    broker.node.fail_writes()
    broker.node.end_turn()
    (result,) = describe(broker)
    assert (result.error_code, result.topics) == (ErrorCode.KAFKA_STORAGE_ERROR, [])


def test_error_reply(broker: Broker) -> None:
    call = Call(broker, HANDLER, DescribeLogDirsRequest(topics=None), 5)
    reply: Any = HANDLER.error_reply(call.request, 31, None)
    assert (reply.error_code, reply.results) == (31, [])


def test_a_relative_directory_is_named_whole(broker: Broker) -> None:
    (report,) = broker.node.log_manager.reports(None)
    relative = report._replace(path="./kafka-logs", logs=[])
    found = SimpleNamespace(reports=lambda wanted, breathe: [relative])
    request = SimpleNamespace(message=DescribeLogDirsRequest(topics=None))
    node: Any = SimpleNamespace(log_manager=found, breathe=lambda: None)
    outcome: Any = HANDLER.handle(node, request)  # type: ignore[arg-type]
    answer = outcome.job()
    assert answer.results[0].log_dir == f"{os.getcwd()}/kafka-logs"

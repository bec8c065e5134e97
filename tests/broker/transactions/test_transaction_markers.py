"""Ends of transactions in the partitions of a broker: data partitions and those of groups."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.transactions.transaction_markers import response_to, write_markers
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from pykbroker.replication.partition import READ_COMMITTED, READ_UNCOMMITTED, Partition
from tests.broker.handlers.group_broker import OFFSETS_PARTITIONS, GroupBroker

PRODUCER = 9


def marker(
    topics: dict[str, list[int]], committed: bool = True, epoch: int = 0, **fields: Any
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_epoch=epoch,
        transaction_result=committed,
        topics=[
            WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
            for name, indexes in topics.items()
        ],
        **({"producer_id": PRODUCER} | fields),
    )


def write(broker: GroupBroker, *markers: WritableTxnMarker) -> Any:
    """Write and end the turn; {(producer id, topic, index): code}, or None while it waits."""
    outcome: Any = then(write_markers(broker, list(markers)), response_to)  # type: ignore[arg-type]
    assert broker.wakes > 0  # whoever calls, a turn ends soon
    broker.node.end_turn()
    return codes(outcome) if not isinstance(outcome, Deferred) else outcome


def codes(response: Any) -> dict[tuple[int, str, int], int]:
    return {
        (one.producer_id, topic.name, partition.partition_index): partition.error_code
        for one in response.markers
        for topic in one.topics
        for partition in topic.partitions
    }


def answered(outcome: Any) -> dict[tuple[int, str, int], int]:
    assert outcome.done
    return codes(outcome.value)


def transactional(broker: GroupBroker, partition: Partition, **options: Any) -> None:
    fields = {"producer_id": PRODUCER, "producer_epoch": 0, "base_sequence": 0} | options
    broker.node.append(partition, b"x", is_transactional=True, **fields)


@pytest.fixture
def broker() -> GroupBroker:
    return GroupBroker()


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_ends_the_transaction(broker: GroupBroker, committed: bool) -> None:
    partition = broker.replica_manager.find("t", 0)
    assert partition is not None
    transactional(broker, partition)
    assert partition.bound(READ_COMMITTED) == 0
    outcome = write(broker, marker({"t": [0, 1]}, committed))
    assert answered(outcome) == {(PRODUCER, "t", 0): 0, (PRODUCER, "t", 1): 0}
    assert partition.bound(READ_COMMITTED) == partition.bound(READ_UNCOMMITTED) == 2
    aborted = partition.log.aborted_transactions(0, 2)
    assert aborted == ([] if committed else [(PRODUCER, 0)])


def test_partitions_that_are_not_here(broker: GroupBroker) -> None:
    broker.node.create_topic("away", number=11, replicas=(2,), leader=2)
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    outcome = write(broker, marker({"ghost": [0], "away": [0], "t": [7, 1]}))
    assert answered(outcome) == {
        (PRODUCER, "ghost", 0): unknown,
        (PRODUCER, "away", 0): unknown,
        (PRODUCER, "t", 7): unknown,
        (PRODUCER, "t", 1): 0,
    }
    assert write(broker, marker({"ghost": [0]})) == {(PRODUCER, "ghost", 0): unknown}
    assert write(broker) == {}


def test_a_follower_is_not_the_leader(broker: GroupBroker) -> None:
    broker.node.create_topic("copy", number=11, replicas=(2, 1), leader=2)
    assert write(broker, marker({"copy": [0]})) == {
        (PRODUCER, "copy", 0): ErrorCode.NOT_LEADER_OR_FOLLOWER
    }


def test_it_waits_until_the_marker_is_committed(broker: GroupBroker) -> None:
    partition = broker.node.create_topic("u", number=11, replicas=(1, 2))
    outcome = write(broker, marker({"u": [0], "t": [0]}))
    assert not outcome.done
    broker.node.follower_fetch(partition, 1)
    assert answered(outcome) == {(PRODUCER, "u", 0): 0, (PRODUCER, "t", 0): 0}


def test_a_marker_that_is_not_committed_in_time(broker: GroupBroker) -> None:
    broker.node.create_topic("u", number=11, replicas=(1, 2))
    outcome = write(broker, marker({"u": [0]}))
    broker.purgatory.advance(broker.now_ms() + broker.config.request_timeout_ms)
    assert answered(outcome) == {(PRODUCER, "u", 0): ErrorCode.REQUEST_TIMED_OUT}


def test_too_few_replicas(broker: GroupBroker) -> None:
    broker.node.create_topic("u", number=11, replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    assert write(broker, marker({"u": [0]})) == {(PRODUCER, "u", 0): ErrorCode.NOT_ENOUGH_REPLICAS}


@pytest.mark.parametrize(
    "version, epoch, code",
    [
        (1, 0, ErrorCode.INVALID_PRODUCER_EPOCH),
        (1, 1, ErrorCode.NONE),
        (2, 1, ErrorCode.INVALID_PRODUCER_EPOCH),  # version 2 has raised it before the marker
        (2, 2, ErrorCode.NONE),
    ],
)
def test_the_transaction_version_decides_which_epochs_are_old(
    broker: GroupBroker, version: int, epoch: int, code: int
) -> None:
    partition = broker.replica_manager.find("t", 0)
    assert partition is not None
    transactional(broker, partition, producer_epoch=1)
    outcome = write(broker, marker({"t": [0]}, epoch=epoch, transaction_version=version))
    found = outcome if isinstance(outcome, dict) else answered(outcome)
    assert found == {(PRODUCER, "t", 0): code}


@pytest.mark.parametrize("topic", ["t", GROUP_METADATA_TOPIC])
@pytest.mark.parametrize("lacking", ["producer_id", "epoch"])
def test_a_marker_of_nobody_is_not_written(broker: GroupBroker, topic: str, lacking: str) -> None:
    fields: dict[str, Any] = {lacking: -1}
    (code,) = write(broker, marker({topic: [0]}, **fields)).values()
    assert code == ErrorCode.UNKNOWN_SERVER_ERROR
    partition = broker.replica_manager.find(topic, 0)
    assert partition is not None
    assert partition.log.log_end_offset == 0


def test_a_fenced_coordinator(broker: GroupBroker) -> None:
    write(broker, marker({"t": [0]}, coordinator_epoch=5))
    assert write(broker, marker({"t": [0]}, coordinator_epoch=4)) == {
        (PRODUCER, "t", 0): ErrorCode.TRANSACTION_COORDINATOR_FENCED
    }


def test_producers_are_answered_once_each(broker: GroupBroker) -> None:
    both = [marker({"t": [index]}, producer_id=producer) for producer in (1, 2) for index in (0, 1)]
    outcome = write(broker, *both)
    assert [one.producer_id for one in outcome.value.markers] == [1, 2]
    assert list(answered(outcome)) == [(1, "t", 0), (1, "t", 1), (2, "t", 0), (2, "t", 1)]


def test_partitions_of_groups_end_by_their_coordinator(broker: GroupBroker) -> None:
    index = broker.groups.partition_for("g")
    outcome = write(broker, marker({GROUP_METADATA_TOPIC: [index], "t": [0]}))
    assert answered(outcome) == {(PRODUCER, GROUP_METADATA_TOPIC, index): 0, (PRODUCER, "t", 0): 0}
    partition = broker.replica_manager.find(GROUP_METADATA_TOPIC, index)
    assert partition is not None
    assert partition.high_watermark == 1


def test_a_group_coordinator_that_is_not_ready_is_no_leader(broker: GroupBroker) -> None:
    for index in range(OFFSETS_PARTITIONS):
        broker.groups.runtime.on_resigned(index)
    assert write(broker, marker({GROUP_METADATA_TOPIC: [0]})) == {
        (PRODUCER, GROUP_METADATA_TOPIC, 0): ErrorCode.NOT_LEADER_OR_FOLLOWER
    }

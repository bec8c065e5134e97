"""OffsetForLeaderEpoch: where epochs end, and which requests are rejected."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.offset_for_leader_epoch import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import topic_id_of


def ask(epoch: int, partition: int = 0, current: int = -1, topic: str = "t") -> Any:
    return OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[
            OffsetForLeaderTopic(
                topic=topic,
                partitions=[
                    OffsetForLeaderPartition(
                        partition=partition, current_leader_epoch=current, leader_epoch=epoch
                    )
                ],
            )
        ],
    )


def answer(broker: Broker, message: Any, version: int = 4) -> tuple[int, int, int]:
    (topic,) = Call(broker, HANDLER, message, version).answer.topics
    (partition,) = topic.partitions
    return partition.error_code, partition.leader_epoch, partition.end_offset


@pytest.fixture
def broker() -> Broker:
    """Epoch 0 has offsets 0 and 1, epoch 1 (the current one) offset 2."""
    broker = Broker()
    partition = broker.node.create_topic()
    broker.node.append(partition, b"a", b"b")
    broker.node.apply(PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=0, leader=1))
    broker.node.append(partition, b"c")
    assert partition.leader_epoch == 1
    return broker


def test_below_minus_one_an_epoch_is_old(broker: Broker) -> None:
    assert answer(broker, ask(0, current=-2)) == (ErrorCode.FENCED_LEADER_EPOCH, -1, -1)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("epoch, expected", [(0, (0, 0, 2)), (1, (0, 1, 3)), (5, (0, -1, -1))])
def test_end_of_epochs(broker: Broker, version: int, epoch: int, expected: Any) -> None:
    assert answer(broker, ask(epoch), version) == expected


@pytest.mark.parametrize(
    "message, code",
    [
        (ask(0, current=0), ErrorCode.FENCED_LEADER_EPOCH),
        (ask(0, current=1), 0),
        (ask(0, current=2), ErrorCode.UNKNOWN_LEADER_EPOCH),
        (ask(0, partition=4), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (ask(0, topic="missing"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_refusals(broker: Broker, message: Any, code: int) -> None:
    assert answer(broker, message)[0] == code


def test_error_reply(broker: Broker) -> None:
    call = Call(broker, HANDLER, ask(0, partition=3), 4)
    reply: Any = HANDLER.error_reply(call.request, 42, None)
    assert [(p.partition, p.error_code) for t in reply.topics for p in t.partitions] == [(3, 42)]

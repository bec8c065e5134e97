"""AlterPartition at the handler: every version, and the whole refused."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.alter_partition import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    PartitionData,
    TopicData,
)
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("version", [2, 3])
def test_the_controller_decides(version: int) -> None:
    broker = AdminBroker()
    epoch = broker.image.brokers[1].epoch
    topics = [TopicData(topic_id=bytes(15) + b"x", partitions=[PartitionData(partition_index=3)])]
    request = AlterPartitionRequest(broker_id=1, broker_epoch=epoch, topics=topics)
    reply = broker.call(HANDLER, request, version)
    ((answer,),) = [topic.partitions for topic in reply.topics]
    assert (reply.error_code, answer.partition_index) == (0, 3)
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("version", [2, 3])
def test_an_earlier_life_is_refused_as_a_whole(version: int) -> None:
    request = AlterPartitionRequest(broker_id=1, broker_epoch=9999, topics=[])
    reply = AdminBroker().call(HANDLER, request, version)
    assert (reply.error_code, reply.topics) == (ErrorCode.STALE_BROKER_EPOCH, [])

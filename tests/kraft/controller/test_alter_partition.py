"""AlterPartition: which changes of in-sync replicas a leader gets, and which errors."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from tests.kraft.controller.controller_world import ControllerWorld, topic


@pytest.fixture
def world() -> ControllerWorld:
    """t-0 on 1, 2, 3; 1 leads, all are in sync."""
    world = ControllerWorld().brokers(1, 2, 3)
    world.create(topic("t", assignments={0: [1, 2, 3]}))
    return world


def alter(
    world: ControllerWorld,
    isr: list[int],
    broker_id: int = 1,
    epochs: dict[int, int] | None = None,
    version: int = 3,
    topic_id: bytes | None = None,
    **fields: Any,
) -> Any:
    """The answer for one partition."""
    found = world.image.topics_by_name["t"]
    partition = found.partitions[0]
    entry = PartitionData(
        **{
            "partition_index": 0,
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
            "new_isr": isr if version < 3 else [],
            "new_isr_with_epochs": []
            if version < 3
            else [
                BrokerState(broker_id=each, broker_epoch=(epochs or {}).get(each, -1))
                for each in isr
            ],
            **fields,
        }
    )
    registration = world.image.brokers[broker_id]
    request = AlterPartitionRequest(
        broker_id=broker_id,
        broker_epoch=registration.epoch,
        topics=[TopicData(topic_id=topic_id or found.id, partitions=[entry])],
    )
    reply = world.decide(world.controller.alter_partition, request, version)
    assert reply.error_code == 0
    ((answer,),) = [each.partitions for each in reply.topics]
    return answer


@pytest.mark.parametrize("version", [2, 3])
def test_a_leader_shrinks_and_expands(world: ControllerWorld, version: int) -> None:
    for isr in ([1, 2], [1, 2, 3], [1]):
        answer = alter(world, isr, version=version)
        partition = world.partition("t")
        assert (answer.error_code, answer.isr, partition.isr) == (0, isr, tuple(isr))
        assert (answer.leader_id, answer.leader_epoch) == (1, partition.leader_epoch)
        assert answer.partition_epoch == partition.partition_epoch


def test_what_is_so_already_changes_nothing(world: ControllerWorld) -> None:
    before = world.partition("t")
    answer = alter(world, [1, 2, 3])
    assert (answer.error_code, answer.partition_epoch) == (0, before.partition_epoch)
    assert world.partition("t") == before


@pytest.mark.parametrize(
    "fields, code",
    [
        ({"leader_epoch": 99}, ErrorCode.NOT_CONTROLLER),
        ({"partition_epoch": 99}, ErrorCode.NOT_CONTROLLER),
        ({"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"partition_epoch": -1}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"broker_id": 2}, ErrorCode.INVALID_REQUEST),
        ({"isr": [2, 3]}, ErrorCode.INVALID_REQUEST),
        ({"isr": [1, 1]}, ErrorCode.INVALID_REQUEST),
        ({"isr": [1, 9]}, ErrorCode.INVALID_REQUEST),
        ({"isr": []}, ErrorCode.INVALID_REQUEST),
        ({"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ({"leader_recovery_state": 7}, ErrorCode.INVALID_REQUEST),
        ({"isr": [1], "leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ({"epochs": {2: 12345}}, ErrorCode.INELIGIBLE_REPLICA),
        ({"partition_index": 5}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"topic_id": bytes(15) + b"x"}, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
def test_refused(world: ControllerWorld, fields: dict[str, Any], code: ErrorCode) -> None:
    before = world.partition("t")
    assert alter(world, **({"isr": [1, 2]} | fields)).error_code == code
    assert world.partition("t") == before


def test_a_broker_that_is_fenced_or_leaving_may_not_join(world: ControllerWorld) -> None:
    alter(world, [1])
    world.heartbeat(2, want_fence=True)
    assert alter(world, [1, 2]).error_code == ErrorCode.INELIGIBLE_REPLICA
    epochs = {3: world.image.brokers[3].epoch}
    assert alter(world, [1, 3], epochs=epochs).error_code == 0


def test_an_earlier_life_of_the_leader_is_refused(world: ControllerWorld) -> None:
    request = AlterPartitionRequest(broker_id=1, broker_epoch=99999, topics=[])
    with pytest.raises(KafkaError) as refused:
        world.controller.alter_partition(request, 3)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH

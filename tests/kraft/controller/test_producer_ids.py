"""Blocks of producer ids."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from tests.kraft.controller.controller_world import ControllerWorld


def allocate(world: ControllerWorld, broker_id: int) -> tuple[int, int]:
    epoch = world.image.brokers[broker_id].epoch
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=epoch)
    reply = world.decide(world.controller.allocate_producer_ids, request)
    return reply.producer_id_start, reply.producer_id_len


def test_blocks_follow_each_other_whoever_asks() -> None:
    world = ControllerWorld().brokers(1, 2)
    assert allocate(world, 1) == (0, 1000)
    assert allocate(world, 2) == (1000, 1000)
    assert allocate(world, 1) == (2000, 1000)


def test_a_stale_broker_gets_none() -> None:
    world = ControllerWorld().brokers(1)
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1)
    with pytest.raises(KafkaError) as refused:
        world.controller.allocate_producer_ids(request)
    assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH

"""A node on a cluster of every metadata.version that Kafka 4.4 can format."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.kraft.metadata_version import metadata_version_level, metadata_version_names
from pykbroker.kraft.raft.initial_voters import default_voters
from pykbroker.kraft.storage_format import format_storage
from pykbroker.protocol.messages import incremental_alter_configs_request as configs
from pykbroker.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.kraft.node_world import NOW_MS, NodeWorld

LEVELS = [level for name in metadata_version_names() if (level := metadata_version_level(name))]


def cluster_of(level: int, **overrides: Any) -> NodeWorld:
    world = NodeWorld(**overrides)
    format_storage(
        world.files,
        world.config,
        "e62swP6mSqqOBMmGnL4lng",
        now_ms=NOW_MS,
        new_uuid=world.new_uuid,
        voters=default_voters(world.config, world.new_uuid),
        features={"metadata.version": level, "kraft.version": 1},
    )
    return world.open()


def set_retention(world: NodeWorld, topic: str) -> None:
    config = configs.AlterableConfig(name="retention.ms", config_operation=0, value="5000")
    resource = configs.AlterConfigsResource(resource_type=2, resource_name=topic, configs=[config])
    request = configs.IncrementalAlterConfigsRequest(resources=[resource])
    (answer,) = world.settle(world.controller.submit(request, 1)).responses
    assert answer.error_code == 0


def facts(world: NodeWorld) -> tuple[Any, ...]:
    image = world.watcher.image
    topic = image.topic("t")
    return (
        topic.id,
        [(at.replicas, at.isr, at.leader) for at in topic.partitions.values()],
        dict(image.topic_config("t")),
        image.next_producer_id,
        image.brokers[1].fenced,
    )


@pytest.mark.parametrize("level", LEVELS)
def test_it_serves_restarts_and_is_upgraded(level: int) -> None:
    world = cluster_of(level)
    assert world.node.finalized_features() == {"metadata.version": level, "kraft.version": 1}
    assert world.settle(world.create("t", 2)).topics[0].error_code == 0
    set_retention(world, "t")
    world.settle(world.node.allocate_producer_ids())
    before = facts(world)
    assert before[1:3] == ([((1,), (1,), 1)] * 2, {"retention.ms": "5000"})
    # From the log, then from a snapshot, then after the upgrade from both.
    world.stop()
    world.open()
    assert facts(world) == before
    world.node.take_snapshot()
    world.scheduler.run_jobs()
    assert len(world.node.raft.log.snapshots) == 2
    world.node.close()
    world.open()
    assert facts(world) == before
    update = FeatureUpdateKey(feature="metadata.version", max_version_level=33, upgrade_type=1)
    request = UpdateFeaturesRequest(feature_updates=[update])
    assert world.settle(world.controller.submit(request, 2)).error_code == 0
    assert world.settle(world.create("u")).topics[0].error_code == 0
    world.node.close()
    world.open()
    assert facts(world) == before
    assert world.node.finalized_features()["metadata.version"] == 33
    assert world.watcher.image.topic("u").partitions[0].leader == 1
    assert world.watcher.image.brokers[1].directories != ()
    assert world.fatal == []

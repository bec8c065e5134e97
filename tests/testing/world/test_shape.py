"""Which nodes a cluster has."""

from __future__ import annotations

from pykbroker.config import BrokerConfig
from pykbroker.testing.world.shape import Shape


def test_every_node_is_broker_and_controller() -> None:
    found = Shape(3).properties({"min.insync.replicas": "2"})
    assert list(found) == [1, 2, 3]
    for node_id, properties in found.items():
        config = BrokerConfig.from_properties(properties)
        assert config.node_id == node_id
        assert config.is_broker
        assert config.is_controller
        assert config.min_insync_replicas == 2
    assert found[2]["controller.quorum.voters"] == "1@node-1:9093,2@node-2:9093,3@node-3:9093"


def test_controllers_of_their_own() -> None:
    shape = Shape(2, controllers=5)
    found = {
        node_id: BrokerConfig.from_properties(properties)
        for node_id, properties in shape.properties({}).items()
    }
    assert list(found) == [1, 2, 101, 102, 103, 104, 105]
    assert [node_id for node_id, config in found.items() if config.is_broker] == [1, 2]
    assert [node_id for node_id, config in found.items() if config.is_controller] == [
        *shape.controller_ids
    ]

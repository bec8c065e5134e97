"""Parts that handlers use are made when they are first used; features are the published ones."""

from __future__ import annotations

from pathlib import Path

from pykbroker.broker.server import BrokerServer
from tests.broker.test_server import make_config, run


def test_parts_are_made_once_and_only_when_they_are_used(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        services = server.services
        lazy = ("fetch_sessions", "producer_ids", "topic_creation")
        assert not [name for name in lazy if name in vars(services)]
        for name in lazy:
            assert getattr(services, name) is getattr(services, name)
        assert services.groups is services.groups
        assert services.mover is server.housekeeping.mover

    run(make_config(tmp_path / "d"), scenario)


def test_they_follow_the_configuration_and_the_published_metadata(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        services = server.services
        assert services.config is server.dynamic_config.current
        features = services.features()
        assert features.finalized_epoch == services.metadata.image.offset
        assert features.finalized["metadata.version"] > 0
        assert features.finalized["kraft.version"] == 1
        low, high = features.supported["metadata.version"]
        assert low <= features.finalized["metadata.version"] <= high

    run(make_config(tmp_path / "d"), scenario)

"""UpdateFeatures: what may be raised and what is refused."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.kraft.controller.controller_world import ControllerWorld


def update(
    world: ControllerWorld,
    feature: str,
    level: int,
    kind: int = 1,
    *,
    version: int = 2,
    only: bool = False,
) -> tuple[str, str]:
    key = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
    request = UpdateFeaturesRequest(feature_updates=[key], validate_only=only)
    reply = world.decide(world.controller.update_features, request, version)
    return ErrorCode(reply.error_code).name, reply.error_message or ""


def test_metadata_version_can_be_raised() -> None:
    world = ControllerWorld(features={"metadata.version": 25}).brokers(1)
    assert update(world, "metadata.version", 33, only=True) == ("NONE", "")
    assert world.image.metadata_version == 25
    assert update(world, "metadata.version", 33) == ("NONE", "")
    assert world.image.metadata_version == 33


@pytest.mark.parametrize(
    ("feature", "level", "kind", "reason"),
    [
        ("group.version", 1, 1, "does not support this feature"),
        ("nonsense", 1, 1, "does not support this feature"),
        ("nonsense", 0, 1, "Feature nonsense not found."),
        ("metadata.version", 34, 1, "only supports versions 7-33"),
        ("metadata.version", 6, 2, "only supports versions 7-33"),
        ("metadata.version", 25, 1, "without setting the upgrade type"),
        ("metadata.version", 25, 2, "might delete metadata information"),
        ("metadata.version", 25, 3, "Unsafe metadata downgrade is not supported"),
        ("metadata.version", -1, 1, "cannot be less than 0"),
        ("metadata.version", 33, 9, "does not support the given upgrade type"),
        ("kraft.version", 1, 1, "voters of this quorum cannot be changed"),
    ],
)
def test_refusals(feature: str, level: int, kind: int, reason: str) -> None:
    world = ControllerWorld().brokers(1)
    before = len(world.log)
    code, message = update(world, feature, level, kind)
    assert code == "INVALID_UPDATE_VERSION"
    assert reason in message
    assert len(world.log) == before


def test_a_broker_that_does_not_support_it_refuses_it() -> None:
    world = ControllerWorld(features={"metadata.version": 25})
    world.register(2)
    broker = world.image.brokers[2]
    broker.features["metadata.version"] = broker.features["metadata.version"]._replace(max=30)
    assert "Broker 2 only supports versions 7-30" in update(world, "metadata.version", 33)[1]


@pytest.mark.parametrize(("version", "count"), [(0, 1), (1, 1), (2, 0)])
def test_results_per_feature_up_to_version_1(version: int, count: int) -> None:
    world = ControllerWorld().brokers(1)
    request = UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="metadata.version", max_version_level=33)]
    )
    reply = world.decide(world.controller.update_features, request, version)
    assert (reply.error_code, len(reply.results)) == (0, count)

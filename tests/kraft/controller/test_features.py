"""UpdateFeatures: which upgrades are allowed, and which are rejected."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykbroker.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.kraft.controller.controller_world import ControllerWorld, names_of


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


ELIGIBLE = "eligible.leader.replicas.version"


def test_eligible_leaders_can_be_switched_on_and_off() -> None:
    world = ControllerWorld(min_insync_replicas="2").brokers(1, 2)
    set_min_isr(world, "1", "3")
    before = len(world.log)
    assert update(world, ELIGIBLE, 1, only=True) == ("NONE", "")
    assert len(world.log) == before
    assert update(world, ELIGIBLE, 1) == ("NONE", "")
    records = [record.message for record in world.log[before:]]
    assert [
        (record.resource_name, record.value)
        for record in records
        if isinstance(record, ConfigRecord)
    ] == [("", "2"), ("1", None)]
    assert isinstance(records[-1], FeatureLevelRecord)
    assert world.image.has_eligible_leaders
    before = len(world.log)
    assert update(world, ELIGIBLE, 1) == ("NONE", "")  # once more: as Kafka, for the record
    assert names_of(world.log[before:]) == ["FeatureLevelRecord"]
    assert "setting the upgrade type" in update(world, ELIGIBLE, 0)[1]
    assert update(world, ELIGIBLE, 0, 2) == ("NONE", "")
    assert not world.image.has_eligible_leaders
    assert world.image.cluster_config() == {"min.insync.replicas": "2"}


def set_min_isr(world: ControllerWorld, name: str, value: str) -> None:
    key = AlterableConfig(name="min.insync.replicas", value=value)
    resource = AlterConfigsResource(resource_type=4, resource_name=name, configs=[key])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    world.decide(world.controller.incremental_alter_configs, request)


def test_eligible_leaders_need_a_metadata_version() -> None:
    world = ControllerWorld(features={"metadata.version": 22}).brokers(1)
    reason = f"{ELIGIBLE} could not be set to 1 because it depends on metadata.version level 23"
    assert reason in update(world, ELIGIBLE, 1)[1]
    both = [
        FeatureUpdateKey(feature=ELIGIBLE, max_version_level=1, upgrade_type=1),
        FeatureUpdateKey(feature="metadata.version", max_version_level=23, upgrade_type=1),
    ]
    request = UpdateFeaturesRequest(feature_updates=both)
    assert world.decide(world.controller.update_features, request, 2).error_code == 0
    assert world.image.features == {ELIGIBLE: 1, "metadata.version": 23}


def test_metadata_version_can_be_lowered_where_nothing_is_lost() -> None:
    world = ControllerWorld(features={"metadata.version": 29}).brokers(1)
    assert update(world, "metadata.version", 23, 2) == ("NONE", "")
    assert world.image.metadata_version == 23
    assert "might delete metadata" in update(world, "metadata.version", 22, 2)[1]


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


def test_a_voter_that_has_not_registered_may_not_support_it() -> None:
    world = ControllerWorld(features={"metadata.version": 25}).brokers(1)
    world.controller.state.voter_ids = lambda: (1, 2)
    reason = "controller 2 has not registered, and may not support this feature"
    assert reason in update(world, "metadata.version", 33)[1]


@pytest.mark.parametrize(("version", "count"), [(0, 1), (1, 1), (2, 0)])
def test_results_per_feature_up_to_version_1(version: int, count: int) -> None:
    world = ControllerWorld().brokers(1)
    request = UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature="metadata.version", max_version_level=33)]
    )
    reply = world.decide(world.controller.update_features, request, version)
    assert (reply.error_code, len(reply.results)) == (0, count)

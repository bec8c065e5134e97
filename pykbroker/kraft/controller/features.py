"""UpdateFeatures: changes the finalised features of the cluster.

metadata.version can be raised to what every registered node supports, and lowered where that loses
no metadata; eligible.leader.replicas.version and transaction.version can be raised and lowered.
With eligible leader replicas on, brokers have one value of `min.insync.replicas`: settings of
single brokers are removed. When the feature is off, partitions drop their eligible leaders with
their next change. Rejected are for example other features (above level 0), downgrades of
metadata.version that would lose metadata, and changes of kraft.version.
Source: Kafka's `FeatureControlManager.java`, `QuorumFeatures.java`, and `updateFeatures` of
`ConfigurationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.eligible_leaders import settings_for_eligible_leaders
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    KNOWN_FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
    VersionRange,
    metadata_changes_between,
    supports_controller_registration,
)
from pykbroker.kraft.release_features import dependency_fault
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3

_DISABLED: Final = VersionRange(0, 0)


def update_features(state: ControllerState, request: Any, version: int) -> Decision[MetadataRecord]:
    """Decide an UpdateFeaturesRequest: either all updates are applied or none is."""
    records: list[MetadataRecord] = []
    try:
        levels = {METADATA_VERSION: state.metadata_version, **state.image.features}
        eligible = 0
        for update in paced(request.feature_updates, state.breathe):
            levels[update.feature] = update.max_version_level
            if update.feature == ELIGIBLE_LEADER_REPLICAS_VERSION:
                eligible = update.max_version_level
        for update in paced(request.feature_updates, state.breathe):
            kind = update.upgrade_type
            if version == 0:
                kind = SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE
            level = update.max_version_level
            records += _update(state, update.feature, level, kind, levels)
        if eligible > 0:
            records = [*settings_for_eligible_leaders(state), *records]
    except KafkaError as fault:
        message = (
            "The update failed for all features since the following feature had an error: "
            f"{fault.message}"
        )
        return Decision(reply=UpdateFeaturesResponse(error_code=fault.code, error_message=message))
    response = UpdateFeaturesResponse(error_message=None)
    if version <= 1:
        response.results = [
            # The word is Kafka's own: the message of its error code 0.
            UpdatableFeatureResult(feature=update.feature, error_message="NONE")
            for update in paced(request.feature_updates, state.breathe)
        ]
    return Decision(records=[] if request.validate_only else records, reply=response)


def _refusal(feature: str, level: int, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Invalid update version {level} for feature {feature}. {reason}",
    )


def _update(
    state: ControllerState, feature: str, level: int, kind: int, levels: Mapping[str, int]
) -> list[MetadataRecord]:
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _refusal(feature, level, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _refusal(feature, level, "A feature version cannot be less than 0.")
    reason = _reason_not_supported(state, feature, level)
    if reason is not None:
        raise _refusal(feature, level, reason)
    current = _current_level(state, feature)
    if level < current and kind == UPGRADE:
        raise _refusal(
            feature,
            level,
            "Can't downgrade the version of this feature without setting the upgrade type to "
            "either safe or unsafe downgrade.",
        )
    if level > current and kind != UPGRADE:
        raise _refusal(feature, level, "Can't downgrade to a newer version.")
    if feature not in KNOWN_FEATURES:
        raise _refusal(feature, level, f"Feature {feature} not found.")
    if feature == METADATA_VERSION and metadata_changes_between(level, current):
        raise _refuse_metadata_downgrade(current, level, kind)
    if feature == KRAFT_VERSION:
        if level == current:
            return []
        if level < current:
            raise _refusal(feature, level, "Can't downgrade the version of this feature.")
        raise _refusal(feature, level, "The voters of this quorum cannot be changed.")
    fault = dependency_fault(feature, level, levels)
    if fault is not None:
        raise _refusal(feature, level, fault)
    return [MetadataRecord(FeatureLevelRecord(name=feature, feature_level=level))]


def _current_level(state: ControllerState, feature: str) -> int:
    if feature == METADATA_VERSION:
        return state.metadata_version
    if feature == KRAFT_VERSION:
        return state.kraft_version
    return state.image.features.get(feature, 0)


def _refuse_metadata_downgrade(current: int, level: int, kind: int) -> KafkaError:
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if kind == UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata "
        "information."
    )
    return KafkaError(
        ErrorCode.INVALID_UPDATE_VERSION,
        f"Unsupported metadata.version downgrade from {current} to {level}. {reason}",
    )


def _nodes(state: ControllerState) -> Iterator[tuple[str, dict[str, VersionRange]]]:
    yield f"Local controller {state.node_id}", SUPPORTED_FEATURES
    for broker in state.image.brokers.values():
        yield f"Broker {broker.id}", broker.features
    for controller in state.image.controllers.values():
        if controller.id != state.node_id:
            yield f"Controller {controller.id}", controller.features


def _reason_not_supported(state: ControllerState, feature: str, level: int) -> str | None:
    """Return which node does not support the feature at this level, or which voter has not
    registered and may not; None if all do.
    """
    for what, features in _nodes(state):
        supported = features.get(feature, _DISABLED)
        if level not in supported:
            if supported.max == 0:
                return f"{what} does not support this feature."
            return f"{what} only supports versions {supported.min}-{supported.max}"
    if supports_controller_registration(state.metadata_version):
        known = {state.node_id, *state.image.controllers}
        for voter in state.voter_ids():
            if voter not in known:
                return f"controller {voter} has not registered, and may not support this feature"
    return None

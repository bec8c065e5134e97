"""The features that `storage format` finalises, from a release and from individual levels.

In:  `--release-version` (a release or a metadata.version), `--feature NAME=LEVEL`, and whether the
     quorum is dynamic: kraft.version 1 keeps its voters in the log, version 0 in the configuration.
Out: the level of each feature that is supported here, or StorageError.
Source: Kafka's `Formatter.java`, `MetadataVersion.fromVersionString`, `FeatureCommand.java`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pykbroker.kraft.metadata_version import (
    KNOWN_FEATURES,
    KRAFT_VERSION,
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    MINIMUM_METADATA_VERSION,
    SUPPORTED_FEATURES,
    metadata_version_level,
    metadata_version_names,
)
from pykbroker.kraft.release_features import dependency_fault, release_levels
from pykbroker.kraft.storage_format import StorageError


def parse_feature_levels(pairs: Iterable[str]) -> dict[str, int]:
    """Parse `NAME=LEVEL` texts. Raises StorageError if a text does not have that form."""
    levels: dict[str, int] = {}
    for pair in pairs:
        name, equals, level = pair.partition("=")
        if not equals:
            raise StorageError(f"Can't parse feature=level string {pair}: equals sign not found.")
        name, level = name.strip(), level.strip()
        try:
            number = int(level)
        except ValueError:
            number = -1
        if not 0 <= number < 1 << 15:
            raise StorageError(
                f"Can't parse feature=level string {pair}: unable to parse {level} as a short."
            )
        levels[name] = number
    return levels


def formatted_features(
    release_version: str | None, levels: Mapping[str, int], *, has_dynamic_quorum: bool
) -> dict[str, int]:
    """Return the features to finalise. Raises StorageError if they are unknown or contradictory."""
    if METADATA_VERSION in levels and release_version is not None:
        raise StorageError(
            f"Use --release-version instead of --feature {METADATA_VERSION}=X to avoid ambiguity."
        )
    for name, level in levels.items():
        _check_feature(name, level)
    metadata_level = _metadata_version(release_version, levels)
    features = {
        METADATA_VERSION: metadata_level,
        KRAFT_VERSION: _kraft_version(levels.get(KRAFT_VERSION), has_dynamic_quorum),
    }
    for name in sorted(SUPPORTED_FEATURES.keys() - features.keys()):
        level = levels.get(name, release_levels(metadata_level)[name])
        fault = dependency_fault(name, level, {METADATA_VERSION: metadata_level})
        if fault is not None:
            raise StorageError(fault)
        features[name] = level
    return features


def _check_feature(name: str, level: int) -> None:
    if name not in KNOWN_FEATURES:
        known = ", ".join(each for each in KNOWN_FEATURES if each != METADATA_VERSION)
        raise StorageError(f"Unsupported feature: {name}. Supported features are: {known}")
    if name == METADATA_VERSION:
        if level not in SUPPORTED_FEATURES[name]:
            raise StorageError(
                f"No MetadataVersion with feature level {level}. Valid feature levels are from "
                f"{MINIMUM_METADATA_VERSION} to {LATEST_METADATA_VERSION}."
            )
    elif name not in SUPPORTED_FEATURES:
        if level > 0:
            raise StorageError(
                f"{name} is not supported by this version: its level can only be 0, not {level}"
            )
    elif level not in SUPPORTED_FEATURES[name]:
        raise StorageError(f"No feature:{name} with feature level {level}")


def _metadata_version(release_version: str | None, levels: Mapping[str, int]) -> int:
    if release_version is None:
        return levels.get(METADATA_VERSION, LATEST_METADATA_VERSION)
    level = metadata_version_level(release_version)
    if level is None:
        raise StorageError(
            f"Unknown metadata.version '{release_version}'. Supported metadata.version are: "
            + ", ".join(metadata_version_names())
        )
    return level


def _kraft_version(wanted: int | None, has_dynamic_quorum: bool) -> int:
    if wanted is None:
        return 1 if has_dynamic_quorum else 0
    if wanted == 0 and has_dynamic_quorum:
        raise StorageError(
            "Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the "
            "flags --standalone, --initial-controllers, or --no-initial-controllers is used. For "
            "dynamic controllers support, try removing the --feature flag for kraft.version."
        )
    if wanted > 0 and not has_dynamic_quorum:
        raise StorageError(
            f"Cannot set kraft.version to {wanted} unless controller.quorum.voters is empty and "
            "one of the flags --standalone, --initial-controllers, or --no-initial-controllers is "
            "used. For dynamic controllers support, try using one of --standalone, "
            "--initial-controllers, or --no-initial-controllers and removing "
            "controller.quorum.voters."
        )
    return wanted

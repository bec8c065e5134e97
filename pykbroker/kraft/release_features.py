"""The feature levels of a release, and the dependencies of a level.

In:  a metadata.version. Out: the level of every other feature of Kafka 4.4, implemented here or
     not.
Source: the `bootstrapMetadataVersion` and `dependencies` of Kafka's feature enums, `Feature.java`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykbroker.kraft.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    TRANSACTION_VERSION,
)

# The metadata.version from which a new cluster has level 1, 2, ... of the feature. In the order in
# which Kafka's tools print them.
_FIRST_METADATA_VERSIONS: Final[dict[str, tuple[int, ...]]] = {
    KRAFT_VERSION: (21,),
    TRANSACTION_VERSION: (24, 24),
    "group.version": (22,),
    ELIGIBLE_LEADER_REPLICAS_VERSION: (26,),
    "share.version": (28, 31),
    "streams.version": (29,),
}

# Feature and level -> the levels of other features that it needs.
_DEPENDENCIES: Final = {(ELIGIBLE_LEADER_REPLICAS_VERSION, 1): {METADATA_VERSION: 23}}


def release_levels(metadata_version: int) -> dict[str, int]:
    """Return the default level of each other feature at this metadata.version; 0 disables it."""
    return {
        name: sum(first <= metadata_version for first in firsts)
        for name, firsts in _FIRST_METADATA_VERSIONS.items()
    }


def dependencies(feature: str, level: int) -> dict[str, int] | None:
    """Return the features and levels that this level needs; None if there is no such level."""
    if not 0 <= level <= len(_FIRST_METADATA_VERSIONS[feature]):
        return None
    return _DEPENDENCIES.get((feature, level), {})


def dependency_fault(feature: str, level: int, levels: Mapping[str, int]) -> str | None:
    """Return why `feature` cannot be at `level` together with the others'
    `levels`; None if it can.
    """
    for needed, lowest in (_DEPENDENCIES.get((feature, level)) or {}).items():
        if levels.get(needed, 0) < lowest:
            return (
                f"{feature} could not be set to {level} because it depends on {needed} level "
                f"{lowest}"
            )
    return None

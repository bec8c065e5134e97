"""The features of a cluster: which levels this broker can serve, and what each level changes.

`metadata.version` says in which versions the records of the metadata log are written; the other
features switch behaviour of brokers. A feature that is not built here is not supported at all
(level 0): a cluster that has finalised it must not be served by this broker, and an Apache
controller refuses its registration for the same reason.

Source of the levels: Kafka's `MetadataVersion.java` and `KRaftVersion.java`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = "eligible.leader.replicas.version"
TRANSACTION_VERSION: Final = "transaction.version"

MINIMUM_METADATA_VERSION: Final = 7
LATEST_METADATA_VERSION: Final = 33
LATEST_KRAFT_VERSION: Final = 1
LATEST_ELIGIBLE_LEADER_REPLICAS_VERSION: Final = 1
LATEST_TRANSACTION_VERSION: Final = 2
FIRST_DIRECTORY_ASSIGNMENT: Final = 17

# First metadata.version of each change of record versions and rules.
_TRANSACTIONS: Final = 13
_CONTROLLER_REGISTRATION: Final = 15
_ELIGIBLE_LEADER_REPLICAS: Final = 23
_MIGRATION: Final = 8
_NO_EPOCH_BUMP_ON_ISR_SHRINK: Final = 12
_CORDONED_LOG_DIRECTORIES: Final = 30
_CONTROLLER_UNREGISTRATION: Final = 33

# Levels that brought something into the metadata that those below cannot express.
_METADATA_CHANGED: Final = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})

_NAMES: Final = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
    21: "3.9-IV0",
    22: "4.0-IV0",
    23: "4.0-IV1",
    24: "4.0-IV2",
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
    30: "4.3-IV0",
    31: "4.4-IV0",
    32: "4.4-IV1",
    33: "4.4-IV2",
}


class VersionRange(NamedTuple):
    """The levels of a feature that a node can serve, both ends included."""

    min: int
    max: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self.min <= level <= self.max


# What a node of this version registers. In alphabetical order: it is the order on the wire.
SUPPORTED_FEATURES: Final[dict[str, VersionRange]] = {
    ELIGIBLE_LEADER_REPLICAS_VERSION: VersionRange(0, LATEST_ELIGIBLE_LEADER_REPLICAS_VERSION),
    KRAFT_VERSION: VersionRange(0, LATEST_KRAFT_VERSION),
    METADATA_VERSION: VersionRange(MINIMUM_METADATA_VERSION, LATEST_METADATA_VERSION),
    TRANSACTION_VERSION: VersionRange(0, LATEST_TRANSACTION_VERSION),
}

# What `storage format` finalises, in the bootstrap checkpoint.
FORMATTED_FEATURES: Final[dict[str, int]] = {
    ELIGIBLE_LEADER_REPLICAS_VERSION: LATEST_ELIGIBLE_LEADER_REPLICAS_VERSION,
    METADATA_VERSION: LATEST_METADATA_VERSION,
    KRAFT_VERSION: LATEST_KRAFT_VERSION,
    TRANSACTION_VERSION: LATEST_TRANSACTION_VERSION,
}


# Every feature of Kafka 4.4. Those that are not built here are at level 0.
KNOWN_FEATURES: Final = (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    "group.version",
    KRAFT_VERSION,
    METADATA_VERSION,
    "share.version",
    "streams.version",
    TRANSACTION_VERSION,
)


def metadata_version_name(level: int) -> str:
    """`4.4-IV2` for 33, as Kafka's tools print it."""
    return _NAMES.get(level, str(level))


def metadata_version_level(name: str) -> int | None:
    """Return the level of `3.9-IV0`, or of a release (`3.9`, `3.9.1`): its last. None: unknown."""
    segments = name.split(".")
    wanted = ".".join(segments[:2])
    levels = [
        level for level, known in _NAMES.items() if wanted in (known, known.partition("-")[0])
    ]
    return max(levels, default=None)


def metadata_version_names() -> list[str]:
    """Every metadata.version that this version serves and formats, the oldest first."""
    return list(_NAMES.values())


def metadata_changes_between(lower: int, higher: int) -> bool:
    """Would metadata of the level `higher` lose something at the level `lower`?"""
    return any(lower < level <= higher for level in _METADATA_CHANGED)


def supports_controller_unregistration(level: int) -> bool:
    """KIP-1312: a controller can be removed from the registered ones."""
    return level >= _CONTROLLER_UNREGISTRATION


def supports_transactions(level: int) -> bool:
    """KIP-868: several batches of records that take effect together."""
    return level >= _TRANSACTIONS


def supports_controller_registration(level: int) -> bool:
    """KIP-919: controllers register in the log as brokers do."""
    return level >= _CONTROLLER_REGISTRATION


def supports_directory_assignment(level: int) -> bool:
    """KIP-858: partitions are assigned to log directories."""
    return level >= FIRST_DIRECTORY_ASSIGNMENT


def supports_cordoned_directories(level: int) -> bool:
    """KIP-1066: log directories that get no new partitions."""
    return level >= _CORDONED_LOG_DIRECTORIES


def bumps_epoch_on_isr_shrink(level: int) -> bool:
    """KAFKA-15021: until 3.6 every shrink of the in-sync replicas raised the leader epoch."""
    return level < _NO_EPOCH_BUMP_ON_ISR_SHRINK


def partition_record_version(level: int) -> int:
    """The version in which `PartitionRecord` and `PartitionChangeRecord` are written."""
    if level >= _ELIGIBLE_LEADER_REPLICAS:
        return 2
    return 1 if level >= FIRST_DIRECTORY_ASSIGNMENT else 0


def register_broker_record_version(level: int) -> int:
    """The version in which `RegisterBrokerRecord` is written."""
    if level >= _CORDONED_LOG_DIRECTORIES:
        return 4
    if level >= FIRST_DIRECTORY_ASSIGNMENT:
        return 3
    return 2 if level >= _MIGRATION else 1


def unsupported_features(finalized: dict[str, int]) -> list[str]:
    """A sentence for each finalised feature that this broker cannot serve; empty when it can."""
    reasons = []
    for name, level in sorted(finalized.items()):
        supported = SUPPORTED_FEATURES.get(name)
        if supported is None:
            if level > 0:
                reasons.append(f"{name} is finalised at {level}, and this version does not know it")
        elif level not in supported:
            reasons.append(
                f"{name} is finalised at {level}, outside {supported.min} to {supported.max}"
            )
    return reasons

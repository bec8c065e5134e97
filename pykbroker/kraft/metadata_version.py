"""The features of a cluster: the levels that this broker supports, and what each level changes.

`metadata.version` determines the versions of the records in the metadata log, and which kinds of
records and rules are in use. The other features switch behaviour of the brokers
(`transaction.version`), the controller (`eligible.leader.replicas.version`) or the quorum
(`kraft.version`). A feature that is not implemented here is not supported at all (level 0): this
broker must not serve a cluster that has finalised it, and an Apache controller rejects its
registration for the same reason.

Source of the levels: Kafka's `MetadataVersion.java`, `KRaftVersion.java`,
`TransactionVersion.java` and `EligibleLeaderReplicasVersion.java`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykbroker.values import NamedTuple

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

# Levels that introduced metadata which lower levels cannot express.
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
    """The levels of a feature that a node supports, inclusive."""

    min: int
    max: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self.min <= level <= self.max


# What a node of this version registers, in alphabetical order, which is the order on the wire.
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


# Every feature of Kafka 4.4. Those that are not implemented here are at level 0.
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
    """Return the name of a level as Kafka's tools print it, `4.4-IV2` for 33; the number of an
    unknown one.
    """
    return _NAMES.get(level, str(level))


def metadata_version_level(name: str) -> int | None:
    """Return the level of `3.9-IV0`, or the last level of a release (`3.9`,
    `3.9.1`); None if unknown.
    """
    segments = name.split(".")
    wanted = ".".join(segments[:2])
    levels = [
        level for level, known in _NAMES.items() if wanted in (known, known.partition("-")[0])
    ]
    return max(levels, default=None)


def metadata_version_names() -> list[str]:
    """Return every metadata.version that this version supports, oldest first."""
    return list(_NAMES.values())


def metadata_changes_between(lower: int, higher: int) -> bool:
    """Return whether a downgrade from level `higher` to level `lower` may lose metadata."""
    return any(lower < level <= higher for level in _METADATA_CHANGED)


def supports_controller_unregistration(level: int) -> bool:
    """Return whether a controller can be unregistered (KIP-1312)."""
    return level >= _CONTROLLER_UNREGISTRATION


def supports_transactions(level: int) -> bool:
    """Return whether several batches of records can take effect together (KIP-868)."""
    return level >= _TRANSACTIONS


def supports_controller_registration(level: int) -> bool:
    """Return whether controllers register in the log, as brokers do (KIP-919)."""
    return level >= _CONTROLLER_REGISTRATION


def supports_directory_assignment(level: int) -> bool:
    """Return whether partitions are assigned to log directories (KIP-858)."""
    return level >= FIRST_DIRECTORY_ASSIGNMENT


def supports_cordoned_directories(level: int) -> bool:
    """Return whether log directories can be excluded from new partitions (KIP-1066)."""
    return level >= _CORDONED_LOG_DIRECTORIES


def bumps_epoch_on_isr_shrink(level: int) -> bool:
    """Return whether every ISR shrink raises the leader epoch, as before 3.6-IV0 (KAFKA-15021)."""
    return level < _NO_EPOCH_BUMP_ON_ISR_SHRINK


def partition_record_version(level: int) -> int:
    """Return the version of `PartitionRecord` and `PartitionChangeRecord`."""
    if level >= _ELIGIBLE_LEADER_REPLICAS:
        return 2
    return 1 if level >= FIRST_DIRECTORY_ASSIGNMENT else 0


def register_broker_record_version(level: int) -> int:
    """Return the version of `RegisterBrokerRecord`."""
    if level >= _CORDONED_LOG_DIRECTORIES:
        return 4
    if level >= FIRST_DIRECTORY_ASSIGNMENT:
        return 3
    return 2 if level >= _MIGRATION else 1


def unsupported_features(finalized: Mapping[str, int]) -> list[str]:
    """Return a sentence for each finalised feature that this broker does not support."""
    reasons = []
    for name, level in sorted(finalized.items()):
        supported = SUPPORTED_FEATURES.get(name)
        if supported is None:
            if level > 0:
                reasons.append(f"{name} is finalised at {level}, but not supported here")
        elif level not in supported:
            reasons.append(
                f"{name} is finalised at {level}, outside {supported.min} to {supported.max}"
            )
    return reasons

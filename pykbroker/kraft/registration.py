"""The registrations of brokers and controllers in the metadata log. Immutable values.

Source: Kafka's `BrokerRegistration.java`, `ControllerRegistration.java`.
"""

from __future__ import annotations

from typing import Any, Final

from pykbroker.kraft.metadata_version import VersionRange, register_broker_record_version
from pykbroker.kraft.metadata_version import supports_cordoned_directories as cordons
from pykbroker.kraft.metadata_version import supports_directory_assignment as assigns
from pykbroker.kraft.partition_image import (
    LOST_DIRECTORY,
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
)
from pykbroker.protocol.messages.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from pykbroker.protocol.messages.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from pykbroker.values import NamedTuple

# SecurityProtocol.java: the protocol numbers in registration records.
SECURITY_PROTOCOL_IDS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class Listener(NamedTuple):
    """The address of a node on one of its listeners."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class BrokerRegistration(NamedTuple):
    """A broker: its identity, its listeners, whether it may lead."""

    id: int
    epoch: int
    incarnation_id: bytes
    listeners: dict[str, Listener]
    features: dict[str, VersionRange]
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    directories: tuple[bytes, ...] = ()
    cordoned_directories: tuple[bytes, ...] | None = None
    is_migrating_zk_broker: bool = False

    @classmethod
    def from_record(cls, record: Any) -> BrokerRegistration:
        """Create from a `RegisterBrokerRecord`."""
        cordoned = record.cordoned_log_dirs
        return cls(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            listeners=_listeners(record.end_points),
            features=_features(record.features),
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            directories=tuple(record.log_dirs),
            cordoned_directories=None if cordoned is None else tuple(cordoned),
            is_migrating_zk_broker=record.is_migrating_zk_broker,
        )

    def merge(self, record: Any) -> BrokerRegistration:
        """Return this broker after a `BrokerRegistrationChangeRecord`; 0 and
        absent fields change nothing.
        """
        changed = self
        if record.fenced:
            changed = changed._replace(fenced=record.fenced > 0)
        if record.in_controlled_shutdown > 0:
            changed = changed._replace(in_controlled_shutdown=True)
        if record.log_dirs:
            changed = changed._replace(directories=tuple(record.log_dirs))
        if record.cordoned_log_dirs is not None:
            changed = changed._replace(cordoned_directories=tuple(record.cordoned_log_dirs))
        return changed

    def to_record(self, metadata_version: int) -> tuple[Any, int]:
        """Return the `RegisterBrokerRecord` of this broker, and its version."""
        record = RegisterBrokerRecord(
            broker_id=self.id,
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=[
                BrokerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at[3])
                for at in self.listeners.values()
            ],
            features=[
                BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in self.features.items()
            ],
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
        )
        if assigns(metadata_version):
            record.log_dirs = list(self.directories)
        if cordons(metadata_version) and self.cordoned_directories is not None:
            record.cordoned_log_dirs = list(self.cordoned_directories)
        return record, register_broker_record_version(metadata_version)

    def has_online(self, directory: bytes) -> bool:
        """Return whether a replica in `directory` can be online. Unassigned and
        migrating ones can.
        """
        if directory in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY):
            return True
        if directory == LOST_DIRECTORY:
            return False
        return not self.directories or directory in self.directories

    @property
    def has_uncordoned_directories(self) -> bool:
        """Return whether new partitions may be placed here (KIP-1066)."""
        if not self.cordoned_directories:
            return True
        return any(directory not in self.cordoned_directories for directory in self.directories)

    @property
    def default_directory(self) -> bytes:
        """Return the directory of a new replica: the only one; of several, the broker chooses;
        without any (before KIP-858), it counts as migrating.
        """
        if not self.directories:
            return MIGRATING_DIRECTORY
        return self.directories[0] if len(self.directories) == 1 else UNASSIGNED_DIRECTORY


class ControllerRegistration(NamedTuple):
    """A controller of the quorum, as it registered (KIP-919)."""

    id: int
    incarnation_id: bytes
    listeners: dict[str, Listener]
    features: dict[str, VersionRange]
    zk_migration_ready: bool = False

    @classmethod
    def from_record(cls, record: Any) -> ControllerRegistration:
        """Create from a `RegisterControllerRecord`."""
        return cls(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            listeners=_listeners(record.end_points),
            features=_features(record.features),
            zk_migration_ready=record.zk_migration_ready,
        )

    def to_record(self) -> tuple[Any, int]:
        """Return the `RegisterControllerRecord` of this controller, and its version."""
        record = RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.zk_migration_ready,
            end_points=[
                ControllerEndpoint(
                    name=at.name, host=at.host, port=at.port, security_protocol=at[3]
                )
                for at in self.listeners.values()
            ],
            features=[
                ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in self.features.items()
            ],
        )
        return record, 0


def _listeners(end_points: Any) -> dict[str, Listener]:
    return {at.name: Listener(at.name, at.host, at.port, at.security_protocol) for at in end_points}


def _features(features: Any) -> dict[str, VersionRange]:
    return {
        feature.name: VersionRange(feature.min_supported_version, feature.max_supported_version)
        for feature in features
    }

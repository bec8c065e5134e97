"""One partition as described by the metadata log: replicas, leader, epochs.

An immutable value: each record creates a new one. `leader_epoch` increases with every
`PartitionChangeRecord` that names a leader (another one, the same one or none), `partition_epoch`
with every change.
Source: Kafka's `PartitionRegistration.java`, `DirectoryId.java`.
"""

from __future__ import annotations

from typing import Any, Final

from pykbroker.kraft.metadata_version import (
    partition_record_version,
    supports_directory_assignment,
)
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.values import NamedTuple

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2

# Directory ids with a special meaning; all below 100 are reserved.
MIGRATING_DIRECTORY: Final = bytes(16)
UNASSIGNED_DIRECTORY: Final = bytes(15) + b"\x01"
LOST_DIRECTORY: Final = bytes(15) + b"\x02"

RECOVERED: Final = 0
RECOVERING: Final = 1


def is_reserved_directory(directory: bytes) -> bool:
    """Return whether no real log directory may have this id."""
    return int.from_bytes(directory, "big") < 100


class PartitionImage(NamedTuple):
    """A partition at one moment. `directories` is parallel to `replicas`."""

    replicas: tuple[int, ...]
    directories: tuple[bytes, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = RECOVERED
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @classmethod
    def from_record(cls, record: Any) -> PartitionImage:
        """Create from a `PartitionRecord`."""
        replicas = tuple(record.replicas)
        return cls(
            replicas=replicas,
            directories=_as_many(record.directories, len(replicas)),
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            removing_replicas=tuple(record.removing_replicas),
            adding_replicas=tuple(record.adding_replicas),
            leader_recovery_state=record.leader_recovery_state,
            elr=tuple(record.eligible_leader_replicas or ()),
            last_known_elr=tuple(record.last_known_elr or ()),
        )

    def merge(self, record: Any) -> PartitionImage:
        """Return this partition after a `PartitionChangeRecord`: null, the leader -2 and the
        recovery state -1 leave a field unchanged. A leader, even the same one, raises the leader
        epoch.
        """
        replicas = self.replicas if record.replicas is None else tuple(record.replicas)
        directories = self.directories if record.directories is None else record.directories
        changed = record.leader != NO_LEADER_CHANGE
        recovery = record.leader_recovery_state
        removing, adding = record.removing_replicas, record.adding_replicas
        elr, last_known = record.eligible_leader_replicas, record.last_known_elr
        return PartitionImage(
            replicas=replicas,
            directories=_as_many(directories, len(replicas)),
            isr=self.isr if record.isr is None else tuple(record.isr),
            leader=record.leader if changed else self.leader,
            leader_epoch=self.leader_epoch + 1 if changed else self.leader_epoch,
            partition_epoch=self.partition_epoch + 1,
            removing_replicas=self.removing_replicas if removing is None else tuple(removing),
            adding_replicas=self.adding_replicas if adding is None else tuple(adding),
            leader_recovery_state=self.leader_recovery_state if recovery < 0 else recovery,
            elr=self.elr if elr is None else tuple(elr),
            last_known_elr=self.last_known_elr if last_known is None else tuple(last_known),
        )

    def without_eligible_leaders(self) -> PartitionImage:
        """Return this partition after a `ClearElrRecord` for it, which counts as a change."""
        return self._replace(elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)

    def to_record(
        self,
        topic_id: bytes,
        partition: int,
        metadata_version: int,
        *,
        has_eligible_leaders: bool = False,
    ) -> tuple[Any, int]:
        """Return the `PartitionRecord` of this partition, and the version to write it in.

        Without the feature (KIP-966), remaining eligible leaders are not written.
        """
        record = PartitionRecord(
            partition_id=partition,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
        )
        if supports_directory_assignment(metadata_version):
            record.directories = list(self.directories)
        if has_eligible_leaders and self.elr:
            record.eligible_leader_replicas = list(self.elr)
        if has_eligible_leaders and self.last_known_elr:
            record.last_known_elr = list(self.last_known_elr)
        return record, partition_record_version(metadata_version)

    def directory_of(self, broker_id: int) -> bytes:
        """Return the log directory of the replica on `broker_id`. Raises KeyError if that broker
        has no replica.
        """
        for replica, directory in zip(self.replicas, self.directories, strict=True):
            if replica == broker_id:
                return directory
        raise KeyError(broker_id)

    @property
    def preferred_leader(self) -> int:
        """The first replica, which should lead."""
        return self.replicas[0]


def _as_many(directories: Any, count: int) -> tuple[bytes, ...]:
    """Return one directory per replica. Records from before KIP-858 have none: all replicas count
    as migrating, however many there are now.
    """
    if any(directory != MIGRATING_DIRECTORY for directory in directories):
        return tuple(directories)
    return (MIGRATING_DIRECTORY,) * count

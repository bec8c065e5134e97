"""The record that changes one partition: its leader, in-sync replicas, replicas, directories.

In:  the partition as it is, and the targets: what shall differ.
Out: one `PartitionChangeRecord`, or None when nothing differs.
Invariants: a leader is always in the in-sync replicas, unless an unclean election was allowed; the
last in-sync replica stays in the set when its broker goes (the partition waits for it). A
reassignment completes with the first change after which its new replicas are in sync.
Source: Kafka's `PartitionChangeBuilder.java`, `PartitionReassignmentReplicas.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_version import (
    bumps_epoch_on_isr_shrink,
    partition_record_version,
    supports_directory_assignment,
)
from pykbroker.kraft.partition_image import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    PartitionImage,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

# What `elect_leader` may do when the leader has to change.
ONLINE: Final = "online"
PREFERRED: Final = "preferred"
UNCLEAN: Final = "unclean"


class Targets(NamedTuple):
    """What a partition shall become; None leaves that part as it is.

    `directories` places replicas by broker id. A replica that is in neither `directories` nor the
    partition gets the default directory of its broker.
    """

    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    directories: Mapping[int, bytes] = {}
    leader_recovery_state: int | None = None


def elect_leader(
    partition: PartitionImage,
    isr: tuple[int, ...],
    election: str,
    acceptable: Callable[[int], bool],
    replicas: tuple[int, ...] | None = None,
) -> tuple[int, bool]:
    """Return the new leader, and whether it was taken from outside the in-sync replicas.

    `replicas` are the replicas after the change, when they change with the leader.
    """
    replicas = replicas or partition.replicas
    if election == PREFERRED:
        order = (replicas[0], partition.leader, *replicas)
    else:
        order = (partition.leader, *replicas)
    for replica in order:
        if replica in isr and acceptable(replica):
            return replica, False
    if election == UNCLEAN:
        for replica in replicas:
            if acceptable(replica):
                return replica, True
    return NO_LEADER, False


def complete_reassignment(
    replicas: tuple[int, ...],
    isr: tuple[int, ...],
    removing: tuple[int, ...],
    adding: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the final replicas and in-sync replicas; None while the reassignment has to go on.

    It waits for every added replica to be in sync. Where the replication factor shrinks it waits
    for every remaining replica, so that completing never leaves a smaller in-sync set than needed.
    """
    if not removing and not adding:
        return None
    final_isr = tuple(replica for replica in isr if replica not in removing)
    final_replicas = tuple(replica for replica in replicas if replica not in removing)
    if removing and not (final_isr and final_replicas):
        return None
    if not set(adding) <= set(final_isr):
        return None
    if len(adding) < len(removing) and not set(final_replicas) <= set(final_isr):
        return None
    return final_replicas, final_isr


def change_partition(
    topic_id: bytes,
    number: int,
    partition: PartitionImage,
    targets: Targets,
    *,
    acceptable: Callable[[int], bool],
    default_directory: Callable[[int], bytes],
    metadata_version: int,
    election: str = ONLINE,
) -> MetadataRecord | None:
    """The record that gives the partition these targets and a leader; None when nothing changes."""
    unchanged = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    record = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    isr = partition.isr if targets.isr is None else targets.isr
    replicas = partition.replicas if targets.replicas is None else targets.replicas
    removing = partition.removing_replicas if targets.removing is None else targets.removing
    adding = partition.adding_replicas if targets.adding is None else targets.adding
    completed = complete_reassignment(replicas, isr, removing, adding)
    if completed is not None:
        replicas, isr = completed
        removing = adding = ()
    _elect(record, partition, isr, replicas, election, acceptable)
    recovery = targets.leader_recovery_state
    if recovery is not None and recovery != partition.leader_recovery_state:
        record.leader_recovery_state = recovery
    if record.leader == NO_LEADER_CHANGE and not set(partition.replicas) <= set(replicas):
        record.leader = partition.leader  # raises the leader epoch: a replica goes
    # Eligible leader replicas (KIP-966) are not finalised here: the record clears what is left.
    if partition.elr:
        record.eligible_leader_replicas = []
    if record.isr is None and isr and isr != partition.isr:
        record.isr = list(isr)
    if (
        record.leader == NO_LEADER_CHANGE
        and record.isr is not None
        and bumps_epoch_on_isr_shrink(metadata_version)
        and not set(partition.isr) <= set(record.isr)
    ):
        record.leader = partition.leader
    if supports_directory_assignment(metadata_version):
        known = dict(zip(partition.replicas, partition.directories, strict=True))
        known |= targets.directories
        directories = tuple(
            known[replica] if replica in known else default_directory(replica)
            for replica in replicas
        )
        if directories != partition.directories:
            record.directories = list(directories)
    if replicas != partition.replicas:
        record.replicas = list(replicas)
    if removing != partition.removing_replicas:
        record.removing_replicas = list(removing)
    if adding != partition.adding_replicas:
        record.adding_replicas = list(adding)
    if record == unchanged:
        return None
    return MetadataRecord(record, partition_record_version(metadata_version))


def _elect(
    record: PartitionChangeRecord,
    partition: PartitionImage,
    isr: tuple[int, ...],
    replicas: tuple[int, ...],
    election: str,
    acceptable: Callable[[int], bool],
) -> None:
    leader, unclean = elect_leader(partition, isr, election, acceptable, replicas)
    if leader == partition.leader:
        return
    record.leader = leader
    if unclean:
        record.isr = [leader]
        if partition.leader_recovery_state != RECOVERING:
            record.leader_recovery_state = RECOVERING

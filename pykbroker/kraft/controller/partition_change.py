"""Builds the record that changes one partition: leader, in-sync replicas, replicas, directories.

In:  the current partition, and the targets: what is to change.
Out: one `PartitionChangeRecord`, or None if nothing changes.
Invariants: a new leader was in sync, or eligible while no replica was, or the last known one (see
below), unless an unclean election was allowed; after its election it is in sync in any case. A
reassignment completes with the first change after which its new replicas are in sync (if there are
fewer than before: all that remain).

Without eligible leader replicas, the last in-sync replica stays in the set when its broker leaves,
and the partition waits for it unless an unclean election is allowed. With them (KIP-966) the high
watermark does not move below min.insync.replicas, so a replica that leaves a set that small still
has all committed records::

    min.insync.replicas 2       isr       elr      leader   last known leader
    all three in sync           1 2 3              1
    3 lags, then 2 fails        1         2        1
    1 fails                               1 2      none     1
    2 comes back                2         1        2

A replica stops being eligible when it or enough others are in sync, when a reassignment removes it,
when another leader is elected that may lack records, when min.insync.replicas changes, when the
feature is switched off, or when its broker returns from an unclean shutdown, which may have lost
records, or without the log directory.
If none is left, the last known leader may lead, whatever the topic says of unclean elections, and
then has to recover.
Source: Kafka's `PartitionChangeBuilder.java`, `PartitionReassignmentReplicas.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

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
from pykbroker.values import NamedTuple

# What `elect_leader` may do if the leader has to change.
ONLINE: Final = "online"
PREFERRED: Final = "preferred"
UNCLEAN: Final = "unclean"


class Rules(NamedTuple):
    """The settings of the cluster and the topic that apply to a partition."""

    metadata_version: int
    min_isr: int = 1
    has_eligible_leaders: bool = False


class Targets(NamedTuple):
    """The target state of a partition; None leaves that part unchanged.

    `directories` places replicas by broker id. A replica that is in neither `directories` nor the
    partition receives the default directory of its broker. `unclean_shutdown` is a broker that may
    have lost records, if any.
    """

    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    directories: Mapping[int, bytes] = {}
    leader_recovery_state: int | None = None
    unclean_shutdown: int | None = None


def elect_leader(
    partition: PartitionImage,
    isr: tuple[int, ...],
    election: str,
    acceptable: Callable[[int], bool],
    replicas: tuple[int, ...] | None = None,
    elr: tuple[int, ...] = (),
    *,
    may_be_last_known: bool = False,
) -> tuple[int, bool]:
    """Return the new leader (NO_LEADER if none is possible), and whether it may lack committed
    records.

    `replicas` are the replicas after the change, if they change with the leader. Eligible leader
    replicas `elr` can be elected while no replica is in sync; `may_be_last_known` allows the last
    known leader if there are none of these either.
    """
    replicas = replicas or partition.replicas
    candidates = isr or elr
    if election == PREFERRED:
        order = (replicas[0], partition.leader, *replicas)
    else:
        order = (partition.leader, *replicas)
    for replica in order:
        if replica in candidates and acceptable(replica):
            return replica, False
    last_known = partition.last_known_elr
    if (
        may_be_last_known
        and not candidates
        and len(last_known) == 1  # with several, it is unknown which one led
        and last_known[0] in replicas  # a reassignment may have been cancelled since
        and acceptable(last_known[0])
    ):
        return last_known[0], True
    if election == UNCLEAN:
        for replica in replicas:
            if acceptable(replica):
                return replica, True
    return NO_LEADER, False


def eligible_leaders(
    partition: PartitionImage,
    isr: tuple[int, ...],
    unclean_shutdown: int | None,
    rules: Rules,
    replicas: tuple[int, ...],
) -> tuple[int, ...]:
    """Return the replicas that have all committed records without being in the new `isr`; none if
    that has `rules.min_isr` replicas or more; those of the partition, unchanged, if the feature is
    not finalised.

    The broker `unclean_shutdown` is not eligible, nor is a removed replica (`replicas` are those
    after the change). Kafka's controller keeps the latter, and fails when it is assigned again.
    """
    if not rules.has_eligible_leaders:
        return partition.elr
    if len(isr) >= rules.min_isr:
        return ()
    were_in_sync = {*partition.elr, *partition.isr}
    lost = () if unclean_shutdown is None else (unclean_shutdown,)
    stay = set(partition.replicas).intersection(replicas)
    return tuple(sorted(were_in_sync.difference(isr, lost) & stay))


def complete_reassignment(
    replicas: tuple[int, ...],
    isr: tuple[int, ...],
    removing: tuple[int, ...],
    adding: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the final replicas and in-sync replicas; None while the reassignment is incomplete, or
    if there is none.

    It waits for every added replica to be in sync. If the replication factor shrinks, it waits for
    every remaining replica.
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
    rules: Rules,
    election: str = ONLINE,
) -> MetadataRecord | None:
    """Return the record that applies the targets and elects a leader; None if nothing changes."""
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
    elr = eligible_leaders(partition, isr, targets.unclean_shutdown, rules, replicas)
    isr, elr = _elect(record, partition, isr, elr, replicas, election, acceptable, rules)
    recovery = targets.leader_recovery_state
    if recovery is not None and recovery != partition.leader_recovery_state:
        record.leader_recovery_state = recovery
    if record.leader == NO_LEADER_CHANGE and not set(partition.replicas) <= set(replicas):
        record.leader = partition.leader  # raises the leader epoch: a replica is removed
    if elr != partition.elr:
        record.eligible_leader_replicas = list(elr)
    if record.isr is None and isr != partition.isr and (isr or rules.has_eligible_leaders):
        record.isr = list(isr)
    if (
        record.leader == NO_LEADER_CHANGE
        and record.isr is not None
        and bumps_epoch_on_isr_shrink(rules.metadata_version)
        and not set(partition.isr) <= set(record.isr)
    ):
        record.leader = partition.leader
    if rules.has_eligible_leaders:
        _note_last_known_leader(record, partition)
    if supports_directory_assignment(rules.metadata_version):
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
    return MetadataRecord(record, partition_record_version(rules.metadata_version))


def _elect(
    record: PartitionChangeRecord,
    partition: PartitionImage,
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    replicas: tuple[int, ...],
    election: str,
    acceptable: Callable[[int], bool],
    rules: Rules,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Record a new leader, with an unclean one also the in-sync replicas; return the in-sync (if
    they were not recorded) and the eligible replicas after the election.
    """
    leader, unclean = elect_leader(
        partition,
        isr,
        election,
        acceptable,
        replicas,
        elr,
        may_be_last_known=rules.has_eligible_leaders,
    )
    # Without the feature, eligible replicas are left over from when it was finalised.
    elr_after = elr if rules.has_eligible_leaders else ()
    if leader != partition.leader:
        record.leader = leader
        if unclean:
            record.isr = [leader]
            elr_after = ()
            if partition.leader_recovery_state != RECOVERING:
                record.leader_recovery_state = RECOVERING
        elif leader in elr:
            isr = (leader,)
            elr_after = tuple(replica for replica in elr_after if replica != leader)
    return isr, elr_after


def _note_last_known_leader(record: PartitionChangeRecord, partition: PartitionImage) -> None:
    """Record the last leader while the partition has none, and clear it once there is one again."""
    if record.leader == NO_LEADER and not partition.last_known_elr:
        record.last_known_elr = [partition.leader]
    elif record.leader >= 0 and partition.last_known_elr:
        record.last_known_elr = []

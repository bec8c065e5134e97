"""Leaders and in-sync replicas: who leads a partition when brokers come and go.

In:  the controller's state and which broker is joining, leaving or has crashed.
Out: `PartitionChangeRecord`s, only where something changes.
Invariants: a leader is always in the in-sync replicas, unless an unclean election was allowed; the
last in-sync replica stays in the set when its broker goes (the partition waits for it).
Source: Kafka's `PartitionChangeBuilder.java`, `ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.metadata_version import bumps_epoch_on_isr_shrink, partition_record_version
from pykbroker.kraft.partition_image import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    PartitionImage,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

# What `elect_leader` may do when the leader has to change.
ONLINE, PREFERRED, UNCLEAN = "online", "preferred", "unclean"


def elect_leader(
    partition: PartitionImage,
    isr: tuple[int, ...],
    election: str,
    acceptable: Callable[[int], bool],
) -> tuple[int, bool]:
    """The leader to be, and whether it was taken from outside the in-sync replicas."""
    if election == PREFERRED:
        order = (partition.preferred_leader, partition.leader, *partition.replicas)
    else:
        order = (partition.leader, *partition.replicas)
    for replica in order:
        if replica in isr and acceptable(replica):
            return replica, False
    if election == UNCLEAN:
        for replica in partition.replicas:
            if acceptable(replica):
                return replica, True
    return NO_LEADER, False


def change_partition(
    topic_id: bytes,
    number: int,
    partition: PartitionImage,
    *,
    isr: tuple[int, ...],
    acceptable: Callable[[int], bool],
    metadata_version: int,
    election: str = ONLINE,
) -> MetadataRecord | None:
    """The record that gives the partition this `isr` and a leader; None when all stays as it is."""
    record = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    leader, unclean = elect_leader(partition, isr, election, acceptable)
    if leader != partition.leader:
        record.leader = leader
        if unclean:
            record.isr = [leader]
            if partition.leader_recovery_state != RECOVERING:
                record.leader_recovery_state = RECOVERING
    # Eligible leader replicas (KIP-966) are not finalised here: what is left of them goes away.
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
    if record.leader == NO_LEADER_CHANGE and record.isr is None and not partition.elr:
        return None
    return MetadataRecord(record, partition_record_version(metadata_version))


def leader_and_isr_updates(
    state: ControllerState,
    partitions: Iterable[tuple[TopicImage, int, PartitionImage]],
    *,
    remove: int | None = None,
    add: int | None = None,
) -> list[MetadataRecord]:
    """Records for `partitions` after the broker `remove` went or the broker `add` came.

    While the records are made, the state still shows the broker as it was before: hence the names.
    """

    def acceptable(broker: int) -> bool:
        return broker != remove and (broker == add or state.is_active(broker))

    records = []
    for topic, number, partition in partitions:
        isr = tuple(replica for replica in partition.isr if replica != remove)
        record = change_partition(
            topic.id,
            number,
            partition,
            isr=isr,
            acceptable=acceptable,
            metadata_version=state.metadata_version,
            election=UNCLEAN if state.elects_unclean(topic.name) else ONLINE,
        )
        if record is not None:
            records.append(record)
    return records


def broker_goes(state: ControllerState, broker_id: int) -> list[MetadataRecord]:
    """Leaders and in-sync replicas without `broker_id`."""
    affected = (entry for entry in state.partitions() if broker_id in entry[2].isr)
    return leader_and_isr_updates(state, affected, remove=broker_id)


def broker_comes(state: ControllerState, broker_id: int) -> list[MetadataRecord]:
    """Leaders for the partitions that have none and that `broker_id` may lead."""
    affected = (entry for entry in state.partitions() if entry[2].leader == NO_LEADER)
    return leader_and_isr_updates(state, affected, add=broker_id)


def directory_goes(
    state: ControllerState, broker_id: int, directories: set[bytes]
) -> list[MetadataRecord]:
    """Leaders and in-sync replicas without the replicas in these log directories of a broker."""

    def is_lost(partition: PartitionImage) -> bool:
        if broker_id not in partition.isr:
            return False
        return partition.directory_of(broker_id) in directories

    affected = (entry for entry in state.partitions() if is_lost(entry[2]))
    return leader_and_isr_updates(state, affected, remove=broker_id)

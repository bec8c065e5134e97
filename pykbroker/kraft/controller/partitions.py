"""Leaders and in-sync replicas: who leads a partition when brokers come and go.

In:  the controller's state and which broker is joining, leaving or has crashed.
Out: `PartitionChangeRecord`s, only where something changes (`partition_change.py`).
A replica in a log directory that is offline cannot lead, whether the directory failed while its
broker ran or was missing from the broker's registration.
Source: Kafka's `ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.controller.partition_change import (
    ONLINE,
    UNCLEAN,
    Targets,
    change_partition,
)
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage


def found_partition(
    state: ControllerState, name: str, number: int
) -> tuple[TopicImage, PartitionImage] | None:
    """The topic and the partition of these names; None when there is no such partition."""
    topic = state.image.topics_by_name.get(name)
    partition = None if topic is None else topic.partitions.get(number)
    return None if topic is None or partition is None else (topic, partition)


def leader_acceptor(
    state: ControllerState,
    partition: PartitionImage,
    *,
    is_candidate: Callable[[int], bool] | None = None,
    directories: Mapping[int, bytes] | None = None,
    offline: frozenset[bytes] = frozenset(),
) -> Callable[[int], bool]:
    """Return the test whether a broker may lead `partition`: active, its log directory online.

    `is_candidate` replaces the test whether the broker is active. `directories` are those of
    replicas that the same record moves; `offline` those that are reported with the same request.
    """
    is_candidate = is_candidate or state.is_active
    moved = directories or {}

    def acceptable(broker_id: int) -> bool:
        broker = state.broker(broker_id)
        if broker is None or not is_candidate(broker_id):
            return False
        directory = moved.get(broker_id) or partition.directory_of(broker_id)
        return directory not in offline and broker.has_online(directory)

    return acceptable


def leader_and_isr_updates(
    state: ControllerState,
    partitions: Iterable[tuple[TopicImage, int, PartitionImage]],
    *,
    remove: int | None = None,
    add: int | None = None,
    offline: frozenset[bytes] = frozenset(),
) -> list[MetadataRecord]:
    """Records for `partitions` after the broker `remove` went or the broker `add` came.

    While the records are made, the state still shows the broker as it was before: hence the names.
    `offline` are log directories that the same request reports as failed.
    """

    def is_candidate(broker: int) -> bool:
        return broker != remove and (broker == add or state.is_active(broker))

    records = []
    for topic, number, partition in partitions:
        isr = tuple(replica for replica in partition.isr if replica != remove)
        record = change_partition(
            topic.id,
            number,
            partition,
            Targets(isr=isr),
            acceptable=leader_acceptor(
                state, partition, is_candidate=is_candidate, offline=offline
            ),
            default_directory=state.default_directory,
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


def broker_comes(
    state: ControllerState, broker_id: int, offline: frozenset[bytes] = frozenset()
) -> list[MetadataRecord]:
    """Leaders for the partitions that have none and that `broker_id` may lead."""
    affected = (entry for entry in state.partitions() if entry[2].leader == NO_LEADER)
    return leader_and_isr_updates(state, affected, add=broker_id, offline=offline)


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

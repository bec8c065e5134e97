"""Leaders and in-sync replicas: elections when brokers or log directories join, leave or fail.

Out: `PartitionChangeRecord`s for the partitions that change (`partition_change.py`).
A replica in an offline log directory cannot lead, whether the directory failed while its broker was
running or was missing from the broker's registration.
Source: Kafka's `ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from pykbroker.decision import MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.kraft.controller.partition_change import (
    ONLINE,
    UNCLEAN,
    Targets,
    change_partition,
)
from pykbroker.kraft.controller.partition_index import Place
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.partition_image import PartitionImage

PlacedPartition = tuple[TopicImage, int, PartitionImage]
"""A partition, with its topic and its number."""


def found_partition(
    state: ControllerState, name: str, number: int
) -> tuple[TopicImage, PartitionImage] | None:
    """Return the topic and the partition; None if there is no such partition."""
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
    """Return a predicate: may a broker lead `partition`, being active with
    its log directory online?

    `is_candidate` replaces the test whether the broker is active. `directories` are those of
    replicas moved by the same record; `offline` those reported with the same request.
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


def changed_partition(
    state: ControllerState,
    topic: TopicImage,
    number: int,
    partition: PartitionImage,
    targets: Targets,
    *,
    acceptable: Callable[[int], bool] | None = None,
    election: str = ONLINE,
) -> MetadataRecord | None:
    """Return the record that applies these targets; None if nothing changes.

    `acceptable` decides which brokers may lead it; the default is `leader_acceptor`.
    """
    return change_partition(
        topic.id,
        number,
        partition,
        targets,
        acceptable=acceptable or leader_acceptor(state, partition),
        default_directory=state.default_directory,
        rules=state.rules(topic),
        election=election,
    )


def election_of(state: ControllerState, topic: TopicImage) -> str:
    """Return the kind of election that keeps a partition of this topic online."""
    return UNCLEAN if state.elects_unclean(topic.name) else ONLINE


def leader_and_isr_updates(
    state: ControllerState,
    partitions: Iterable[PlacedPartition],
    *,
    remove: int | None = None,
    add: int | None = None,
    unclean_shutdown: int | None = None,
    offline: frozenset[bytes] = frozenset(),
) -> list[MetadataRecord]:
    """Return records for `partitions` after the broker `remove` left or the broker `add` joined.

    While the records are built, the state still shows the broker as it was before.
    `unclean_shutdown` is a broker that stopped without closing its logs and may have lost records.
    `offline` are log directories that the same request reports as failed.
    """
    gone = (remove, unclean_shutdown)

    def is_candidate(broker: int) -> bool:
        return broker not in gone and (broker == add or state.is_active(broker))

    records = []
    for topic, number, partition in partitions:
        state.breathe()
        isr = tuple(replica for replica in partition.isr if replica not in gone)
        record = changed_partition(
            state,
            topic,
            number,
            partition,
            Targets(isr=isr, unclean_shutdown=unclean_shutdown),
            acceptable=leader_acceptor(
                state, partition, is_candidate=is_candidate, offline=offline
            ),
            election=election_of(state, topic),
        )
        if record is not None:
            records.append(record)
    return records


def broker_goes(state: ControllerState, broker_id: int) -> list[MetadataRecord]:
    """Return the changes that remove `broker_id` from leaders and in-sync replicas; it may stay the
    last in-sync replica (`partition_change.py`).
    """
    affected = state.at(state.index.in_sync(broker_id))
    return leader_and_isr_updates(state, affected, remove=broker_id)


def broker_restarts(
    state: ControllerState, broker_id: int, *, is_clean: bool, has_online: Callable[[bytes], bool]
) -> list[MetadataRecord]:
    """Return the changes that remove the previous incarnation of `broker_id`.

    After an unclean shutdown it is also no longer eligible (KIP-966). Nor is a replica whose log
    directory the new incarnation does not have: the broker replaces its log by an empty one.
    """
    if not state.has_eligible_leaders:
        return broker_goes(state, broker_id)

    def replicas(places: Iterable[Place], *, are_kept: bool) -> Iterator[PlacedPartition]:
        for entry in paced(state.at(places), state.breathe):
            partition = entry[2]
            # Kafka's controller keeps removed replicas eligible; these have no directory.
            is_kept = (
                is_clean
                and broker_id in partition.replicas
                and has_online(partition.directory_of(broker_id))
            )
            if is_kept is are_kept:
                yield entry

    index = state.index
    kept = replicas(index.in_sync(broker_id), are_kept=True)
    lost = replicas(chain(index.in_sync(broker_id), index.eligible(broker_id)), are_kept=False)
    return [
        *leader_and_isr_updates(state, kept, remove=broker_id),
        *leader_and_isr_updates(state, lost, unclean_shutdown=broker_id),
    ]


def broker_leaves(state: ControllerState, broker_id: int) -> list[MetadataRecord]:
    """Return the changes that remove an unregistered broker from leaders and in-sync replicas. It
    stays an assigned replica, and may stay an eligible one.
    """
    places = chain(state.index.in_sync(broker_id), state.index.eligible(broker_id))
    return leader_and_isr_updates(state, state.at(places), remove=broker_id)


def broker_comes(
    state: ControllerState, broker_id: int, offline: frozenset[bytes] = frozenset()
) -> list[MetadataRecord]:
    """Return the changes that give a leader to partitions without one, now that `broker_id` may
    lead.
    """
    affected = state.at(state.index.leaderless())
    return leader_and_isr_updates(state, affected, add=broker_id, offline=offline)


def directory_goes(
    state: ControllerState, broker_id: int, directories: set[bytes]
) -> list[MetadataRecord]:
    """Return the changes that remove the replicas in these log directories of a broker from leaders
    and in-sync replicas (see `broker_goes`).
    """
    affected = (
        entry
        for entry in state.at(state.index.in_sync(broker_id))
        if entry[2].directory_of(broker_id) in directories
    )
    return leader_and_isr_updates(state, affected, remove=broker_id)

"""New partitions: placed by the controller, or with replicas assigned by the client.

Source: Kafka's `ReplicationControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.placement import place_replicas
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.partition_image import PartitionImage


def placed_partitions(
    state: ControllerState, first: int, count: int, factor: int
) -> dict[int, PartitionImage]:
    """Return `count` partitions from number `first`, on brokers chosen by `place_replicas`, whose
    KafkaError is raised.
    """
    brokers = state.image.brokers.values()
    placed = place_replicas(brokers, count, factor, state.random, state.breathe)
    made: dict[int, PartitionImage] = {}
    for number, replicas in enumerate(paced(placed, state.breathe), first):
        isr = tuple(broker for broker in replicas if state.is_active(broker))
        made[number] = _new_partition(state, replicas, isr)
    return made


def manual_partitions(
    state: ControllerState,
    assignments: Sequence[Any],
    *,
    first: int | None = None,
    factor: int | None = None,
) -> dict[int, PartitionImage]:
    """Return partitions on the brokers chosen by the client. Raises KafkaError if they cannot be
    there.

    Without `first` each assignment names its partition (CreateTopics); with it they are numbered
    from there (CreatePartitions). All have `factor` replicas, or as many as the first.
    """
    made: dict[int, PartitionImage] = {}
    for index, assignment in enumerate(paced(assignments, state.breathe)):
        number = assignment.partition_index if first is None else first + index
        if number in made:
            raise invalid_assignment(
                f"Found multiple manual partition assignments for partition {number}"
            )
        replicas = list(assignment.broker_ids)
        check_replicas(state, replicas, factor)
        factor = len(replicas)
        isr = tuple(broker for broker in replicas if state.is_active(broker))
        if not isr:
            raise invalid_assignment(
                "All brokers specified in the manual partition assignment for partition "
                f"{number} are fenced or in controlled shutdown."
            )
        made[number] = _new_partition(state, replicas, isr)
    if first is None and any(number not in made for number in range(len(made))):
        raise invalid_assignment("partitions should be a consecutive 0-based integer sequence")
    return dict(sorted(made.items()))


def _new_partition(
    state: ControllerState, replicas: list[int], isr: tuple[int, ...]
) -> PartitionImage:
    return PartitionImage(
        replicas=tuple(replicas),
        directories=tuple(state.default_directory(broker) for broker in replicas),
        isr=isr,
        leader=isr[0],
    )


def check_replicas(state: ControllerState, replicas: Sequence[int], factor: int | None) -> None:
    """Raise KafkaError unless these can be the replicas of a partition, `factor`
    of them if given.
    """
    if not replicas:
        raise invalid_assignment("The manual partition assignment includes an empty replica list.")
    previous: int | None = None
    for broker_id in sorted(replicas):
        broker = state.broker(broker_id)
        if broker is None:
            raise invalid_assignment(
                f"The manual partition assignment includes broker {broker_id}, but no such broker "
                "is registered."
            )
        if not broker.has_uncordoned_directories:
            raise invalid_assignment(
                f"The manual partition assignment includes broker {broker_id}, but all its log "
                "directories are cordoned."
            )
        if broker_id == previous:
            raise invalid_assignment(
                f"The manual partition assignment includes the broker {previous} more than once."
            )
        previous = broker_id
    if factor is not None and len(replicas) != factor:
        raise invalid_assignment(
            f"The manual partition assignment includes a partition with {len(replicas)} "
            "replica(s), but this is not consistent with previous partitions, which have "
            f"{factor} replica(s)."
        )


def invalid_assignment(message: str) -> KafkaError:
    """Return the error for an invalid assignment."""
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)

"""Reassignment of partitions to other brokers (KIP-455): begin, cancel, list.

    replicas [1, 2]            the client asks for [2, 3]
    replicas [2, 3, 1]         adding [3], removing [1]: 3 fetches, 1 still serves
    replicas [2, 3]            once 3 is in sync (partition_change.complete_reassignment)

A reassignment that adds no replica completes with the record that begins it, if all that remain are
in sync. A second request for a partition replaces the first, but a list that it would leave empty
stays as it was; null replicas cancel the reassignment.
Source: Kafka's `ReplicationControlManager.java`, `PartitionReassignmentReplicas.java`,
`PartitionReassignmentRevert.java`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.kraft.controller.assignment import check_replicas, invalid_assignment
from pykbroker.kraft.controller.batch_size import check_batch_size
from pykbroker.kraft.controller.partition_change import Targets
from pykbroker.kraft.controller.partitions import (
    changed_partition,
    election_of,
    found_partition,
)
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.protocol.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from pykbroker.protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def alter_partition_reassignments(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an AlterPartitionReassignmentsRequest; each partition has its own result."""
    may_change_factor = request.allow_replication_factor_change
    records: list[MetadataRecord] = []
    reply = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=may_change_factor, error_message=None
    )
    for topic in paced(request.topics, state.breathe):
        result = ReassignableTopicResponse(name=topic.name)
        reply.responses.append(result)
        for asked in paced(topic.partitions, state.breathe):
            answer = ReassignablePartitionResponse(
                partition_index=asked.partition_index, error_message=None
            )
            result.partitions.append(answer)
            try:
                record = _alter(state, topic.name, asked, may_change_factor)
                if record is not None:
                    check_batch_size(len(records) + 1)
                    records.append(record)
            except KafkaError as refusal:
                answer.error_code = refusal.code
                answer.error_message = message_beyond(refusal.code, refusal.message)
    return Decision(records=records, reply=reply)


def _alter(
    state: ControllerState, name: str, asked: Any, may_change_factor: bool
) -> MetadataRecord | None:
    number = asked.partition_index
    if name not in state.image.topics_by_name:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}."
        )
    found = found_partition(state, name, number)
    if found is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{number}."
        )
    topic, partition = found
    if asked.replicas is None:
        return _cancel(state, topic, number, partition)
    return _reassign(state, topic, number, partition, asked.replicas, may_change_factor)


def is_reassigning(partition: PartitionImage) -> bool:
    """Return whether a reassignment of this partition is in progress."""
    return bool(partition.adding_replicas or partition.removing_replicas)


def _cancel(
    state: ControllerState, topic: TopicImage, number: int, partition: PartitionImage
) -> MetadataRecord | None:
    """Return to the former replicas, without those that were to be added."""
    if not is_reassigning(partition):
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    adding = partition.adding_replicas
    replicas = tuple(replica for replica in partition.replicas if replica not in adding)
    isr = tuple(replica for replica in partition.isr if replica not in adding)
    if not replicas:
        raise invalid_assignment(
            "Invalid replica assignment: addingReplicas contains all replicas."
        )
    if not isr:
        # Only added replicas are in sync: the first of the others would lead without all records.
        if not state.elects_unclean(topic.name):
            raise invalid_assignment(
                f"Unable to revert partition assignment for {topic.name}:{number} because it would "
                "require an unclean leader election."
            )
        isr = replicas[:1]
    return changed_partition(
        state,
        topic,
        number,
        partition,
        Targets(isr=isr, replicas=replicas, removing=(), adding=()),
        election=election_of(state, topic),
    )


def _reassign(
    state: ControllerState,
    topic: TopicImage,
    number: int,
    partition: PartitionImage,
    target: Sequence[int],
    may_change_factor: bool,
) -> MetadataRecord | None:
    check_replicas(state, target, None)
    if not may_change_factor:
        _check_factor(partition, target)
    current = partition.replicas
    removing = tuple(sorted(set(current) - set(target)))
    adding = tuple(sorted(set(target) - set(current)))
    return changed_partition(
        state,
        topic,
        number,
        partition,
        Targets(
            replicas=(*target, *removing),
            removing=removing or None,
            adding=adding or None,
        ),
    )


def _check_factor(partition: PartitionImage, target: Sequence[int]) -> None:
    """Check the replication factor, if the caller does not allow it to change (KIP-860)."""
    stays = set(partition.replicas) - set(partition.removing_replicas)
    if len(stays) != len(target):
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {len(stays)} to {len(target)}",
        )


def list_partition_reassignments(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide a ListPartitionReassignmentsRequest: those in progress, of all
    topics (null) or some.
    """
    asked: Iterable[tuple[TopicImage | None, Iterable[int]]]
    if request.topics is None:
        asked = ((topic, topic.partitions) for topic in state.image.topics_by_name.values())
    else:
        by_name = state.image.topics_by_name
        asked = ((by_name.get(topic.name), topic.partition_indexes) for topic in request.topics)
    reply = ListPartitionReassignmentsResponse(error_message=None)
    for topic, numbers in paced(asked, state.breathe):
        if topic is None:
            continue
        ongoing = [
            OngoingPartitionReassignment(
                partition_index=number,
                replicas=list(partition.replicas),
                adding_replicas=list(partition.adding_replicas),
                removing_replicas=list(partition.removing_replicas),
            )
            for number in paced(numbers, state.breathe)
            if (partition := topic.partitions.get(number)) is not None and is_reassigning(partition)
        ]
        if ongoing:
            reply.topics.append(OngoingTopicReassignment(name=topic.name, partitions=ongoing))
    return Decision(reply=reply)

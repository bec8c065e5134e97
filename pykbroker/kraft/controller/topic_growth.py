"""Adding partitions to topics.

In:  a CreatePartitions request.
Out: a decision with the response; each topic succeeds or fails by itself, and all successes are
written in one atomic batch.
Source: Kafka's `ReplicationControlManager.java`, `ControllerApis.scala` (duplicates).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.assignment import manual_partitions, placed_partitions
from pykbroker.kraft.controller.batch_size import MAX_PARTITIONS_PER_REQUEST, check_batch_size
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.protocol.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


def create_partitions(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide a CreatePartitionsRequest; the reply is a CreatePartitionsResponse."""
    counts = Counter(topic.name for topic in paced(request.topics, state.breathe))
    response = CreatePartitionsResponse()
    records: list[MetadataRecord] = []
    for name, count in paced(counts.items(), state.breathe):
        if count > 1:
            fault = KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            response.results.append(_not_grown(name, fault))
    for topic in paced(request.topics, state.breathe):
        if counts[topic.name] > 1:
            continue
        try:
            made = _add_partitions(state, topic)
            check_batch_size(len(records) + len(made))
            records += made
        except KafkaError as fault:
            response.results.append(_not_grown(topic.name, fault))
        else:
            response.results.append(CreatePartitionsTopicResult(name=topic.name))
    return Decision(records=[] if request.validate_only else records, reply=response)


def _not_grown(name: str, fault: KafkaError) -> CreatePartitionsTopicResult:
    # Kafka has no message for a missing topic here.
    unknown = fault.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return CreatePartitionsTopicResult(
        name=name, error_code=fault.code, error_message=None if unknown else fault.message
    )


def _add_partitions(state: ControllerState, asked: Any) -> list[MetadataRecord]:
    topic = state.image.topics_by_name.get(asked.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    current = len(topic.partitions)
    if asked.count == current:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
    if asked.count < current:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {asked.name} currently has {current} partition(s); {asked.count} would not "
            "be an increase.",
        )
    additional = asked.count - current
    if asked.assignments is not None and len(asked.assignments) != additional:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(asked.assignments)} assignment(s) were specified.",
        )
    if additional > MAX_PARTITIONS_PER_REQUEST:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            "Excessively large number of additional partitions per request.",
        )
    factor = len(next(iter(topic.partitions.values())).replicas)
    if asked.assignments is not None:
        made = manual_partitions(state, asked.assignments, first=current, factor=factor)
    else:
        made = placed_partitions(state, current, additional, factor)
    level = state.metadata_version
    return [
        MetadataRecord(*partition.to_record(topic.id, number, level))
        for number, partition in paced(made.items(), state.breathe)
    ]

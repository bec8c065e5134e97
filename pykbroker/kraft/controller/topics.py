"""Creating and deleting topics, and adding partitions.

In:  CreateTopics, DeleteTopics and CreatePartitions requests, as decoded by their handlers.
Out: decisions with the response; each topic succeeds or fails by itself, and all successes are
written in one atomic batch.
Source: Kafka's `ReplicationControlManager.java`, `ControllerApis.scala` (duplicates), `Topic.java`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from pykbroker.config import ConfigError, validate_topic_overrides
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.assignment import manual_partitions, placed_partitions
from pykbroker.kraft.controller.batch_size import MAX_PARTITIONS_PER_REQUEST, check_batch_size
from pykbroker.kraft.controller.configs import MAX_CONFIG_VALUE_LENGTH
from pykbroker.kraft.controller.eligible_leaders import clear_eligible_leaders
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TOPIC_RESOURCE, TopicImage
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC, topic_name_fault
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from pykbroker.protocol.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.primitives import ZERO_UUID


def create_topics(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide a CreateTopicsRequest; the reply is a CreateTopicsResponse."""
    _check_total_partitions(state, request.topics)
    counts = Counter(topic.name for topic in paced(request.topics, state.breathe))
    response = CreateTopicsResponse()
    refused: list[CreatableTopicResult] = []
    records: list[MetadataRecord] = []
    for topic in paced(request.topics, state.breathe):
        name = topic.name
        if counts[name] > 1:
            if counts[name] != _ALREADY_REFUSED:
                counts[name] = _ALREADY_REFUSED
                fault = KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
                refused.append(_failed(name, fault))
        elif name == CLUSTER_METADATA_TOPIC:
            message = f"Creation of internal topic {CLUSTER_METADATA_TOPIC} is prohibited."
            refused.append(_failed(name, KafkaError(ErrorCode.INVALID_REQUEST, message)))
        else:
            try:
                result, made = _create_topic(state, topic)
            except KafkaError as fault:
                response.topics.append(_failed(name, fault))
            else:
                check_batch_size(len(records) + len(made))
                response.topics.append(result)
                records += made
    response.topics += refused
    return Decision(records=[] if request.validate_only else records, reply=response)


_ALREADY_REFUSED: Final = 1 << 30


def _check_total_partitions(state: ControllerState, topics: Sequence[Any]) -> None:
    total = 0
    for topic in paced(topics, state.breathe):
        if topic.assignments:
            total += len(topic.assignments)
        elif topic.num_partitions == -1:
            total += state.static_config.num_partitions
        elif topic.num_partitions > 0:
            total += topic.num_partitions
    if total > MAX_PARTITIONS_PER_REQUEST:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def _failed(name: str, fault: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=fault.code, error_message=fault.message, configs=[]
    )


def _create_topic(
    state: ControllerState, topic: Any
) -> tuple[CreatableTopicResult, list[MetadataRecord]]:
    """Return the result and the records of one new topic; raises KafkaError if it
    is not allowed.
    """
    name = topic.name
    # In Kafka's order: an existing topic is reported as such, even if its name collides with
    # itself.
    if name in state.image.topics_by_name:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    fault = topic_name_fault(name)
    if fault is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, fault)
    other = state.colliding_names.other(name)
    if other is not None:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {other}",
        )
    overrides = _checked_overrides(state, topic.configs)
    partitions = _first_partitions(state, topic)
    topic_id = state.new_uuid()
    records = [MetadataRecord(TopicRecord(name=name, topic_id=topic_id))]
    for key, value in overrides.items():
        records.append(
            MetadataRecord(
                ConfigRecord(
                    resource_type=TOPIC_RESOURCE, resource_name=name, name=key, value=value
                )
            )
        )
    records += clear_eligible_leaders(state, records)
    level = state.metadata_version
    for number, partition in paced(partitions.items(), state.breathe):
        records.append(MetadataRecord(*partition.to_record(topic_id, number, level)))
    result = CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=_effective_configs(state, overrides),
    )
    return result, records


def _checked_overrides(state: ControllerState, configs: Sequence[Any]) -> dict[str, str]:
    breathe = state.breathe
    nulls = [config.name for config in paced(configs, breathe) if config.value is None]
    if nulls:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(nulls)}",
        )
    overrides = {config.name: config.value for config in paced(configs, breathe)}
    if not overrides:
        return overrides
    if any(len(value) > MAX_CONFIG_VALUE_LENGTH for value in paced(overrides.values(), breathe)):
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{MAX_CONFIG_VALUE_LENGTH} bytes.",
        )
    try:
        validate_topic_overrides(state.config(), overrides)
    except ConfigError as fault:
        raise KafkaError(ErrorCode.INVALID_CONFIG, fault.message) from None
    return overrides


def _first_partitions(state: ControllerState, topic: Any) -> dict[int, PartitionImage]:
    count, factor = topic.num_partitions, topic.replication_factor
    if topic.assignments:
        if factor != -1:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "A manual partition assignment was specified, but replication factor was not set "
                "to -1.",
            )
        if count != -1:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                "A manual partition assignment was specified, but numPartitions was not set to -1.",
            )
        return manual_partitions(state, topic.assignments)
    if factor < -1 or factor == 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if count < -1 or count == 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if count == -1:
        count = state.static_config.num_partitions
    if factor == -1:
        factor = state.static_config.default_replication_factor
    try:
        return placed_partitions(state, 0, count, factor)
    except KafkaError as fault:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): {fault.message}",
        ) from None


def _effective_configs(
    state: ControllerState, overrides: dict[str, str]
) -> list[CreatableTopicConfigs]:
    """Return the configuration for the response; cached, since the next topic
    often has the same overrides.
    """
    config = state.config()
    kept = state.described_topic
    if kept is not None and kept[0] is config and kept[1] == overrides:
        described: list[CreatableTopicConfigs] = kept[2]
        return described
    described = _describe(state, overrides)
    state.described_topic = (config, overrides, described)
    return described


def _describe(state: ControllerState, overrides: dict[str, str]) -> list[CreatableTopicConfigs]:
    values = state.topic_config(overrides).describe()
    return [
        CreatableTopicConfigs(
            name=value.name,
            value=None if value.is_sensitive else value.value,
            read_only=value.read_only,
            config_source=int(value.source),
            is_sensitive=value.is_sensitive,
        )
        for value in sorted(values, key=lambda value: value.name)
    ]


def delete_topics(state: ControllerState, request: Any, version: int) -> Decision[MetadataRecord]:
    """Decide a DeleteTopicsRequest; the reply is a DeleteTopicsResponse."""
    if not state.static_config.delete_topic_enable:
        if version < 3:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "This version does not support topic deletion."
            )
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED)
    response = DeleteTopicsResponse()
    found: dict[bytes, DeletableTopicResult] = {}
    doomed: dict[bytes, TopicImage] = {}
    for name, topic_id in paced(_asked_topics(state, request, response), state.breathe):
        if name is None:
            topic = state.image.topics_by_id.get(topic_id)
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
        else:
            topic = state.image.topics_by_name.get(name)
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic is None:
            response.responses.append(_not_deleted(name, topic_id, KafkaError(unknown)))
        elif topic.id in found:
            message = "The provided topic name maps to an ID that was already supplied."
            fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
            result = found[topic.id]
            result.error_code, result.error_message = fault.code, fault.message
            doomed.pop(topic.id, None)
        else:
            found[topic.id] = DeletableTopicResult(name=topic.name, topic_id=topic.id)
            doomed[topic.id] = topic
            response.responses.append(found[topic.id])
    check_batch_size(len(doomed))
    records = [
        MetadataRecord(RemoveTopicRecord(topic_id=topic_id))
        for topic_id in paced(doomed, state.breathe)
    ]
    return Decision(records=records, reply=response)


def _asked_topics(
    state: ControllerState, request: Any, response: DeleteTopicsResponse
) -> list[tuple[str | None, bytes]]:
    """Return names (id zero) and ids (name None) to delete; invalid entries
    are answered immediately.
    """
    breathe = state.breathe
    asked: list[tuple[str | None, bytes]] = [
        (name, ZERO_UUID) for name in paced(request.topic_names, breathe)
    ]
    for topic in paced(request.topics, breathe):
        if topic.name is not None and topic.topic_id != ZERO_UUID:
            message = "You may not specify both topic name and topic id."
        elif topic.name is None and topic.topic_id == ZERO_UUID:
            message = "Neither topic name nor id were specified."
        else:
            asked.append((topic.name, topic.topic_id))
            continue
        fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
        response.responses.append(_not_deleted(topic.name, topic.topic_id, fault))
    counts = Counter(paced(asked, breathe))
    by_id: list[tuple[str | None, bytes]] = []
    by_name: list[tuple[str | None, bytes]] = []
    for key, count in paced(counts.items(), breathe):
        name, topic_id = key
        if count > 1:
            message = "Duplicate topic id." if name is None else "Duplicate topic name."
            fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
            response.responses.append(_not_deleted(name, topic_id, fault))
        else:
            (by_id if name is None else by_name).append(key)
    # Names after ids, so that a name that was also given by id is the one that is rejected.
    by_id += by_name
    return by_id


def _not_deleted(name: str | None, topic_id: bytes, fault: KafkaError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=fault.code, error_message=fault.message
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

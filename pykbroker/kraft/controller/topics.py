"""Creating topics.

In:  a CreateTopics request.
Out: a decision with the response; each topic succeeds or fails by itself, and all successes are
written in one atomic batch. A request for too many partitions or records fails as a whole.
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
from pykbroker.kraft.controller.batch_size import (
    MAX_CONFIG_VALUE_LENGTH,
    MAX_PARTITIONS_PER_REQUEST,
    check_batch_size,
)
from pykbroker.kraft.controller.eligible_leaders import clear_eligible_leaders
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC, topic_name_fault
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from pykbroker.protocol.messages.topic_record import TopicRecord


def create_topics(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide a CreateTopicsRequest; the reply is a CreateTopicsResponse. Raises KafkaError for too
    many partitions or records.
    """
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

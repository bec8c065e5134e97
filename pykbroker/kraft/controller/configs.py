"""Changing dynamic configuration: of topics, brokers, all brokers, and groups.

In:  AlterConfigs (the whole set of a resource) and IncrementalAlterConfigs (single operations).
Out: a `ConfigRecord` for each key that changes, of a broker for each key that is set or removed,
and what a new `min.insync.replicas` does to eligible leaders. Each resource succeeds or fails by
itself; an unknown operation or too many records fail the whole request. Of broker resources, only
the names, the lengths of the values, operations on lists and `min.insync.replicas` are checked
here: a broker validates the values before it forwards them (`broker/metadata/config_admin.py`),
because only it knows its static configuration.
Source: Kafka's `ConfigurationControlManager.java`, `ControllerConfigurationValidator.scala`,
`ControllerApis.scala`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from pykbroker.config import (
    ConfigError,
    apply_list_operation,
    validate_group_overrides,
    validate_topic_overrides,
)
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.batch_size import MAX_CONFIG_VALUE_LENGTH, check_batch_size
from pykbroker.kraft.controller.eligible_leaders import MIN_INSYNC_REPLICAS, clear_eligible_leaders
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE
from pykbroker.kraft.topic_name import topic_name_fault
from pykbroker.protocol.messages.config_record import ConfigRecord

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

# ConfigResource.Type by number, as printed in error messages.
_TYPE_NAMES: Final = {0: "UNKNOWN", 2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER"}
_KNOWN_TYPES: Final = frozenset({2, 4, 8, 16, 32})
_SCOPES: Final = {TOPIC_RESOURCE: "topic", BROKER_RESOURCE: "broker", GROUP_RESOURCE: "group"}


def incremental_alter_configs(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an IncrementalAlterConfigsRequest. Raises KafkaError for an unknown operation, or if
    too much would change.
    """
    from pykbroker.protocol.messages import incremental_alter_configs_response as messages

    if any(
        config.config_operation not in (SET, DELETE, APPEND, SUBTRACT)
        for resource in paced(request.resources, state.breathe)
        for config in paced(resource.configs, state.breathe)
    ):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # for all, as in Kafka
    response = messages.IncrementalAlterConfigsResponse()
    result = messages.AlterConfigsResourceResponse
    return _alter(state, request, response, result, _incremental_changes)


def legacy_alter_configs(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an AlterConfigsRequest: keys that it does not name are removed. Raises KafkaError if
    too much would change.
    """
    from pykbroker.protocol.messages import alter_configs_response as messages

    response = messages.AlterConfigsResponse()
    result = messages.AlterConfigsResourceResponse
    return _alter(state, request, response, result, _whole_changes)


def _alter(
    state: ControllerState, request: Any, response: Any, result: Any, changes_of: Any
) -> Decision[MetadataRecord]:
    counts = Counter(
        (asked.resource_type, asked.resource_name)
        for asked in paced(request.resources, state.breathe)
    )
    records: list[MetadataRecord] = []
    for asked in paced(request.resources, state.breathe):
        resource = (asked.resource_type, asked.resource_name)
        fault: KafkaError | None = None
        try:
            if counts[resource] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate resource.")
            if asked.resource_type not in _KNOWN_TYPES:
                raise KafkaError(
                    ErrorCode.UNSUPPORTED_VERSION,
                    f"Unknown resource type {asked.resource_type}.",
                )
            current = dict(state.image.config(*resource))
            changes = changes_of(state, resource, current, asked.configs)
            _validate(state, resource, current, changes)
            records += _config_records(state, resource, current, changes)
        except KafkaError as refused:
            fault = refused
        check_batch_size(len(records))
        response.responses.append(
            result(
                error_code=0 if fault is None else fault.code,
                error_message=None if fault is None else fault.message,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    records += clear_eligible_leaders(state, records)
    return Decision(records=[] if request.validate_only else records, reply=response)


Changes = dict[str, str | None]


def _incremental_changes(
    state: ControllerState, resource: tuple[int, str], current: dict[str, str], configs: Any
) -> Changes:
    """Return the new value of each key in the operations; None removes it."""
    changes: Changes = {}
    for config in paced(configs, state.breathe):
        operation = config.config_operation
        if operation == SET:
            changes[config.name] = config.value
        elif operation == DELETE:
            changes[config.name] = None
        else:
            if config.value is None:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"Null value not supported for : {config.name}"
                )
            before = current.get(config.name)
            try:
                changes[config.name] = apply_list_operation(
                    _SCOPES.get(resource[0], "topic"), config.name, before, operation, config.value
                )
            except ConfigError as refused:
                raise KafkaError(ErrorCode.INVALID_CONFIG, refused.message) from None
    return changes


def _whole_changes(
    state: ControllerState, resource: tuple[int, str], current: dict[str, str], configs: Any
) -> Changes:
    changes: Changes = {config.name: config.value for config in paced(configs, state.breathe)}
    for key in current:
        changes.setdefault(key, None)
    return changes


def _config_records(
    state: ControllerState, resource: tuple[int, str], current: dict[str, str], changes: Changes
) -> list[MetadataRecord]:
    """Return a record for each key that changes. Broker keys are always written, because Kafka's
    brokers reread a password or a file when they see the record (KAFKA-13002).
    """
    resource_type, name = resource
    return [
        MetadataRecord(
            ConfigRecord(resource_type=resource_type, resource_name=name, name=key, value=value)
        )
        for key, value in paced(changes.items(), state.breathe)
        if resource_type == BROKER_RESOURCE or current.get(key) != value
    ]


def _validate(
    state: ControllerState, resource: tuple[int, str], current: dict[str, str], changes: Changes
) -> None:
    """Raise KafkaError if the resulting configuration is not allowed for the resource."""
    resource_type, name = resource
    _check_min_isr(state, resource, changes)
    for value in changes.values():
        if value is not None and len(value) > MAX_CONFIG_VALUE_LENGTH:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                "The configuration value cannot be added because it exceeds the maximum value "
                f"size of {MAX_CONFIG_VALUE_LENGTH} bytes.",
            )
    merged = {key: value for key, value in (current | changes).items() if value is not None}
    try:
        if resource_type == TOPIC_RESOURCE:
            _check_topic_name(name)
            validate_topic_overrides(state.config(), merged, current)
            if name not in state.image.topics_by_name:
                raise KafkaError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
                )
        elif resource_type == BROKER_RESOURCE:
            _check_broker_name(state, name)
        elif resource_type == GROUP_RESOURCE:
            if not name:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "Default group resources are not allowed."
                )
            validate_group_overrides(state.config(), merged, current)
        else:
            kind = _TYPE_NAMES.get(resource_type, str(resource_type))
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    except ConfigError as refused:
        raise KafkaError(ErrorCode.INVALID_CONFIG, refused.message) from None


def _check_min_isr(state: ControllerState, resource: tuple[int, str], changes: Changes) -> None:
    """Check that with eligible leader replicas, `min.insync.replicas` stays one
    cluster-wide value.
    """
    resource_type, name = resource
    if (
        resource_type != BROKER_RESOURCE
        or MIN_INSYNC_REPLICAS not in changes
        or not state.has_eligible_leaders
    ):
        return
    if name:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Broker-level {MIN_INSYNC_REPLICAS} cannot be altered while ELR is enabled.",
        )
    if changes[MIN_INSYNC_REPLICAS] is None:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Cluster-level {MIN_INSYNC_REPLICAS} cannot be removed while ELR is enabled.",
        )


def _check_topic_name(name: str) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    fault = topic_name_fault(name)
    if fault is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, fault)


def _check_broker_name(state: ControllerState, name: str) -> None:
    """Check a broker name: empty for all brokers, otherwise the id of a registered node, of a
    voter, or of this node.
    """
    if not name:
        return
    try:
        node_id = int(name)
    except ValueError:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."
        ) from None
    if node_id < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")
    known = (*state.image.brokers, *state.image.controllers, *state.voter_ids(), state.node_id)
    if node_id not in known:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {node_id} found.")

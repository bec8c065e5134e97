"""Maps each request to the controller method that decides it, for local and remote callers.

Dispatch is by the class of the message. `version` is that of the request, on which some decisions
and responses depend. A message that is not in the table is not a controller request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.kraft.controller import brokers
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.controller.eligible_leaders import MIN_INSYNC_REPLICAS
from pykbroker.kraft.controller.state import ControllerState

Decide = Callable[[Controller, Any, int, int], Decision[MetadataRecord]]

# (controller, message, version, now_ms)
DECIDE: dict[str, Decide] = {
    "CreateTopicsRequest": lambda at, message, _, __: at.create_topics(message),
    "DeleteTopicsRequest": lambda at, message, version, _: at.delete_topics(message, version),
    "CreatePartitionsRequest": lambda at, message, _, __: at.create_partitions(message),
    "AlterPartitionRequest": lambda at, message, version, _: at.alter_partition(message, version),
    "ElectLeadersRequest": lambda at, message, _, __: at.elect_leaders(message),
    "AlterPartitionReassignmentsRequest": lambda at, message, _, __: (
        at.alter_partition_reassignments(message)
    ),
    "ListPartitionReassignmentsRequest": lambda at, message, _, __: at.list_partition_reassignments(
        message
    ),
    "IncrementalAlterConfigsRequest": lambda at, message, _, __: at.incremental_alter_configs(
        message
    ),
    "AlterConfigsRequest": lambda at, message, _, __: at.legacy_alter_configs(message),
    "UpdateFeaturesRequest": lambda at, message, version, _: at.update_features(message, version),
    "AllocateProducerIdsRequest": lambda at, message, _, __: at.allocate_producer_ids(message),
    "AssignReplicasToDirsRequest": lambda at, message, _, __: at.assign_replicas_to_dirs(message),
    "BrokerRegistrationRequest": lambda at, message, version, now_ms: at.register_broker(
        message, version, now_ms
    ),
    "BrokerHeartbeatRequest": lambda at, message, _, now_ms: at.heartbeat(message, now_ms),
    "ControllerRegistrationRequest": lambda at, message, _, __: at.register_controller(message),
    "UnregisterBrokerRequest": lambda at, message, _, __: at.unregister_broker(message.broker_id),
    "UnregisterControllerRequest": lambda at, message, _, __: at.unregister_controller(
        message.controller_id
    ),
}


def decide(
    controller: Controller, message: Any, version: int, now_ms: int
) -> Decision[MetadataRecord]:
    """Return the controller's decision on a request. Raises KeyError if it is not a controller
    request, KafkaError if the whole request is rejected.
    """
    return DECIDE[type(message).__name__](controller, message, version, now_ms)


def takes_long(controller: Controller, message: Any) -> bool:
    """Return whether to decide this request in slices, because it may change very many partitions
    even if the request itself is short (see `_LONG`).
    """
    is_long = _LONG.get(type(message).__name__)
    return is_long is not None and is_long(controller.state, message)


MANY_PARTITIONS = 200


def _creates_many(state: ControllerState, message: Any) -> bool:
    """Return whether a CreateTopics request asks for very many topics, or partitions by number
    (assignments by the client are not counted).
    """
    topics = message.topics
    if len(topics) > MANY_PARTITIONS:
        return True
    default = state.static_config.num_partitions
    counts = [topic.num_partitions for topic in topics]
    return sum(count if count > 0 else default for count in counts) > MANY_PARTITIONS


def _adds_many(state: ControllerState, message: Any) -> bool:
    """Return whether a CreatePartitions request may ask for very many partitions."""
    topics = message.topics
    return len(topics) > MANY_PARTITIONS or sum(topic.count for topic in topics) > MANY_PARTITIONS


def _may_change_min_isr(state: ControllerState, resource: Any) -> bool:
    """Return whether a resource names `min.insync.replicas`, or has it (AlterConfigs removes what
    it does not name).
    """
    current = state.image.config(resource.resource_type, resource.resource_name)
    return MIN_INSYNC_REPLICAS in current or any(
        config.name == MIN_INSYNC_REPLICAS for config in resource.configs
    )


def _clears_many(state: ControllerState, message: Any) -> bool:
    """Return whether a change of configurations may clear the eligible leaders of very many
    partitions.
    """
    return (
        state.has_eligible_leaders
        and any(_may_change_min_isr(state, resource) for resource in message.resources)
        and state.image.partition_count > MANY_PARTITIONS
    )


_LONG: dict[str, Callable[[ControllerState, Any], bool]] = {
    "BrokerRegistrationRequest": lambda state, message: brokers.matters_to_many(
        state, message.broker_id
    ),
    "BrokerHeartbeatRequest": brokers.heartbeat_takes_long,
    "UnregisterBrokerRequest": lambda state, message: brokers.matters_to_many(
        state, message.broker_id
    ),
    "CreateTopicsRequest": _creates_many,
    "CreatePartitionsRequest": _adds_many,
    "IncrementalAlterConfigsRequest": _clears_many,
    "AlterConfigsRequest": _clears_many,
}

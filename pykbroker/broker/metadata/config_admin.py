"""The checks of a configuration change on this broker, before it is sent to the controller.

The controller does not know a broker's static configuration, so only the broker itself can decide
whether an override of a broker key is valid. The controller checks values of topics and groups.

    a resource twice                        INVALID_REQUEST, both
    a key twice, or null where not deleted  INVALID_REQUEST
    APPEND or SUBTRACT on no list           INVALID_CONFIG (of a broker)
    an operation that is none               UNKNOWN_SERVER_ERROR (of a broker: the controller
                                            refuses all resources that get there)
    a broker that is not this node          INVALID_REQUEST
    an override that this broker cannot use INVALID_REQUEST (sic: KAFKA-13609)
    a key of a broker logger (none exists)  INVALID_CONFIG; in AlterConfigs INVALID_REQUEST
    client metrics, an unknown type         INVALID_REQUEST: not supported here

Source: Kafka's `ConfigAdminManager.scala`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import InSlices, in_slices_if
from pykbroker.config import ConfigError, apply_list_operation, validate_broker_overrides
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.kraft.controller.configs import APPEND, DELETE, SET, SUBTRACT
from pykbroker.kraft.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.primitives import Message

FEW = 20  # resources that are altered without a pause

# Builds the overrides of a broker resource from the current ones and the request's configs.
Merge = Callable[[Mapping[str, str], Any], dict[str, str]]


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)


def refusals(
    services: NodeServices, resources: Sequence[Any], merge: Merge
) -> dict[int, KafkaError]:
    """Return the rejected resources by position, with the reason."""
    breathe = services.breathe
    counts = Counter((at.resource_type, at.resource_name) for at in paced(resources, breathe))
    refused: dict[int, KafkaError] = {}
    for position, resource in enumerate(paced(resources, breathe)):
        try:
            if counts[(resource.resource_type, resource.resource_name)] > 1:
                raise _invalid("Each resource must appear at most once.")
            _check(services, resource, merge)
        except KafkaError as fault:
            # Without its traceback: the frames of very many would be freed in one go.
            refused[position] = KafkaError(fault.code, fault.message)
    return refused


def _check(services: NodeServices, resource: Any, merge: Merge) -> None:
    names = [config.name for config in paced(resource.configs, services.breathe)]
    if len(set(names)) != len(names):
        raise _invalid("Error due to duplicate config keys")
    nulls = [
        config.name
        for config in paced(resource.configs, services.breathe)
        if config.value is None and getattr(config, "config_operation", SET) != DELETE
    ]
    if nulls:
        raise _invalid(f"Null value not supported for : {', '.join(nulls)}")
    kind, name = resource.resource_type, resource.resource_name
    if kind == BROKER_RESOURCE:
        if name:
            _check_node_id(services, name)
        try:
            current = services.metadata.image.config(BROKER_RESOURCE, name)
            overrides = merge(current, resource.configs)
            validate_broker_overrides(
                services.config, overrides, per_broker=bool(name), current=current
            )
        except ConfigError as fault:
            raise _invalid(fault.message) from None
    elif kind == BROKER_LOGGER_RESOURCE and merge is merge_incremental:
        for config in resource.configs:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {config.name} does not exist!")
    elif kind not in (TOPIC_RESOURCE, GROUP_RESOURCE):
        raise _invalid(f"Unknown resource type {kind}")


def _check_node_id(services: NodeServices, name: str) -> None:
    try:
        node_id = int(name)
    except ValueError:
        raise _invalid(f"Node id must be an integer, but it is: {name}") from None
    if node_id != services.node_id:
        raise _invalid(f"Unexpected broker id, expected {services.node_id}, but received {name}")


def merge_whole(current: Mapping[str, str], configs: Any) -> dict[str, str]:
    """AlterConfigs: the request contains the complete set of overrides."""
    return {config.name: config.value for config in configs}


def merge_incremental(current: Mapping[str, str], configs: Any) -> dict[str, str]:
    """IncrementalAlterConfigs: apply the operations to the current overrides. Raises KafkaError if
    one does not apply.
    """
    merged = dict(current)
    for config in configs:
        operation = config.config_operation
        if operation == SET:
            merged[config.name] = config.value
        elif operation == DELETE:
            merged.pop(config.name, None)
        elif operation in (APPEND, SUBTRACT):
            try:
                merged[config.name] = apply_list_operation(
                    "broker", config.name, merged.get(config.name), operation, config.value
                )
            except ConfigError:
                verb = "append" if operation == APPEND else "subtract"
                raise KafkaError(
                    ErrorCode.INVALID_CONFIG,
                    f"Config value {verb} is not allowed for config key: {config.name}",
                ) from None
        else:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return merged


class Alteration(NamedTuple):
    """The differences between AlterConfigs and IncrementalAlterConfigs."""

    merge: Merge
    response: Callable[..., Message]
    result: Callable[..., Any]  # builds the part of the response for one resource

    def refuse_all(
        self, message: Any, code: int, reason: str | None, breathe: Breathe = go_on
    ) -> Message:
        """Return the response if the whole request failed."""
        results = [
            self.failed(resource, code, message_beyond(code, reason))
            for resource in paced(message.resources, breathe)
        ]
        return self.response(responses=results)

    def failed(self, resource: Any, code: int, reason: str | None) -> Any:
        """Return the part of the response for a resource that is not altered."""
        return self.result(
            error_code=code,
            error_message=reason,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )


def alter(
    alteration: Alteration, services: NodeServices, request: Request
) -> Message | Deferred | InSlices:
    """Check, let the controller decide the rest, and answer in the order of the request. On a
    controller listener this node's controller does all of it.
    """
    if request.connection.listener.is_controller:
        # A broker has checked it; only that broker knows its own configuration.
        return to_controller(services, request)
    if len(request.message.resources) > FEW:
        return InSlices(partial(alter_all, alteration, services, request))
    return alter_all(alteration, services, request)


def alter_all(
    alteration: Alteration, services: NodeServices, request: Request
) -> Message | Deferred:
    """Alter as a broker, at once or in the slices of a job."""
    message = request.message
    refused = refusals(services, message.resources, alteration.merge)

    def assemble(answers: list[Any]) -> Message:
        left = iter(answers)
        results = []
        for position, resource in enumerate(paced(message.resources, services.breathe)):
            fault = refused.get(position)
            if fault is None:
                results.append(next(left))
            else:
                text = message_beyond(fault.code, fault.message)
                results.append(alteration.failed(resource, fault.code, text))
        return alteration.response(responses=results)

    positions = enumerate(paced(message.resources, services.breathe))
    passed = [at for position, at in positions if position not in refused]
    if not passed:
        return assemble([])
    left_over = type(message)(resources=passed, validate_only=message.validate_only)
    answered = Deferred()

    def finish(outcome: Any) -> Message:
        if isinstance(outcome, KafkaError):
            code, reason = outcome.code, outcome.message
            outcome = alteration.refuse_all(left_over, code, reason, services.breathe)
        return assemble(outcome.responses)

    def decided(outcome: Any) -> None:
        is_long = len(message.resources) > FEW
        answered.resolve(in_slices_if(is_long, partial(finish, outcome)))

    to_controller(services, request, message=left_over).on_resolved(decided)
    return answered

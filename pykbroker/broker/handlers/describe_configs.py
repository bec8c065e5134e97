"""DescribeConfigs (32): the configuration of topics, of brokers and of groups, and where it comes
from.

Behaviour: each resource is answered by itself; null or no keys means all keys. A type that does not
exist is INVALID_REQUEST for all of them. A resource that is requested twice in the same form is
answered once (Kafka: twice).

    topic    its overrides over the broker's values; UNKNOWN_TOPIC_OR_PARTITION when there is none,
             INVALID_TOPIC_EXCEPTION when there cannot be one
    broker   this node by its id; an empty name: the dynamic defaults of all brokers; another id is
             INVALID_REQUEST: ask that broker
    group    its overrides over the broker's values, even for groups that do not exist; an empty
             name is INVALID_REQUEST

Versions: 1-4. 3+ types and documentation.
Not done: broker loggers and client metrics (INVALID_REQUEST); authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.config import GroupConfig, TopicConfig
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from pykbroker.kraft.topic_name import topic_name_fault
from pykbroker.protocol.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pykbroker.broker.services import NodeServices
    from pykbroker.config import ConfigValue
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_configs_request import DescribeConfigsResource

API_KEY = 32
FEW = 10  # resources that are described without a pause
_TYPES = frozenset(
    {
        TOPIC_RESOURCE,
        BROKER_RESOURCE,
        BROKER_LOGGER_RESOURCE,
        CLIENT_METRICS_RESOURCE,
        GROUP_RESOURCE,
    }
)


def handle(services: NodeServices, request: Request) -> DescribeConfigsResponse | InSlices:
    """Describe each resource."""
    if len(request.message.resources) > FEW:
        return InSlices(partial(describe, services, request))
    return describe(services, request)


def describe(services: NodeServices, request: Request) -> DescribeConfigsResponse:
    """Return the answers for all resources."""
    message = request.message
    for resource in paced(message.resources, services.breathe):
        if resource.resource_type not in _TYPES:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
    results = []
    for resource in paced(_each_once(services, message.resources), services.breathe):
        try:
            values = _values(services, resource)
        except KafkaError as fault:
            results.append(_failed(resource, fault.code, fault.message))
            continue
        results.append(
            DescribeConfigsResult(
                error_message="",
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[
                    _entry(value, message.include_synonyms, message.include_documentation)
                    for value in values
                ],
            )
        )
    return DescribeConfigsResponse(results=results)


def _each_once(
    services: NodeServices, resources: list[DescribeConfigsResource]
) -> Iterable[DescribeConfigsResource]:
    """Remove duplicates: a request of some kilobytes that names a broker a
    thousand times would cost megabytes.
    """
    asked = {
        (each.resource_type, each.resource_name, tuple(each.configuration_keys or ())): each
        for each in paced(resources, services.breathe)
    }
    return asked.values()


def _values(services: NodeServices, resource: DescribeConfigsResource) -> list[ConfigValue]:
    kind, name = resource.resource_type, resource.resource_name
    keys: Collection[str] | None = resource.configuration_keys or None
    if kind == TOPIC_RESOURCE:
        fault = topic_name_fault(name)
        if fault is not None:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, fault)
        if name not in services.metadata.image.topics_by_name:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
        overrides = services.metadata.image.topic_config(name)
        return TopicConfig.from_overrides(services.config, overrides).describe(keys)
    if kind == BROKER_RESOURCE:
        if not name:
            return services.config.describe_cluster_default(keys)
        _check_broker_id(services, name)
        return services.config.describe(keys)
    if kind == GROUP_RESOURCE:
        if not name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        overrides = services.metadata.image.group_config(name)
        return GroupConfig.from_overrides(services.config, overrides).describe(keys)
    raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")


def _check_broker_id(services: NodeServices, name: str) -> None:
    try:
        broker_id = int(name)
    except ValueError:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        ) from None
    if broker_id != services.node_id:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {services.node_id} or empty string, "
            f"but received {name}",
        )


def _entry(
    value: ConfigValue, with_synonyms: bool, with_documentation: bool
) -> DescribeConfigsResourceResult:
    synonyms = []
    if with_synonyms:
        synonyms = [
            DescribeConfigsSynonym(name=other.name, value=other.value, source=int(other.source))
            for other in value.synonyms
        ]
    return DescribeConfigsResourceResult(
        name=value.name,
        value=None if value.is_sensitive else value.value,
        read_only=value.read_only,
        config_source=int(value.source),
        is_sensitive=value.is_sensitive,
        synonyms=synonyms,
        config_type=int(value.config_type),
        documentation=value.documentation if with_documentation else None,
    )


def _failed(
    resource: DescribeConfigsResource, code: int, message: str | None
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=code,
        error_message=message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def error_reply(request: Request, code: int, message: str | None = None) -> DescribeConfigsResponse:
    """Return `code` for every resource."""
    return DescribeConfigsResponse(
        results=[_failed(resource, code, message) for resource in request.message.resources]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=4, error_reply=error_reply
)

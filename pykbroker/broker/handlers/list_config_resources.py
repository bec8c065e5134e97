"""ListConfigResources (74): the resources that can have dynamic configuration.

Behaviour: no types means all types of the version; another type is UNSUPPORTED_VERSION. Brokers (as
brokers and as loggers; those that have the listener of the client) and topics are listed with or
without a configuration, groups only if they have one.
Versions: 0-1. 0 lists only client metrics, of which there are none here.
Not done: client metrics; authorization.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from pykbroker.protocol.messages.list_config_resources_response import (
    ConfigResource,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request

API_KEY = 74
FEW = 1000  # names that are listed without a pause
_TYPES = {
    0: (CLIENT_METRICS_RESOURCE,),
    1: (
        TOPIC_RESOURCE,
        BROKER_RESOURCE,
        BROKER_LOGGER_RESOURCE,
        CLIENT_METRICS_RESOURCE,
        GROUP_RESOURCE,
    ),
}


def handle(services: BrokerServices, request: Request) -> ListConfigResourcesResponse | InSlices:
    """Answer from the image."""
    supported = _TYPES[request.api_version]
    wanted = request.message.resource_types or supported
    if not set(wanted) <= set(supported):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    image = services.metadata.image
    brokers = [
        str(broker.id)
        for broker in image.brokers.values()
        if request.listener_name in broker.listeners
    ]
    names: dict[int, list[str]] = {
        GROUP_RESOURCE: [name for kind, name in image.configs if kind == GROUP_RESOURCE],
        CLIENT_METRICS_RESOURCE: [],
        BROKER_LOGGER_RESOURCE: brokers,
        BROKER_RESOURCE: brokers,
        TOPIC_RESOURCE: list(image.topics_by_name),
    }
    if sum(map(len, names.values())) > FEW:
        return InSlices(partial(list_all, services, names, wanted))
    return list_all(services, names, wanted)


def list_all(
    services: BrokerServices, names: dict[int, list[str]], wanted: Collection[int]
) -> ListConfigResourcesResponse:
    """Return the answer with all names of the requested kinds."""
    resources = []
    for kind, of_kind in names.items():
        if kind in wanted:
            for name in of_kind:
                services.breathe()
                resources.append(ConfigResource(resource_name=name, resource_type=kind))
    return ListConfigResourcesResponse(config_resources=resources)


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ListConfigResourcesResponse:
    """Return `code` for the whole request."""
    return ListConfigResourcesResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)

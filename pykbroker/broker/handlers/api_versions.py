"""ApiVersions (18): what this listener serves.

Behaviour: the answer lists the APIs served on the listener the request came in on, the features
this node supports and those the cluster has finalised. An unknown version is answered in version 0
with UNSUPPORTED_VERSION and the range of ApiVersions (KIP-511); its body is not read. A client
software name or version (from version 3) outside the pattern of KIP-511, or only one of cluster id
and node id (version 5), is INVALID_REQUEST; a cluster or node id of another node is
REBOOTSTRAP_REQUIRED (KIP-1242). Up to version 3, supported features that begin at level 0 are left
out (KAFKA-17011).
Versions: 0-5. The response header is always of version 0.
Not done: nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode
from pykbroker.protocol.api import API_VERSIONS, APIS
from pykbroker.protocol.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")
FIRST_WITH_SOFTWARE = 3
FIRST_WITH_LEVEL_ZERO = 4
FIRST_WITH_CLUSTER_ID = 5


def handle(services: NodeServices, request: Request) -> ApiVersionsResponse:
    """Answer a request of a known version."""
    message: ApiVersionsRequest = request.message
    version = request.api_version
    if not _is_valid(message, version):
        return error_reply(request, ErrorCode.INVALID_REQUEST)
    if (
        version >= FIRST_WITH_CLUSTER_ID
        and message.cluster_id is not None
        and (message.cluster_id != services.cluster_id or message.node_id != services.node_id)
    ):
        return error_reply(request, ErrorCode.REBOOTSTRAP_REQUIRED)
    return _served(services, request)


def _is_valid(message: ApiVersionsRequest, version: int) -> bool:
    if version >= FIRST_WITH_CLUSTER_ID and (message.cluster_id is None) != (message.node_id == -1):
        return False
    return version < FIRST_WITH_SOFTWARE or (
        _SOFTWARE.match(message.client_software_name) is not None
        and _SOFTWARE.match(message.client_software_version) is not None
    )


def _served(services: NodeServices, request: Request) -> ApiVersionsResponse:
    on_controller = request.connection.listener.is_controller
    features = services.features()
    with_level_zero = request.api_version >= FIRST_WITH_LEVEL_ZERO
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE,
        api_keys=[
            ApiVersion(
                api_key=route.api.key,
                min_version=route.advertised_min_version,
                max_version=route.max_version,
            )
            for route in services.routes
            if (route.on_controller if on_controller else route.on_broker)
        ],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in features.supported.items()
            if lowest > 0 or with_level_zero
        ],
        finalized_features_epoch=features.finalized_epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in features.finalized.items()
        ],
    )


def error_reply(request: Request, code: int, message: str | None = None) -> ApiVersionsResponse:
    """Return the answer to a rejected request; for UNSUPPORTED_VERSION it includes the version
    range of ApiVersions, for a retry.
    """
    api_keys = []
    if code == ErrorCode.UNSUPPORTED_VERSION:
        api = APIS[API_VERSIONS]
        api_keys.append(
            ApiVersion(api_key=api.key, min_version=api.min_version, max_version=api.max_version)
        )
    return ApiVersionsResponse(error_code=code, api_keys=api_keys)


HANDLER = Handler(
    api_key=API_VERSIONS,
    handle=handle,
    min_version=0,
    max_version=5,
    error_reply=error_reply,
)

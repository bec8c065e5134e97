"""UpdateFeatures (57): forwarded to the active controller.

Behaviour: either all updates are applied or none is. A level that a node does not support, a
downgrade that would lose metadata and a change of kraft.version are rejected with
INVALID_UPDATE_VERSION and the reason; see `kraft/controller/features.py`.
Versions: 0-2. 1+ upgrade types and `validate_only`; 0-1 a result per feature, unless rejected.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.update_features_response import UpdateFeaturesResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 57


def handle(services: NodeServices, request: Request) -> Deferred:
    """Pass the request to the active controller."""
    return to_controller(services, request)


def error_reply(request: Request, code: int, message: str | None = None) -> UpdateFeaturesResponse:
    """Return `code` for the whole request."""
    return UpdateFeaturesResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)

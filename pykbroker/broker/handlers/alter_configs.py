"""AlterConfigs (33): replace the whole dynamic configuration of resources.

Behaviour: keys that the request does not name are removed. What this broker checks is in
`config_admin.py`, the rest is the controller's (`kraft/controller/configs.py`). Each resource
succeeds or fails by itself, unless the request is too large for the controller; with
`validate_only` nothing is written.
Versions: 0-2.
Not done: broker loggers, client metrics; alter.config.policy.class.name; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome
from pykbroker.broker.metadata.config_admin import Alteration, alter, merge_whole
from pykbroker.protocol.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.primitives import Message

API_KEY = 33


ALTERATION = Alteration(
    merge=merge_whole,
    response=AlterConfigsResponse,
    result=AlterConfigsResourceResponse,
)


def handle(services: NodeServices, request: Request) -> Outcome:
    """Pass the request to the active controller; on a broker listener, first check it."""
    return alter(ALTERATION, services, request)


def error_reply(request: Request, code: int, message: str | None = None) -> Message:
    """Return `code` for every resource."""
    return ALTERATION.refuse_all(request.message, code, message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)

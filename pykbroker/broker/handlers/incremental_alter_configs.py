"""IncrementalAlterConfigs (44): set, delete, append to and subtract from single keys.

Behaviour: keys that are not in the request are unchanged. APPEND and SUBTRACT are for lists; on
another key they are INVALID_CONFIG. What a broker checks is in `broker/metadata/config_admin.py`,
the rest is the controller's (`kraft/controller/configs.py`). Each resource succeeds or fails by
itself, unless the controller refuses the whole request; with `validate_only` nothing is written.
Versions: 0-1.
Not done: broker loggers, client metrics; alter.config.policy.class.name; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome
from pykbroker.broker.metadata.config_admin import Alteration, alter, merge_incremental
from pykbroker.protocol.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.primitives import Message

API_KEY = 44


ALTERATION = Alteration(
    merge=merge_incremental,
    response=IncrementalAlterConfigsResponse,
    result=AlterConfigsResourceResponse,
)


def handle(services: NodeServices, request: Request) -> Outcome:
    """Pass the request to the active controller; a broker checks it first (see `alter`)."""
    return alter(ALTERATION, services, request)


def error_reply(request: Request, code: int, message: str | None = None) -> Message:
    """Return `code` for every resource."""
    return ALTERATION.refuse_all(request.message, code, message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)

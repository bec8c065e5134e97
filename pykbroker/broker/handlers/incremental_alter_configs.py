"""IncrementalAlterConfigs (44): set, delete, append to and subtract from single keys.

Behaviour: keys that the request does not name stay. APPEND and SUBTRACT are for lists; on another
key they are INVALID_CONFIG. What this broker checks is in `config_admin.py`, the rest is the
controller's (`kraft/controller/configs.py`). Each resource succeeds or fails by itself; with
`validate_only` nothing is written.
Versions: 0-1.
Not done: broker loggers, client metrics; alter.config.policy.class.name; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykbroker.broker.config_admin import alter, merge_incremental
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.network.request import Request
    from pykbroker.purgatory import Deferred

API_KEY = 44


def handle(broker: BrokerServer, request: Request) -> IncrementalAlterConfigsResponse | Deferred:
    """Check, then the controller decides."""

    def submit(message: Any) -> Deferred:
        return broker.controller.submit(
            lambda controller, now_ms: controller.incremental_alter_configs(message)
        )

    def respond(results: list[Any]) -> IncrementalAlterConfigsResponse:
        return IncrementalAlterConfigsResponse(responses=results)

    outcome: IncrementalAlterConfigsResponse | Deferred = alter(
        broker, request.message, merge_incremental, submit, respond, AlterConfigsResourceResponse
    )
    return outcome


def error_reply(
    request: Request, code: int, message: str | None = None
) -> IncrementalAlterConfigsResponse:
    """Every resource gets `code`."""
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.message.resources
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=1, error_reply=error_reply
)

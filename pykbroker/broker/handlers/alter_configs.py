"""AlterConfigs (33): replace the whole dynamic configuration of resources.

Behaviour: keys that the request does not name are removed. What this broker checks is in
`config_admin.py`, the rest is the controller's (`kraft/controller/configs.py`). Each resource
succeeds or fails by itself; with `validate_only` nothing is written.
Versions: 0-2.
Not done: broker loggers, client metrics; alter.config.policy.class.name; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykbroker.broker.config_admin import alter, merge_whole
from pykbroker.broker.handlers import Handler
from pykbroker.protocol.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.network.request import Request
    from pykbroker.purgatory import Deferred

API_KEY = 33


def handle(broker: BrokerServer, request: Request) -> AlterConfigsResponse | Deferred:
    """Check, then the controller decides."""

    def submit(message: Any) -> Deferred:
        return broker.controller.submit(
            lambda controller, now_ms: controller.legacy_alter_configs(message)
        )

    def respond(results: list[Any]) -> AlterConfigsResponse:
        return AlterConfigsResponse(responses=results)

    outcome: AlterConfigsResponse | Deferred = alter(
        broker, request.message, merge_whole, submit, respond, AlterConfigsResourceResponse
    )
    return outcome


def error_reply(request: Request, code: int, message: str | None = None) -> AlterConfigsResponse:
    """Every resource gets `code`."""
    return AlterConfigsResponse(
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
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)

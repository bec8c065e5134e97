"""Registers the controller of this node with the active controller.

In:    `look`, at the start and whenever committed records have been published. Out: requests.
State: whether a registration is under way. One begins when the metadata does not have that of this
       process (an earlier one, none, or one that an operator removed), and is repeated until it is
       accepted.
Source: Kafka's `ControllerRegistrationManager.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pykbroker.deferred import Deferred, spawn
from pykbroker.errors import KafkaError
from pykbroker.kraft.controller_channel_driver import value_of
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES, supports_controller_registration
from pykbroker.kraft.registration import SECURITY_PROTOCOL_IDS
from pykbroker.protocol.messages import controller_registration_request as registration

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.environment.scheduler import Scheduler
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.kraft.raft.voters import VoterNode

PAUSE_MS: Final = 1_000
"""Between two requests; after an accepted one, the time for its record to arrive here."""

_log = logging.getLogger(__name__)


def registration_request(
    config: BrokerConfig, local: VoterNode, incarnation_id: bytes
) -> registration.ControllerRegistrationRequest:
    """Return the request of a controller with the ports that are actually open."""
    protocols = {at.listener_name: at.security_protocol for at in config.controller_endpoints}
    return registration.ControllerRegistrationRequest(
        controller_id=local.key.id,
        incarnation_id=incarnation_id,
        listeners=[
            registration.Listener(
                name=at.name,
                host=at.host,
                port=at.port,
                security_protocol=SECURITY_PROTOCOL_IDS[protocols.get(at.name, "PLAINTEXT")],
            )
            for at in local.endpoints
        ],
        features=[
            registration.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ],
    )


class ControllerRegistrationDriver:
    """Keeps one controller registered. `send` returns the controller's response, or a
    KafkaError.
    """

    def __init__(
        self,
        *,
        request: registration.ControllerRegistrationRequest,
        send: Callable[[registration.ControllerRegistrationRequest], Deferred],
        image: Callable[[], MetadataImage],
        scheduler: Scheduler,
    ) -> None:
        self._request = request
        self._send = send
        self._image = image
        self._scheduler = scheduler
        self._is_busy = False
        self._is_stopped = False

    def look(self) -> None:
        """Register, unless this process is registered, or a registration is under way."""
        if not self._is_busy and self._is_due:
            self._is_busy = True
            spawn(self._register())

    def stop(self) -> None:
        """Send no further requests."""
        self._is_stopped = True

    @property
    def _is_due(self) -> bool:
        """Whether the metadata could have this registration and has not."""
        image = self._image()
        if self._is_stopped or not supports_controller_registration(image.metadata_version):
            return False
        found = image.controllers.get(self._request.controller_id)
        return found is None or found.incarnation_id != self._request.incarnation_id

    async def _register(self) -> None:
        while self._is_due:
            reply = await value_of(self._send(self._request))
            if self._is_stopped:
                break
            if isinstance(reply, KafkaError):
                _log.warning("This controller is not registered in the cluster yet: %s", reply)
            await self._scheduler.sleep(PAUSE_MS)
        self._is_busy = False

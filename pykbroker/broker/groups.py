"""The group coordinator of a node, made when its topic is there or when it is first asked for.

State: the coordinator, once there is one. In: `apply` (metadata publisher), `coordinator`, `stop`.
Invariant: it is told all of the metadata when it is made, and every change after that, either way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.config import BrokerConfig
from pykbroker.environment import Environment
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.publisher import delta_of_all
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.replication.replica_manager import ReplicaManager

if TYPE_CHECKING:  # imported when it is made
    from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator


class Groups:
    """See the module's text."""

    def __init__(
        self,
        *,
        node_id: int,
        environment: Environment,
        config: Callable[[], BrokerConfig],
        replica_manager: ReplicaManager,
        wake: Callable[[], None],
    ) -> None:
        self._node_id = node_id
        self._environment = environment
        self._config = config
        self._replica_manager = replica_manager
        self._wake = wake
        self._image = MetadataImage()
        self._coordinator: GroupCoordinator | None = None

    def coordinator(self) -> GroupCoordinator:
        """The coordinator; made now when there is none."""
        groups = self._coordinator
        if groups is None:
            from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator

            groups = self._coordinator = GroupCoordinator.create(
                node_id=self._node_id,
                config=self._config(),
                replica_manager=self._replica_manager,
                environment=self._environment,
                wake=self._wake,
            )
            groups.apply(delta_of_all(self._image), self._image)
        return groups

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        self._image = image
        if self._coordinator is not None:
            self._coordinator.apply(delta, image)
        elif GROUP_METADATA_TOPIC in image.topics_by_name:
            self.coordinator()

    def stop(self) -> None:
        """Refuse every caller that waits."""
        if self._coordinator is not None:
            self._coordinator.stop()

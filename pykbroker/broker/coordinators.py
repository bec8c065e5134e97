"""The coordinators of a node, each created when its topic exists or it is first used.

A new coordinator first receives the complete metadata, and every change after that. Its code takes
tens of milliseconds to import. Where metadata is published in slices, it is imported beside the
event loop; so it is by the routes that name it as their `machine` (`handlers.Served`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pykbroker.broker.outgoing import Outgoing, broker_peer
from pykbroker.config import BrokerConfig
from pykbroker.environment import Environment
from pykbroker.environment.slices import Slices
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.publisher import delta_of_all
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.network.request_channel import RequestChannel
from pykbroker.replication.replica_manager import ReplicaManager

if TYPE_CHECKING:  # imported when they are created
    from pykbroker.broker.transactions.transaction_joining_driver import TransactionJoining
    from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
    from pykbroker.coordinator.transaction.marker_driver import MarkerResults
    from pykbroker.coordinator.transaction.transaction_coordinator_driver import (
        TransactionCoordinator,
    )
    from pykbroker.deferred import Deferred
    from pykbroker.protocol.messages.add_partitions_to_txn_request import (
        AddPartitionsToTxnRequest,
    )
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
    from pykbroker.types import Peer


GROUP_COORDINATOR = "pykbroker.coordinator.group.group_coordinator_driver"
TRANSACTION_COORDINATOR = "pykbroker.coordinator.transaction.transaction_coordinator_driver"


class Coordinator(Protocol):
    """The common methods of coordinators."""

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""

    def stop(self) -> None:
        """Answer every waiting caller with an error."""


CoordinatorT = TypeVar("CoordinatorT", bound=Coordinator)


class LateCoordinator(Generic[CoordinatorT]):
    """A coordinator that is created on demand, or once its topic exists.

    `topic` is where it keeps its records, `module` the module of its class.
    """

    def __init__(
        self, topic: str, module: str, make: Callable[[], CoordinatorT], slices: Slices
    ) -> None:
        self._topic = topic
        self._module = module
        self._make = make
        self._slices = slices
        self._image = MetadataImage()
        self._coordinator: CoordinatorT | None = None

    @property
    def made(self) -> CoordinatorT | None:
        """The coordinator; None until it is created."""
        return self._coordinator

    def get(self) -> CoordinatorT:
        """Return the coordinator; create it if there is none."""
        coordinator = self._coordinator
        if coordinator is None:
            coordinator = self._coordinator = self._make()
            coordinator.apply(delta_of_all(self._image), self._image)
        return coordinator

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        self._image = image
        if self._coordinator is not None:
            self._coordinator.apply(delta, image)
        elif self._topic in image.topics_by_name:
            self._slices.apart(partial(import_module, self._module))
            self.get()  # a request may have made it meanwhile, from this image

    def stop(self) -> None:
        """Answer every waiting caller with an error."""
        if self._coordinator is not None:
            self._coordinator.stop()


class Coordinators:
    """The coordinators of one node.

    take_producer_id: see `ProducerIds.take`. write_markers: writes into partitions that this node
    leads.
    """

    def __init__(
        self,
        *,
        environment: Environment,
        config: Callable[[], BrokerConfig],
        replica_manager: ReplicaManager,
        outgoing: Outgoing,
        channel: RequestChannel,
        take_producer_id: Callable[[], int | Deferred],
        write_markers: Callable[[list[WritableTxnMarker]], MarkerResults | Deferred],
    ) -> None:
        self._environment = environment
        self._config = config
        self._replica_manager = replica_manager
        self._outgoing = outgoing
        self._channel = channel
        self._take_producer_id = take_producer_id
        self._write_markers = write_markers
        slices = environment.slices
        self.groups = LateCoordinator(
            GROUP_METADATA_TOPIC, GROUP_COORDINATOR, self._make_groups, slices
        )
        self.transactions = LateCoordinator(
            TRANSACTION_STATE_TOPIC,
            TRANSACTION_COORDINATOR,
            self._make_transactions,
            slices,
        )

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `Publisher`."""
        self.groups.apply(delta, image)
        self.transactions.apply(delta, image)

    @cached_property
    def joining(self) -> TransactionJoining:
        """The driver that asks the coordinators of transactions which write
        to this node's partitions.
        """
        from pykbroker.broker.transactions.transaction_joining_driver import TransactionJoining

        manager = self._replica_manager
        return TransactionJoining(
            node_id=manager.node_id,
            image=lambda: manager.image,
            peer_of=self._peer_of,
            send=self._send_joining,
            local=self.transactions.get,
        )

    def _peer_of(self, broker_id: int) -> Peer | None:
        listener = self._config().inter_broker_listener
        return broker_peer(self._replica_manager.image, broker_id, listener)

    def _send_joining(self, peer: Peer, request: AddPartitionsToTxnRequest) -> Deferred:
        deadline_ms = self._environment.clock.now_ms() + self._config().request_timeout_ms
        return self._outgoing.send(peer, request, deadline_ms, purpose="transactions")

    def stop(self) -> None:
        """Answer every waiting caller with an error."""
        self.groups.stop()
        self.transactions.stop()

    def _make_groups(self) -> GroupCoordinator:
        from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator

        return GroupCoordinator.create(
            node_id=self._replica_manager.node_id,
            config=self._config(),
            replica_manager=self._replica_manager,
            environment=self._environment,
            wake=self._channel.wake,
        )

    def _make_transactions(self) -> TransactionCoordinator:
        from pykbroker.broker.transactions.marker_channel import MarkerChannel
        from pykbroker.coordinator.transaction.transaction_coordinator_driver import (
            TransactionCoordinator,
        )

        manager = self._replica_manager
        markers = MarkerChannel(
            config=self._config(),
            image=lambda: manager.image,
            outgoing=self._outgoing,
            now_ms=self._environment.clock.now_ms,
            write_locally=self._write_markers,
        )
        return TransactionCoordinator.create(
            config=self._config(),
            replica_manager=manager,
            environment=self._environment,
            wake=self._channel.wake,
            after_replies=self._channel.after_sends,
            take_producer_id=self._take_producer_id,
            write_markers=markers.write,
        )

"""The attributes of a node that metrics read. `BrokerServer` implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pykbroker.broker.handlers import Route
    from pykbroker.broker.metadata.metadata_view import MetadataView
    from pykbroker.broker.node_state import NodeState
    from pykbroker.broker.requests.worker import Worker
    from pykbroker.broker.services import BrokerServices
    from pykbroker.config import BrokerConfig
    from pykbroker.environment import Environment
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.kraft.node_driver import KraftNodeDriver
    from pykbroker.log.directories.log_manager import LogManager
    from pykbroker.metrics import Counters
    from pykbroker.network.socket_server import SocketServer
    from pykbroker.purgatory import Purgatory


class MonitoredNode(Protocol):
    """A node; those of the second block may not exist yet when metrics are read."""

    environment: Environment
    counters: Counters
    routes: list[Route]
    network: SocketServer
    purgatory: Purgatory

    log_manager: LogManager
    kraft: KraftNodeDriver
    metadata: MetadataView
    worker: Worker
    services: BrokerServices

    @property
    def config(self) -> BrokerConfig:
        """The current configuration."""

    @property
    def state(self) -> NodeState:
        """What the node is doing."""

    @property
    def image(self) -> MetadataImage:
        """The committed and published metadata."""

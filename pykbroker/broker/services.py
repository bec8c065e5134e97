"""What handlers work with: the parts of a node that a request may use.

    NodeServices      of every node: handlers that are served on controller listeners too
    BrokerServices    of a broker: the data, the groups, what waits

Which image of the metadata is read:

    a handler                 `metadata.image`: the last one that all parts of this node have taken
                              in, so a partition that it shows is hosted where it says
    produce and fetch         what the replica manager hosts; it takes every image in first
    the controller            its own, which is ahead by what is not committed yet

Parts that not every node needs are made, and their modules imported, when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pykbroker.broker.coordinators import Coordinators
from pykbroker.broker.handlers import Route
from pykbroker.broker.metadata.dynamic_config import DynamicConfig
from pykbroker.broker.metadata.metadata_view import MetadataView
from pykbroker.broker.requests.cold_reads import ColdReads
from pykbroker.broker.requests.validation_pool import ValidationPool
from pykbroker.config import BrokerConfig
from pykbroker.environment import Environment
from pykbroker.kraft.controller_channel_driver import ControllerChannel
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES
from pykbroker.kraft.raft.raft import Raft
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.metrics import Counters
from pykbroker.purgatory import Purgatory
from pykbroker.replication.replica_manager import ReplicaManager

if TYPE_CHECKING:  # imported by the first request that needs them
    from pykbroker.broker.metadata.topic_creation import TopicCreation
    from pykbroker.broker.producer_ids import ProducerIds
    from pykbroker.broker.requests.fetch_sessions import FetchSessions
    from pykbroker.broker.transactions.transaction_joining_driver import TransactionJoining
    from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
    from pykbroker.coordinator.transaction.transaction_coordinator_driver import (
        TransactionCoordinator,
    )
    from pykbroker.deferred import Deferred
    from pykbroker.kraft.raft.raft_service import RaftService
    from pykbroker.log.directories.log_mover_driver import LogMover


class Features(NamedTuple):
    """What ApiVersions tells of features: name -> (lowest, highest) and name -> level."""

    supported: dict[str, tuple[int, int]]
    finalized: dict[str, int]
    finalized_epoch: int


class NodeServices:
    """What every node has."""

    def __init__(
        self,
        *,
        environment: Environment,
        node_id: int,
        cluster_id: str,
        dynamic_config: DynamicConfig,
        counters: Counters,
        routes: list[Route],
        metadata: MetadataView,
        controller: ControllerChannel,
        raft: Raft,
        find_quorum: Callable[[], RaftService],
    ) -> None:
        """controller: takes requests to the active controller, in this process or elsewhere.

        raft: this node's replica of the metadata log; find_quorum: answers the others' requests.
        """
        self.environment = environment
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.dynamic_config = dynamic_config
        self.counters = counters
        self.routes = routes
        self.metadata = metadata
        self.controller = controller
        self.raft = raft
        self.now_ms = environment.clock.now_ms
        self.wall_ms = environment.clock.wall_ms
        self.breathe = environment.slices.breathe
        self._find_quorum = find_quorum

    @property
    def quorum(self) -> RaftService:
        """This node's replica of the metadata log, as other nodes ask it."""
        return self._find_quorum()

    @property
    def config(self) -> BrokerConfig:
        """The configuration as it is now."""
        return self.dynamic_config.current

    def features(self) -> Features:
        """What this node supports and what the cluster has finalised."""
        image = self.metadata.image
        levels = dict(image.features)
        kraft_version = self.raft.history.kraft_version
        if kraft_version > 0:
            levels["kraft.version"] = kraft_version
        supported = {name: (low, high) for name, (low, high) in SUPPORTED_FEATURES.items()}
        return Features(supported, levels, image.offset)


class BrokerServices(NodeServices):
    """What a broker has beside it."""

    def __init__(
        self,
        node: NodeServices,
        *,
        replica_manager: ReplicaManager,
        log_manager: LogManager,
        purgatory: Purgatory,
        cold_reads: ColdReads,
        validation: ValidationPool,
        coordinators: Coordinators,
        allocate_producer_ids: Callable[[], Deferred],
        find_mover: Callable[[], LogMover],
        wake: Callable[[], None],
    ) -> None:
        """wake: something was appended or resolved outside of a turn, have one soon."""
        super().__init__(
            environment=node.environment,
            node_id=node.node_id,
            cluster_id=node.cluster_id,
            dynamic_config=node.dynamic_config,
            counters=node.counters,
            routes=node.routes,
            metadata=node.metadata,
            controller=node.controller,
            raft=node.raft,
            find_quorum=node._find_quorum,
        )
        self.replica_manager = replica_manager
        self.log_manager = log_manager
        self.purgatory = purgatory
        self.cold_reads = cold_reads
        self.validation = validation
        self.wake = wake
        self.coordinators = coordinators
        self._allocate_producer_ids = allocate_producer_ids
        self._find_mover = find_mover

    @property
    def groups(self) -> GroupCoordinator:
        """The group coordinator; it is made when it is first asked for."""
        return self.coordinators.groups.get()

    @property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator; it is made when it is first asked for."""
        return self.coordinators.transactions.get()

    @property
    def transaction_joining(self) -> TransactionJoining:
        """What asks the coordinators of transactions; it is made when it is first asked for."""
        return self.coordinators.joining

    @property
    def mover(self) -> LogMover:
        """What moves partitions between log directories."""
        return self._find_mover()

    @cached_property
    def fetch_sessions(self) -> FetchSessions:
        """The cache of fetch sessions."""
        from pykbroker.broker.requests.fetch_sessions import FetchSessions

        slots = self.config.max_incremental_fetch_session_cache_slots
        choose_id = self.environment.random.randrange
        return FetchSessions(slots, choose_id, self.replica_manager.follower_session)

    @cached_property
    def producer_ids(self) -> ProducerIds:
        """Producer ids out of the blocks that the controller gives."""
        from pykbroker.broker.producer_ids import ProducerIds

        return ProducerIds(self._allocate_producer_ids)

    @cached_property
    def topic_creation(self) -> TopicCreation:
        """Topics that the broker makes by itself."""
        from pykbroker.broker.metadata.topic_creation import TopicCreation

        return TopicCreation(self.controller.send, config=lambda: self.config, now_ms=self.now_ms)

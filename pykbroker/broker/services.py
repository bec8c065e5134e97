"""The parts of a node that a request handler may use.

    NodeServices      of every node: for handlers that controller listeners serve as well
    BrokerServices    of a broker: the data, the groups, what waits

Which image of the metadata is read:

    a handler                 `metadata.image`: the last one that all parts of this node have
                              applied, so the replica manager knows the replicas it shows here
    the replica manager       its own, for produce and fetch, for example: it applies one earlier
    the controller            its own, which is ahead by what is not committed yet

Some parts are created, and their modules imported, at their first use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

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
from pykbroker.values import NamedTuple

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
    """The features in ApiVersions: name -> (lowest, highest) and name -> level."""

    supported: dict[str, tuple[int, int]]
    finalized: dict[str, int]
    finalized_epoch: int


class NodeServices:
    """The services of every node."""

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

        raft: this node's replica of the metadata log; find_quorum returns what answers the other
        replicas.
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
        """This node's replica of the metadata log, as other nodes query it."""
        return self._find_quorum()

    @property
    def config(self) -> BrokerConfig:
        """The current configuration."""
        return self.dynamic_config.current

    def features(self) -> Features:
        """The features that this node supports, and those that the cluster has finalised."""
        image = self.metadata.image
        levels = dict(image.features)
        kraft_version = self.raft.history.kraft_version
        if kraft_version > 0:
            levels["kraft.version"] = kraft_version
        supported = {name: (low, high) for name, (low, high) in SUPPORTED_FEATURES.items()}
        return Features(supported, levels, image.offset)


class BrokerServices(NodeServices):
    """The additional services of a broker."""

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
        """The group coordinator, created at its first use if its topic does not exist yet."""
        return self.coordinators.groups.get()

    @property
    def transactions(self) -> TransactionCoordinator:
        """The transaction coordinator, created at its first use if its topic does not exist yet."""
        return self.coordinators.transactions.get()

    @property
    def transaction_joining(self) -> TransactionJoining:
        """Asks the coordinators of transactions that write here; created at its first use."""
        return self.coordinators.joining

    @property
    def mover(self) -> LogMover:
        """Moves partitions between log directories."""
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
        """Assigns producer ids from the blocks that the controller allocates."""
        from pykbroker.broker.producer_ids import ProducerIds

        return ProducerIds(self._allocate_producer_ids)

    @cached_property
    def topic_creation(self) -> TopicCreation:
        """Creates topics automatically."""
        from pykbroker.broker.metadata.topic_creation import TopicCreation

        return TopicCreation(self.controller.send, config=lambda: self.config, now_ms=self.now_ms)

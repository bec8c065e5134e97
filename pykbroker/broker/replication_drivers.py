"""The drivers of this node's replication, created when a partition first needs them.

A single node has no followers and follows no leader: it neither creates nor imports the drivers
that send requests. Only the one that checks the in-sync replicas exists from the start.

Out: AlterPartition through the controller channel; requests to leaders (Fetch, ListOffsets) through
the client pool; `ReplicaManager.advance` by a timer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.outgoing import broker_peer
from pykbroker.config import BrokerConfig
from pykbroker.environment import Environment
from pykbroker.replication.isr_check_driver import IsrCheckDriver
from pykbroker.replication.partition import Partition
from pykbroker.replication.partition_events import ProposeIsr
from pykbroker.replication.replica_manager import ReplicaManager
from pykbroker.types import Peer

if TYPE_CHECKING:
    from pykbroker.broker.outgoing import Outgoing
    from pykbroker.kraft.controller_channel_driver import ControllerChannel
    from pykbroker.replication.alter_partition_driver import AlterPartitionDriver
    from pykbroker.replication.fetcher_driver import FetcherDriver


class ReplicationDrivers:
    """Implements `IsrProposals` and `Following` for the replica manager."""

    def __init__(
        self,
        *,
        manager: ReplicaManager,
        environment: Environment,
        config: BrokerConfig,
        outgoing: Outgoing,
        channel: ControllerChannel,
        broker_epoch: Callable[[], int],
        wake: Callable[[], None],
    ) -> None:
        self._manager = manager
        self._environment = environment
        self._config = config
        self._outgoing = outgoing
        self._channel = channel
        self._broker_epoch = broker_epoch
        self._wake = wake
        self._proposals: AlterPartitionDriver | None = None
        self._fetchers: FetcherDriver | None = None
        self._isr_check = IsrCheckDriver(
            manager,
            environment.scheduler,
            environment.clock.now_ms,
            config.replica_lag_time_max_ms,
        )
        manager.connect(self, self)
        self._isr_check.start()

    def submit(self, partition: Partition, proposal: ProposeIsr) -> None:
        """See `IsrProposals`."""
        if self._proposals is None:
            self._proposals = self._make_proposals()
        self._proposals.submit(partition, proposal)

    def follow(self, partition: Partition) -> None:
        """See `Following`."""
        if self._fetchers is None:
            if partition.leader < 0:
                return
            self._fetchers = self._make_fetchers()
        self._fetchers.follow(partition)

    def leave(self, partition: Partition) -> None:
        """See `Following`."""
        if self._fetchers is not None:
            self._fetchers.leave(partition)

    def on_config(self, config: BrokerConfig) -> None:
        """Apply a changed (dynamic) configuration: the number of fetchers."""
        self._config = config
        if self._fetchers is not None:
            self._fetchers.resize(config.num_replica_fetchers)

    def close(self) -> None:
        """Stop fetching and proposing."""
        self._isr_check.close()
        if self._proposals is not None:
            self._proposals.close()
        if self._fetchers is not None:
            self._fetchers.close()

    def _make_proposals(self) -> AlterPartitionDriver:
        from pykbroker.replication.alter_partition_driver import AlterPartitionDriver

        return AlterPartitionDriver(
            manager=self._manager,
            send_to_controller=self._channel.send,
            scheduler=self._environment.scheduler,
            now_ms=self._environment.clock.now_ms,
            broker_epoch=self._broker_epoch,
            on_progress=self._wake,
        )

    def _make_fetchers(self) -> FetcherDriver:
        from pykbroker.replication.fetch_plan import FetchLimits
        from pykbroker.replication.fetcher import FetcherWorld
        from pykbroker.replication.fetcher_driver import FetcherDriver

        config = self._config
        world = FetcherWorld(
            manager=self._manager,
            scheduler=self._environment.scheduler,
            now_ms=self._environment.clock.now_ms,
            peer_of=self._peer_of,
            broker_epoch=self._broker_epoch,
            on_progress=self._wake,
            limits=FetchLimits(
                wait_max_ms=config.replica_fetch_wait_max_ms,
                min_bytes=config.replica_fetch_min_bytes,
                response_max_bytes=config.replica_fetch_response_max_bytes,
                max_bytes=config.replica_fetch_max_bytes,
                backoff_ms=config.replica_fetch_backoff_ms,
            ),
            request_timeout_ms=config.replica_socket_timeout_ms,
        )
        return FetcherDriver(
            world,
            lambda purpose: partial(self._outgoing.send, purpose=purpose),
            config.num_replica_fetchers,
        )

    def _peer_of(self, broker_id: int) -> Peer | None:
        return broker_peer(self._manager.image, broker_id, self._config.inter_broker_listener)

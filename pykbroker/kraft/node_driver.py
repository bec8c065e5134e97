"""The metadata side of one node: quorum, controller, image, and the broker's registration.

    open ------------ snapshot and log are read; a quorum of one elects itself, its controller is
                      active, bootstrap records are in the log (with very many partitions, the
                      controller becomes active in slices, a little later)
    publish_to ------ the rest of the node receives the whole image, then every change
    register_broker - the broker's epoch is known; it is fenced
    unfence --------- clients see it
    controlled_shutdown, close

In:    calls, those above in that order; commits, snapshots and leaders of the quorum.
Out:   Deferreds; `on_fatal` if the node must stop.
Source: Kafka's `SharedServer.scala`, `BrokerServer.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pykbroker.config import BrokerConfig
from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred, spawn
from pykbroker.environment import Environment
from pykbroker.environment.files import LogDirFailure
from pykbroker.kraft.broker_lifecycle_driver import BrokerLifecycleDriver
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.controller_channel_driver import ControllerChannel
from pykbroker.kraft.controller_driver import ControllerDriver
from pykbroker.kraft.controller_registration_driver import (
    ControllerRegistrationDriver,
    registration_request,
)
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_bootstrap import (
    bootstrap_of,
    refuse_lost_metadata,
    static_voters,
)
from pykbroker.kraft.metadata_log import LogBatch, MetadataLog
from pykbroker.kraft.metadata_log_check import CorruptMetadataLog
from pykbroker.kraft.metadata_snapshot import (
    BOOTSTRAP,
    CorruptSnapshot,
    Snapshot,
)
from pykbroker.kraft.metadata_snapshots_driver import MetadataSnapshots
from pykbroker.kraft.publisher import (
    MetadataLoader,
    Publisher,
    UnsupportedCluster,
)
from pykbroker.kraft.raft.initial_voters import bootstrap_servers, local_voter
from pykbroker.kraft.raft.quorum_state import CorruptQuorumState
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.kraft.raft.raft_peers import RaftPeers
from pykbroker.kraft.raft.voters import QuorumHistory, VoterNode
from pykbroker.kraft.registration import Listener
from pykbroker.kraft.storage_format import (
    Storage,
    StorageError,
    metadata_log_path,
)
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.broker_registration_request import BrokerRegistrationRequest
from pykbroker.protocol.primitives import Message
from pykbroker.purgatory import Purgatory

if TYPE_CHECKING:  # imported with the first request of another replica
    from pykbroker.kraft.raft.raft_links import RaftLinks
    from pykbroker.kraft.raft.raft_service import RaftService

# The number of partitions up to which a controller's term begins without a pause.
INDEXED_AT_ONCE = 5000
# BrokerServer.scala: how long a broker tries to reach a controller if no session limits it.
_REQUEST_TIMEOUT_MS = 60_000
_CATCH_UP_POLL_MS = 10
_WAIT_LOG_MS = 10_000

_log = logging.getLogger(__name__)


class KraftNodeDriver:
    """The metadata of one node: quorum, controller, image and registration."""

    def __init__(
        self,
        *,
        config: BrokerConfig,
        storage: Storage,
        environment: Environment,
        on_fatal: Callable[[BaseException], None],
        send: Callable[..., Deferred],
        purgatory: Purgatory,
        is_clean: bool = False,
        previous_broker_epoch: int = -1,
        controller_ports: Mapping[str, int] | None = None,
    ) -> None:
        self.config = config
        self.storage = storage
        self._files = environment.files
        self._scheduler = environment.scheduler
        self._threads = environment.background.threads("metadata-log")
        # An fsync must not wait for a snapshot to be written: voters would elect another leader.
        self._snapshot_threads = environment.background.threads("metadata-snapshots")
        self._now_ms = environment.clock.now_ms
        self._random = environment.random
        self._slices = environment.slices
        self._new_uuid = environment.random.new_uuid
        self._on_fatal = on_fatal
        self._send = send
        self._purgatory = purgatory
        self._is_clean = is_clean
        self._controller_ports = controller_ports
        self._loader = MetadataLoader(environment.slices, self._fail)
        self._closed = False
        self._log: MetadataLog | None = None
        self._is_open = False
        self.raft: RaftDriver
        self.controller: ControllerDriver | None = None  # on a node with that role
        self.channel: ControllerChannel
        self._snapshots: MetadataSnapshots
        self._registration: ControllerRegistrationDriver | None = None  # likewise
        self._links: RaftLinks | None = None  # unless this is the only voter
        ids = storage.directory_ids
        log_ids = [ids[directory] for directory in config.log_directories if directory in ids]
        self.broker = BrokerLifecycleDriver(
            config=config,
            cluster_id=storage.cluster_id,
            incarnation_id=self._new_uuid(),
            directory_ids=log_ids,
            previous_broker_epoch=previous_broker_epoch,
            send=self._send_to_controller,
            image=lambda: self._loader.image,
            scheduler=self._scheduler,
            now_ms=self._now_ms,
        )

    @property
    def image(self) -> MetadataImage:
        """The committed and published metadata."""
        return self._loader.image

    @cached_property
    def service(self) -> RaftService:
        """The service that answers other replicas of the quorum; created with the first request."""
        from pykbroker.kraft.raft.raft_service import RaftService

        return RaftService(
            driver=self.raft,
            peers=self.peers,
            cluster_id=self.storage.cluster_id,
            purgatory=self._purgatory,
            now_ms=self._now_ms,
        )

    @property
    def broker_epoch(self) -> int:
        """The epoch of this broker's registration, -1 before registration."""
        return self.broker.broker_epoch

    @property
    def kraft_version(self) -> int:
        """The finalised level of kraft.version."""
        return self.raft.raft.history.kraft_version

    def finalized_features(self) -> dict[str, int]:
        """Finalised levels above 0, as returned by ApiVersions."""
        levels = dict(self.image.features)
        if self.kraft_version > 0:
            levels["kraft.version"] = self.kraft_version
        return levels

    # Starting.

    def open(self) -> None:
        """Load the metadata; blocks for a few fsyncs. Raises StorageError, UnsupportedCluster,
        InconsistentMetadata.
        """
        directory = metadata_log_path(self.config)
        try:
            self._open(directory)
        except CorruptQuorumState as fault:
            raise StorageError(f"{directory}/quorum-state: {fault}") from fault
        except CorruptSnapshot as fault:
            raise StorageError(f"{directory}: {fault}") from fault
        except (CorruptMetadataLog, LogDirFailure) as fault:
            raise StorageError(str(fault)) from fault
        except OSError as fault:
            raise StorageError(f"{fault.filename or directory}: {fault.strerror}") from fault

    def _open(self, directory: str) -> None:
        now_ms = self._now_ms()
        log = MetadataLog(self._files, directory, self.config, now_ms, is_clean=self._is_clean)
        self._log = log
        snapshot_id = log.latest_snapshot_id()
        snapshot = None if snapshot_id is None else log.read_snapshot(snapshot_id)
        bootstrap = bootstrap_of(self.config, self._files, snapshot)
        if snapshot is not None and snapshot.id != BOOTSTRAP:
            self._loader.load_snapshot(snapshot)
        directory_id = self.storage.directory_ids[self.config.metadata_log_directory]
        local = local_voter(self.config, directory_id, self._controller_ports)
        history = QuorumHistory(static_voters(self.config, local, snapshot))
        voters = history.voters
        if snapshot is not None and snapshot.voters is not None:
            voters = snapshot.voters
        alone = voters.ids == [local.key.id]
        if alone and log.end.offset == 0:
            refuse_lost_metadata(self.config, self._files, log, bootstrap)
        self._make_raft(log, history, local)
        self._make_controllers(bootstrap)
        if not alone:
            self._links = self._make_links()
        self._is_open = True
        self.raft.open(snapshot)
        if alone and not self.raft.raft.is_leader:
            raise UnsupportedCluster(
                "The voter of this cluster is another directory of this node: the directory.id "
                f"of {self.config.metadata_log_directory} is not the one in the metadata log"
            )
        if self._links is not None:
            self._links.start()
        self._snapshots.start()
        if self.controller is not None:
            self._registration = ControllerRegistrationDriver(
                request=registration_request(self.config, local, self._new_uuid()),
                send=self._send_to_controller,
                image=lambda: self.image,
                scheduler=self._scheduler,
            )
            self._registration.look()

    def _make_raft(self, log: MetadataLog, history: QuorumHistory, local: VoterNode) -> None:
        config = self.config
        raft = Raft(
            local=local,
            history=history,
            election_timeout_ms=config.controller_quorum_election_timeout_ms,
            fetch_timeout_ms=config.controller_quorum_fetch_timeout_ms,
            election_backoff_max_ms=config.controller_quorum_election_backoff_max_ms,
            random=self._random,
        )
        self.peers = RaftPeers(
            local=local,
            voters=lambda: history.voters,
            bootstrap_servers=bootstrap_servers(config),
            listener=local.endpoints[0].name,
            random=self._random,
        )
        self.raft = RaftDriver(
            log=log,
            raft=raft,
            scheduler=self._scheduler,
            threads=self._threads,
            now_ms=self._now_ms,
            listener=self,
            on_fatal=self._on_fatal,
        )
        self._snapshots = MetadataSnapshots(
            raft=self.raft,
            loader=self._loader,
            config=config,
            scheduler=self._scheduler,
            threads=self._snapshot_threads,
            now_ms=self._now_ms,
            on_fatal=self._on_fatal,
        )

    def _make_links(self) -> RaftLinks:
        from pykbroker.kraft.raft.raft_links import RaftLinks

        return RaftLinks(
            driver=self.raft,
            peers=self.peers,
            cluster_id=self.storage.cluster_id,
            config=self.config,
            send=self._send,
            scheduler=self._scheduler,
            threads=self._threads,
            now_ms=self._now_ms,
            on_fatal=self._on_fatal,
        )

    def _make_controllers(self, bootstrap: list[MetadataRecord]) -> None:
        config = self.config
        if config.is_controller:
            self.controller = ControllerDriver(
                make_controller=self._make_controller,
                takes_long=self._has_many_partitions,
                scheduler=self._scheduler,
                now_ms=self._now_ms,
                bootstrap=bootstrap,
                idle_interval_ms=config.metadata_max_idle_interval_ms,
                fence_interval_ms=max(config.broker_session_timeout_ms // 8, 1),
                balance_interval_ms=(
                    config.leader_imbalance_check_interval_seconds * 1000
                    if config.auto_leader_rebalance_enable
                    else 0
                ),
                unclean_interval_ms=config.unclean_leader_election_interval_ms,
                on_fatal=self._on_fatal,
                slices=self._slices,
            )
            self.controller.attach(self.raft)
        self.channel = ControllerChannel(
            local=self.controller,
            leader=lambda: self.peers.find(self.raft.raft.leader_id),
            send=partial(self._send, purpose="controller"),
            scheduler=self._scheduler,
            now_ms=self._now_ms,
        )

    def _make_controller(self, next_offset: int, kraft_version: int) -> Controller:
        return Controller(
            node_id=self.config.node_id,
            cluster_id=self.storage.cluster_id,
            config=self.config,
            new_uuid=self._new_uuid,
            random=self._random,
            committed=self._loader.committed(),
            next_offset=next_offset,
            kraft_version=kraft_version,
            voter_ids=lambda: self.raft.raft.voters.nodes,
            breathe=self._slices.breathe,
        )

    def _has_many_partitions(self) -> bool:
        return self._loader.committed().stable.partition_count > INDEXED_AT_ONCE

    async def catch_up(self) -> None:
        """Wait until this node has read what the quorum has committed; a quorum
        of one already has.
        """
        waited_ms = 0
        while not (self._closed or self.raft.is_caught_up):
            if waited_ms % _WAIT_LOG_MS == 0 and waited_ms:
                _log.info(
                    "Waiting for the metadata quorum: %s, read up to offset %d",
                    self._where_the_quorum_is(),
                    self.image.offset,
                )
            await self._scheduler.sleep(_CATCH_UP_POLL_MS)
            waited_ms += _CATCH_UP_POLL_MS

    def _where_the_quorum_is(self) -> str:
        raft = self.raft.raft
        if raft.leader_id >= 0:
            return f"node {raft.leader_id} leads epoch {raft.epoch}"
        return f"no leader is known in epoch {raft.epoch}"

    async def leave_quorum(self) -> None:
        """Resign if leading, and allow a moment for the messages to reach the other voters."""
        if not self.raft.raft.is_leader:
            return
        if self.controller is not None:
            self.controller.deactivate()
        self.raft.resign()
        until_ms = self._now_ms() + self.config.controller_quorum_request_timeout_ms
        while self._links and self._links.in_flight and self._now_ms() < until_ms:
            await self._scheduler.sleep(_CATCH_UP_POLL_MS)

    def publish_to(self, publishers: Sequence[Publisher]) -> Deferred:
        """Publish to these, in this order: the whole image now, then every
        change. See `MetadataLoader`.
        """
        return self._loader.publish_to(publishers)

    def stop_publishing(self) -> Deferred | None:
        """Publish nothing more. See `MetadataLoader`."""
        return self._loader.stop_publishing()

    def _fail(self, failure: BaseException) -> None:
        """Stop the node: a publisher failed in a slice, so the state of the cluster is unknown."""
        self.raft.fail(failure)

    def register_broker(self, listeners: Sequence[Listener]) -> Deferred:
        """Register this broker with the open ports; resolved with its epoch once the metadata here
        contains it, or with a KafkaError.
        """
        return spawn(self._register_broker(listeners))

    async def _register_broker(self, listeners: Sequence[Listener]) -> int:
        epoch: int = await self.broker.register(listeners)
        while not (self._closed or self._is_registered_since(epoch)):
            await self._scheduler.sleep(_CATCH_UP_POLL_MS)
        return epoch

    def _is_registered_since(self, epoch: int) -> bool:
        registration = self.image.brokers.get(self.config.node_id)
        return registration is not None and registration.epoch >= epoch

    def unfence(self) -> Deferred:
        """Make this broker visible to clients; resolved with None when it is."""
        return self.broker.unfence()

    def take_snapshot(self) -> None:
        """Begin to write a snapshot of the published metadata, unless one is as new."""
        self._snapshots.take()

    def controlled_shutdown(self) -> Deferred:
        """Return a Deferred that is resolved when this broker leads nothing any
        more and is fenced.
        """
        return self.broker.controlled_shutdown()

    def allocate_producer_ids(self) -> Deferred:
        """Request a block of producer ids for this broker:
        AllocateProducerIdsResponse or a KafkaError.
        """
        return self.broker.allocate_producer_ids()

    def close(self) -> None:
        """Stop deciding and put everything on disk; also cleans up after a failed `open`.

        Call `controlled_shutdown` first.
        """
        if self._closed:
            return
        self._closed = True
        if self._registration is not None:
            self._registration.stop()
        self.broker.stop()
        if self._is_open:
            if self.controller is not None:
                self.controller.deactivate()
            if self.raft.raft.is_leader:
                self.raft.resign()
            if self._links is not None:
                self._links.stop()
            self._snapshots.stop()
            self.raft.stop()
        self._threads.close()
        self._snapshot_threads.close()
        if self._log is not None:
            try:
                self._log.close()
            except LogDirFailure as failure:
                _log.error("The metadata log was not closed cleanly: %s", failure)

    def _send_to_controller(self, request: Message) -> Deferred:
        """Send a request to the controller; a heartbeat or a registration is abandoned after the
        time of a session (BrokerServer.scala).
        """
        timeout_ms = _REQUEST_TIMEOUT_MS
        if isinstance(request, (BrokerHeartbeatRequest, BrokerRegistrationRequest)):
            timeout_ms = self.config.broker_session_timeout_ms
        return self.channel.send(request, self._now_ms() + timeout_ms)

    # Callbacks of the quorum.

    def on_commit(self, batches: Sequence[LogBatch]) -> Deferred | None:
        """Publish committed batches first, then release the replies that report them."""
        return self._loader.on_commit(
            batches, partial(self._published, batches), may_breathe=not self.raft.is_opening
        )

    def _published(self, batches: Sequence[LogBatch]) -> None:
        if self.controller is not None:
            self.controller.on_commit(batches)
        if self._registration is not None:
            self._registration.look()
        self._snapshots.on_commit()

    def on_snapshot(self, snapshot: Snapshot) -> None:
        """Replace this node's metadata by a snapshot of the leader; publish the difference."""
        self._loader.load_snapshot(snapshot)

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Handle a change of the quorum's leader."""
        if self.controller is not None:
            self.controller.on_leader(leader_id == self.config.node_id, epoch)

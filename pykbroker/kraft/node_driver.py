"""One node's part in the metadata: quorum, controller, image, and the broker's registration.

    open ------------ snapshot and log are read, the quorum of one elects itself, the controller is
                      active, bootstrap records are in the log
    publish_to ------ the rest of the node is told all there is, then every change
    register_broker - the broker's epoch is known; it is fenced
    unfence --------- clients see it
    controlled_shutdown, close

State: the parts, nothing of its own but when the last snapshot was taken.
In:    the calls above, in that order. Out: Deferreds; `on_fatal` when the node must stop.
Source: Kafka's `SharedServer.scala`, `BrokerServer.scala`, `SnapshotGenerator.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from pykbroker.config import BrokerConfig
from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import Timer
from pykbroker.errors import KafkaError
from pykbroker.kraft.broker_lifecycle_driver import BrokerLifecycleDriver
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.controller_channel_driver import ControllerChannel, Send
from pykbroker.kraft.controller_driver import ControllerDriver
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_log import LogBatch, MetadataLog
from pykbroker.kraft.metadata_log_check import CorruptMetadataLog
from pykbroker.kraft.metadata_snapshot import (
    BOOTSTRAP,
    CorruptSnapshot,
    Snapshot,
    SnapshotId,
    decode_snapshot,
)
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES, unsupported_features
from pykbroker.kraft.publisher import MetadataLoader, Publisher, UnsupportedCluster
from pykbroker.kraft.quorum_state import CorruptQuorumState
from pykbroker.kraft.raft import Raft
from pykbroker.kraft.raft_driver import RaftDriver
from pykbroker.kraft.registration import SECURITY_PROTOCOL_IDS, Listener
from pykbroker.kraft.storage_format import (
    METADATA_DIRECTORY,
    Storage,
    StorageError,
    local_voter,
    metadata_log_path,
)
from pykbroker.kraft.voters import QuorumHistory, ReplicaKey, VoterEndpoint, VoterNode, VoterSet
from pykbroker.log.partition_directories import parse_directory_name
from pykbroker.protocol.messages import controller_registration_request as registration
from pykbroker.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from pykbroker.protocol.messages.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from pykbroker.protocol.primitives import Message
from pykbroker.types import Peer

# KafkaRaftClient.java: old snapshots are looked for once a minute.
_CLEAN_INTERVAL_MS = 60_000
# BrokerServer.scala: how long a broker tries to reach a controller, where no session limits it.
_REQUEST_TIMEOUT_MS = 60_000

_log = logging.getLogger(__name__)


class KraftNodeDriver:
    """See the module's text."""

    def __init__(
        self,
        *,
        config: BrokerConfig,
        storage: Storage,
        environment: Environment,
        on_fatal: Callable[[BaseException], None],
        send: Send,
        is_clean: bool = False,
        previous_broker_epoch: int = -1,
        controller_ports: Mapping[str, int] | None = None,
    ) -> None:
        self.config = config
        self.storage = storage
        self._files = environment.files
        self._scheduler = environment.scheduler
        self._threads = environment.background.threads("metadata-log")
        self._now_ms = environment.clock.now_ms
        self._random = environment.random
        self._new_uuid = environment.random.new_uuid
        self._on_fatal = on_fatal
        self._send = send
        self._is_clean = is_clean
        self._controller_ports = controller_ports
        self._loader = MetadataLoader()
        self._clean_timer: Timer | None = None
        self._snapshot_ms = 0
        self._snapshot_running = False
        self._closed = False
        self._log: MetadataLog | None = None
        self._is_open = False
        self.raft: RaftDriver
        self.controller: ControllerDriver
        self.channel: ControllerChannel
        ids = storage.directory_ids
        log_ids = [ids[directory] for directory in config.log_directories if directory in ids]
        self.broker = BrokerLifecycleDriver(
            config=config,
            cluster_id=storage.cluster_id,
            incarnation_id=self._new_uuid(),
            directory_ids=log_ids,
            previous_broker_epoch=previous_broker_epoch,
            send=self._send_to_controller,
            metadata_offset=lambda: self._loader.image.offset,
            scheduler=self._scheduler,
        )

    @property
    def image(self) -> MetadataImage:
        """The metadata as it is committed and published."""
        return self._loader.image

    @property
    def broker_epoch(self) -> int:
        """The epoch of this broker's registration, -1 before it."""
        return self.broker.broker_epoch

    @property
    def kraft_version(self) -> int:
        """The finalised level of kraft.version."""
        return self.raft.raft.history.kraft_version

    def finalized_features(self) -> dict[str, int]:
        """Finalised levels above 0, as ApiVersions shows them."""
        levels = dict(self.image.features)
        if self.kraft_version > 0:
            levels["kraft.version"] = self.kraft_version
        return levels

    # Starting.

    def open(self) -> None:
        """Bring the metadata up; blocks for a few fsyncs. StorageError, UnsupportedCluster."""
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
        bootstrap = self._bootstrap(log, snapshot)
        if log.end.offset == 0:
            self._refuse_lost_metadata(directory)
        if snapshot is not None and snapshot.id != BOOTSTRAP:
            self._loader.load_snapshot(snapshot)
        self._snapshot_ms = now_ms
        directory_id = self.storage.directory_ids[self.config.metadata_log_directory]
        local = local_voter(self.config, directory_id, self._controller_ports)
        history = QuorumHistory(self._static_voters(local))
        self._make_drivers(log, history, local, bootstrap)
        self._is_open = True
        self.raft.open(snapshot)
        if not self.controller.is_active:
            voters = history.voters.ids
            if voters == [local.key.id]:
                raise UnsupportedCluster(
                    "The voter of this cluster is another directory of this node: the directory.id "
                    f"of {self.config.metadata_log_directory} is not the one in the metadata log"
                )
            raise UnsupportedCluster(
                "This version serves quorums of one voter; the voters of this one are "
                f"{voters}, and this node is {local.key.id}"
            )
        self._register_controller(local)
        self._schedule_clean()

    def _make_drivers(
        self,
        log: MetadataLog,
        history: QuorumHistory,
        local: VoterNode,
        bootstrap: list[MetadataRecord],
    ) -> None:
        config = self.config
        raft = Raft(
            local=local,
            history=history,
            election_timeout_ms=config.controller_quorum_election_timeout_ms,
            fetch_timeout_ms=config.controller_quorum_fetch_timeout_ms,
            election_backoff_max_ms=config.controller_quorum_election_backoff_max_ms,
            random=self._random,
        )
        self.controller = ControllerDriver(
            make_controller=self._make_controller,
            scheduler=self._scheduler,
            now_ms=self._now_ms,
            bootstrap=bootstrap,
            idle_interval_ms=config.metadata_max_idle_interval_ms,
            fence_interval_ms=max(config.broker_session_timeout_ms // 4, 1),
            on_fatal=self._on_fatal,
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
        self.controller.attach(self.raft)
        self.channel = ControllerChannel(
            local=self.controller,
            leader=self._active_controller,
            send=self._send,
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
        )

    def _bootstrap(self, log: MetadataLog, latest: Snapshot | None) -> list[MetadataRecord]:
        """The records for an empty log: of the checkpoint that formatting left."""
        records: list[MetadataRecord] = []
        if latest is not None and latest.id == BOOTSTRAP:
            records = latest.records
        elif latest is None:
            # Kafka before 4.3 kept them beside the metadata log, in the log directory itself.
            path = f"{self.config.metadata_log_directory}/bootstrap.checkpoint"
            if self._files.exists(path):
                records = decode_snapshot(BOOTSTRAP, self._files.read_file(path)).records
            elif log.end.offset == 0:
                self._refuse_lost_metadata(log.directory)
                raise StorageError(f"{log.directory} holds no metadata: format the directory again")
        levels = {
            record.message.name: record.message.feature_level
            for record in records
            if type(record.message).__name__ == "FeatureLevelRecord"
        }
        reasons = unsupported_features(levels)
        if reasons:
            raise UnsupportedCluster("This broker cannot serve the cluster: " + "; ".join(reasons))
        return records

    def _refuse_lost_metadata(self, directory: str) -> None:
        """An empty metadata log knows no topic: the node would set every partition aside."""
        for log_directory in self.config.log_directories:
            if not self._files.is_dir(log_directory):
                continue
            for name in self._files.listdir(log_directory):
                parsed = parse_directory_name(name)
                if parsed is None or parsed.kind or name == METADATA_DIRECTORY:
                    continue
                raise StorageError(
                    f"{directory} has lost its records, but {log_directory} holds partitions "
                    f"({name}): without their metadata all of them would be set aside"
                )

    def _static_voters(self, local: VoterNode) -> VoterSet:
        """controller.quorum.voters: `1@host:9093`; used while kraft.version is 0."""
        nodes = []
        name = local.endpoints[0].name
        for entry in self.config.controller_quorum_voters:
            node_id, _, address = str(entry).partition("@")
            host, _, port = address.rpartition(":")
            endpoint = VoterEndpoint(name, host, int(port))
            nodes.append(VoterNode(ReplicaKey(int(node_id)), (endpoint,)))
        return VoterSet(nodes or [local._replace(key=ReplicaKey(local.key.id))])

    def _register_controller(self, local: VoterNode) -> None:
        protocols = {
            at.listener_name: at.security_protocol for at in self.config.controller_endpoints
        }
        request = registration.ControllerRegistrationRequest(
            controller_id=local.key.id,
            incarnation_id=self._new_uuid(),
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
                registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
        )
        deadline_ms = self._now_ms() + _REQUEST_TIMEOUT_MS
        self.channel.send(request, deadline_ms).on_resolved(_log_refusal)

    def publish_to(self, publishers: Sequence[Publisher]) -> None:
        """Tell these, in this order: all there is now, then every change."""
        self._loader.publish_to(publishers)

    def register_broker(self, listeners: Sequence[Listener]) -> Deferred:
        """Register this broker with the ports that are open; resolved with its epoch."""
        return self.broker.register(listeners)

    def unfence(self) -> Deferred:
        """Have clients see this broker; resolved when they do (or with a KafkaError)."""
        return self.broker.unfence()

    def controlled_shutdown(self) -> Deferred:
        """Resolved when this broker leads nothing any more and is fenced."""
        return self.broker.controlled_shutdown()

    def allocate_producer_ids(self) -> Deferred:
        """A block of producer ids for this broker: AllocateProducerIdsResponse or a KafkaError."""
        return self.broker.allocate_producer_ids()

    def close(self) -> None:
        """Stop deciding, put everything on disk; also what `open` left half done.

        Call `controlled_shutdown` before.
        """
        if self._closed:
            return
        self._closed = True
        self.broker.stop()
        if self._clean_timer is not None:
            self._clean_timer.cancel()
        if self._is_open:
            if self.controller.is_active:
                self.controller.deactivate()
                self.raft.resign()
            self.raft.stop()
        self._threads.close()
        if self._log is not None:
            try:
                self._log.close()
            except LogDirFailure as failure:
                _log.error("The metadata log is not closed cleanly: %s", failure)

    def _send_to_controller(self, request: Message) -> Deferred:
        """BrokerServer.scala: a heartbeat is given up when its session is over anyway."""
        timeout_ms = self.config.broker_session_timeout_ms
        if isinstance(request, (AllocateProducerIdsRequest, AssignReplicasToDirsRequest)):
            timeout_ms = _REQUEST_TIMEOUT_MS
        return self.channel.send(request, self._now_ms() + timeout_ms)

    def _active_controller(self) -> Peer | None:
        """Where another node leads the quorum, as far as this one knows."""
        raft = self.raft.raft
        node = raft.voters.nodes.get(raft.leader_id)
        if node is None or raft.leader_id == self.config.node_id:
            return None
        _, host, port = node.endpoints[0]
        return Peer(raft.leader_id, host, port)

    # What the quorum tells.

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """Publish first, then release the replies that tell of it."""
        self._loader.on_commit(batches)
        self.controller.on_commit(batches)
        self._maybe_snapshot()

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Who leads the quorum."""
        self.controller.on_leader(leader_id == self.config.node_id, epoch)

    # Snapshots.

    def _maybe_snapshot(self) -> None:
        """metadata.log.max.record.bytes.between.snapshots, metadata.log.max.snapshot.interval.ms"""
        if self._snapshot_running or self._closed or self._loader.in_transaction:
            return
        now_ms = self._now_ms()
        interval = self.config.metadata_log_max_snapshot_interval_ms
        size_due = (
            self._loader.bytes_since_snapshot
            >= self.config.metadata_log_max_record_bytes_between_snapshots
        )
        time_due = interval > 0 and now_ms - self._snapshot_ms >= interval
        if size_due or time_due:
            self.take_snapshot()

    def take_snapshot(self) -> None:
        """Write a snapshot of the published image, in a thread."""
        image = self._loader.image
        snapshot_id = SnapshotId(image.offset + 1, image.provenance.epoch)
        latest = self.raft.log.latest_snapshot_id()
        if image.offset < 0 or (latest is not None and latest >= snapshot_id):
            return
        self._snapshot_running = True
        self._snapshot_ms = self._now_ms()
        self._loader.bytes_since_snapshot = 0
        _log.info("Writing the metadata snapshot %s", snapshot_id.file_name)

        def done() -> None:
            self._snapshot_running = False

        self.raft.write_snapshot(
            snapshot_id, lambda: list(image.records()), image.provenance.timestamp_ms, done
        )

    def _schedule_clean(self) -> None:
        def run() -> None:
            if not self._closed:
                self.raft.clean()
                self._schedule_clean()

        self._clean_timer = self._scheduler.call_later(_CLEAN_INTERVAL_MS, run)


def _log_refusal(reply: object) -> None:
    """A controller that is not registered decides all the same; others only do not see it."""
    if isinstance(reply, KafkaError):
        _log.warning("This controller is not registered in the cluster: %s", reply)

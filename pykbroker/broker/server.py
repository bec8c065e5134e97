"""One node, put together. Read it top-down: `start` is the order in which a node comes up; `stop`
undoes the steps, as a rule the last one first.

    start   bind the ports        a port in use leaves no trace
            open the storage      directories locked, formatted if empty, identity checked
            open the quorum       metadata log read
            catch up              controllers are served from here on; what is committed arrives
            register              a broker: before it follows the metadata of its partitions
            build the services    a broker: replica manager, coordinators, publishers; load logs
            serve                 a broker: unfenced, accepting (states: `node_state.py`)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.coordinators import Coordinators
from pykbroker.broker.endpoints import advertised_listeners, client_endpoints
from pykbroker.broker.handlers import make_routes
from pykbroker.broker.metadata.dynamic_config import DynamicConfig
from pykbroker.broker.metadata.metadata_view import MetadataView
from pykbroker.broker.metadata.publisher_steps import RegistrationStep, ReplicaManagerStep
from pykbroker.broker.node_state import LogDirLost, NodeState, StateKeeper
from pykbroker.broker.outgoing import Outgoing
from pykbroker.broker.purgatory_timer import PurgatoryTimer
from pykbroker.broker.replication_drivers import ReplicationDrivers
from pykbroker.broker.requests.cold_reads import ColdReads
from pykbroker.broker.requests.validation_pool import ValidationPool
from pykbroker.broker.requests.worker import REQUEST_LOG, Worker
from pykbroker.broker.services import BrokerServices, NodeServices
from pykbroker.config import BrokerConfig, ConfigError, Endpoint, TopicConfig
from pykbroker.deferred import Cancelled, Deferred, first_of
from pykbroker.environment import Environment
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import within
from pykbroker.errors import KafkaError, StartError
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.node_driver import KraftNodeDriver
from pykbroker.kraft.publisher import UnsupportedCluster
from pykbroker.kraft.storage_format import (
    Storage,
    StorageError,
    check_log_directories,
    ensure_storage,
    survey_directories,
)
from pykbroker.log.directories.closing import closing_in
from pykbroker.log.directories.directory_loader import loading_in
from pykbroker.log.directories.housekeeping_driver import HousekeepingDriver
from pykbroker.log.directories.log_directory import DirectoryRefused, LogDirectory
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.metrics import Counters
from pykbroker.network.socket_server import SocketServer
from pykbroker.purgatory import EFFORT_PER_TURN, Purgatory
from pykbroker.replication.replica_manager import ReplicaManager

if TYPE_CHECKING:  # imported when the node serves
    from pykbroker.broker.monitoring.endpoint import MonitoringEndpoint
    from pykbroker.log.compaction.cleaner_driver import CleanerDriver

CONTROLLED_SHUTDOWN_MS = 30_000
CLEANER_DELAY_MS = 2000
DISK_THREADS = 8  # that fetch what the page cache does not hold

_log = logging.getLogger("pykbroker.server")


class BrokerServer:
    """A node: broker, controller, or both.

    `new_cluster_id` is the cluster of a node with no formatted directory; None: a random one.
    """

    def __init__(
        self, environment: Environment, config: BrokerConfig, new_cluster_id: str | None = None
    ) -> None:
        self.environment = environment
        self.dynamic_config = DynamicConfig(config)
        self._new_cluster_id = new_cluster_id
        self.node_id: int = config.node_id
        self.cluster_id = ""
        self.counters = Counters()
        self.routes = make_routes()
        self._on_fatal: Callable[[str], None] = partial(_log.critical, "%s")
        self.files = environment.files
        self.scheduler = environment.scheduler
        self.now_ms = environment.clock.now_ms
        self._disk_threads = environment.background.threads("disk", DISK_THREADS)
        self.purgatory = Purgatory(self.now_ms(), EFFORT_PER_TURN)
        self._states = StateKeeper(config.node_id, environment.scheduler)
        self.outgoing = Outgoing(environment, config)
        self._haste = Deferred()  # resolved when the controller is not to be waited for
        self._in_doubt = False  # a bug of ours: what the logs and machines hold is not to be used
        self._watches_directories = False
        self.monitoring: MonitoringEndpoint | None = None
        self.network: SocketServer
        self.log_manager: LogManager
        self.storage: Storage
        self.kraft: KraftNodeDriver
        self.metadata: MetadataView
        self.replica_manager: ReplicaManager
        self.node_services: NodeServices
        self.services: BrokerServices
        self.worker: Worker
        self.housekeeping: HousekeepingDriver
        self.cleaner: CleanerDriver
        self._undo: list[Callable[[], Any]] = []

    @property
    def state(self) -> NodeState:
        """The state of the node."""
        return self._states.state

    @property
    def config(self) -> BrokerConfig:
        """The current configuration."""
        return self.dynamic_config.current

    @property
    def image(self) -> MetadataImage:
        """The published metadata, which is committed."""
        return self.kraft.image

    # ---------------------------------------------------------------- up

    async def start(self) -> None:
        """Bring the node up; it serves when this returns. If it raises (StartError, or KafkaError
        for a refused registration, for example), it has been stopped.
        """
        enter = self._states.enter
        try:
            enter(NodeState.BINDING)
            self._bind()
            enter(NodeState.LOCKING)
            self._open_storage()
            enter(NodeState.OPENING)
            self._open_quorum()
            enter(NodeState.CATCHING_UP)
            self._serve_controllers()
            await self.kraft.catch_up()
            # A log that is compacted only by an override must not be truncated at its gaps.
            self.dynamic_config.follow(self.log_manager.on_config)
            self.dynamic_config.take(self.kraft.image)
            if self.config.is_broker:
                enter(NodeState.REGISTERING)
                await self._register()
                enter(NodeState.LOADING)
                await self._build_services()
                await self._serve()
            else:
                await self.kraft.publish_to([self.dynamic_config, self.metadata])
            enter(NodeState.SERVING)
        except (Exception, Cancelled):
            await self.stop()
            raise

    def _bind(self) -> None:
        self._undo.append(self._disk_threads.close)
        self.network = SocketServer(
            self.environment, self.config, self._disk_threads, self.counters
        )
        self.network.bind()
        self.dynamic_config.follow(self.network.on_config)
        self._undo.append(self.network.stop)
        if self.config.pykbroker_metrics_listen:
            from pykbroker.broker.monitoring.endpoint import MonitoringEndpoint

            self.monitoring = MonitoringEndpoint(self)
            self._undo.insert(0, self.monitoring.close)  # the last to go
            self.monitoring.start()

    def _open_storage(self) -> None:
        """Lock the directories, format the empty ones, read their identity."""
        config = self.config
        self.log_manager = LogManager(
            config.log_directories,
            config,
            self.files,
            topic_config=self._topic_config,
            topic_id=self._topic_id,
            jitter=self.environment.random.randrange,
            loading=loading_in(self.environment),
            on_offline=self._on_directory_offline,
        )
        self._undo.append(self.log_manager.directories.unlock)
        try:
            # Before the lock: a directory that is not ours gets not even a lock file.
            survey_directories(self.files, config)
            self.log_manager.directories.open()
            if config.metadata_log_directory not in config.log_directories:
                metadata_directory = LogDirectory(self.files, config.metadata_log_directory)
                self._undo.append(metadata_directory.close)
                metadata_directory.open()
            self.storage = ensure_storage(
                self.files,
                config,
                now_ms=self.now_ms(),
                new_uuid=self.environment.random.new_uuid,
                new_cluster_id=self._new_cluster_id,
            )
        except (DirectoryRefused, LogDirFailure, StorageError) as fault:
            raise StartError(str(fault)) from fault
        self.cluster_id = self.storage.cluster_id

    def _topic_id(self, topic: str) -> bytes | None:
        """Return the id of the topic that currently has this name, None if there is none."""
        found = self.kraft.image.topic(topic)
        return None if found is None else found.id

    def _topic_config(self, topic: str) -> TopicConfig:
        """Return the configuration that a topic's logs are opened with."""
        try:
            return TopicConfig.from_overrides(self.config, self.kraft.image.topic_config(topic))
        except ConfigError as fault:  # of an older Kafka, with other limits
            raise StartError(f"topic {topic}: {fault}") from fault

    def _open_quorum(self) -> None:
        """Read the metadata log and join the quorum; a single voter becomes leader at once."""
        directories = self.log_manager.directories
        clean_epoch = directories.take_clean_shutdown(self.config.metadata_log_directory)
        self.kraft = KraftNodeDriver(
            config=self.config,
            storage=self.storage,
            environment=self.environment,
            on_fatal=self.halt,
            send=self.outgoing.send,
            purgatory=self.purgatory,
            is_clean=clean_epoch is not None,
            previous_broker_epoch=-1 if clean_epoch is None else clean_epoch,
            controller_ports={at.name: at.port for at in self.network.listeners},
        )
        self._undo += [self.outgoing.close, self.kraft.close]
        try:
            self.kraft.open()
            check_log_directories(self.config, self.kraft.image.features)
        except (StorageError, UnsupportedCluster) as fault:
            raise StartError(str(fault)) from fault

    async def _build_services(self) -> None:
        """Create the parts that follow the metadata, load the logs, and publish the image: to the
        view of clients last, so that they find a partition once it is served.
        """
        self.replica_manager = ReplicaManager(
            self.node_id,
            self.log_manager,
            self.purgatory,
            self.config,
            on_placed=self.kraft.broker.assign_directories,
            breathe=self.environment.slices.breathe,
        )
        self.dynamic_config.follow(self.replica_manager.on_broker_config)
        replication = ReplicationDrivers(
            manager=self.replica_manager,
            environment=self.environment,
            config=self.config,
            outgoing=self.outgoing,
            channel=self.kraft.channel,
            broker_epoch=lambda: self.kraft.broker_epoch,
            wake=self.wake,
        )
        self._undo.append(replication.close)
        self.dynamic_config.follow(replication.on_config)
        coordinators = Coordinators(
            environment=self.environment,
            config=lambda: self.config,
            replica_manager=self.replica_manager,
            outgoing=self.outgoing,
            channel=self.network.channel,
            take_producer_id=lambda: self.services.producer_ids.take(),
            write_markers=self._write_markers,
        )
        validation = ValidationPool(self.environment.background, self.halt)
        self.housekeeping = HousekeepingDriver(
            self.log_manager,
            self.environment,
            high_watermarks=self.replica_manager.high_watermarks,
            on_failure=self.replica_manager.on_directory_failure,
        )
        self.services = BrokerServices(
            self.node_services,
            replica_manager=self.replica_manager,
            log_manager=self.log_manager,
            purgatory=self.purgatory,
            cold_reads=ColdReads(self._disk_threads, self.files, self.wake),
            validation=validation,
            coordinators=coordinators,
            allocate_producer_ids=self.kraft.allocate_producer_ids,
            find_mover=lambda: self.housekeeping.mover,
            wake=self.wake,
        )
        # A coordinator may append as soon as the metadata is published.
        self.worker.serve_brokers(self.services, self._end_round)
        try:
            await self.log_manager.open_logs(self.environment.clock.wall_ms())
        except DirectoryRefused as fault:
            raise StartError(str(fault)) from fault
        self._undo += [self._close_logs, replication.close, coordinators.stop]
        self._undo += [validation.stop, self.housekeeping.stop, self.kraft.stop_publishing]
        await self.kraft.publish_to(
            [
                RegistrationStep(self.node_id, self.kraft.broker),
                ReplicaManagerStep(self.replica_manager, self.now_ms, self.wake),
                coordinators,
                self.dynamic_config,
                self.metadata,
            ]
        )

    def _write_markers(self, markers: list[Any]) -> Any:
        from pykbroker.broker.transactions.transaction_markers import write_markers

        return write_markers(self.services, markers)

    def _serve_controllers(self) -> None:
        """Serve other nodes of the quorum, which request votes before metadata is known."""
        self.metadata = MetadataView(self.cluster_id, self.node_id)
        self.node_services = NodeServices(
            environment=self.environment,
            node_id=self.node_id,
            cluster_id=self.cluster_id,
            dynamic_config=self.dynamic_config,
            counters=self.counters,
            routes=self.routes,
            metadata=self.metadata,
            controller=self.kraft.channel,
            raft=self.kraft.raft.raft,
            find_quorum=lambda: self.kraft.service,
        )
        timer = PurgatoryTimer(
            self.scheduler, self.purgatory, now_ms=self.now_ms, wake=self.wake, halt=self.halt
        )
        self._make_worker(timer)
        # Until it has left the quorum, it handles the requests of the others.
        self._undo += [timer.cancel, self.worker.close, self.kraft.leave_quorum]
        self.network.start(controllers=True)

    def _make_worker(self, timer: PurgatoryTimer) -> None:
        make: type[Worker] = Worker
        if logging.getLogger(REQUEST_LOG).isEnabledFor(logging.DEBUG):
            from pykbroker.broker.requests.request_trace import TracingWorker

            make = TracingWorker
        elif self.monitoring is not None:
            from pykbroker.broker.monitoring.measuring_worker import MeasuringWorker

            make = MeasuringWorker
        self.worker = make(
            self.node_services, self.network.channel, turn_ended=timer.arm, halt=self.halt
        )

    async def _register(self) -> None:
        """Register before following metadata in which this broker may lead what its logs lost."""
        self._look_at_directories()
        own_host = self.environment.transport.own_host_name
        listeners = advertised_listeners(self.config, self.network.listeners, own_host)
        await self.settled(self.kraft.register_broker(listeners))

    def _look_at_directories(self) -> None:
        for failed in (each for each in self.log_manager.directories if not each.is_online):
            loss = self.log_manager.directories.loss_of(failed, self.config.metadata_log_directory)
            if loss is not None:
                raise StartError(f"{loss}: {failed.failure}")
            self._report_offline(failed)

    async def _serve(self) -> None:
        """Become visible to clients, and accept their connections."""
        self._watches_directories = True
        self._look_at_directories()
        self._undo.append(self._leave_cluster)
        self._states.enter(NodeState.FENCED)
        await self.settled(self.kraft.unfence())
        self.housekeeping.start()
        self._undo.append(self.scheduler.call_later(CLEANER_DELAY_MS, self._start_cleaner).cancel)
        self.network.start(controllers=False)
        shown = ", ".join(map(str, self.listeners))
        _log.info("node %d of cluster %s serves %s", self.node_id, self.cluster_id, shown)

    def _start_cleaner(self) -> None:
        """Start compaction, whose code is imported only when the node serves."""
        from pykbroker.log.compaction.cleaner_driver import CleanerDriver

        self.cleaner = CleanerDriver(
            self.log_manager,
            self.environment,
            high_watermarks=self.replica_manager.high_watermarks,
            on_failure=self.replica_manager.on_directory_failure,
        )
        self._undo.append(self.cleaner.stop)
        self.cleaner.start()

    @property
    def listeners(self) -> tuple[Endpoint, ...]:
        """The broker listeners as bound: with real ports."""
        return client_endpoints(self.network.listeners)

    # ---------------------------------------------------------------- down

    async def stop(self) -> None:
        """Bring the node down, even if its start failed half-way. A step that fails is logged."""
        self._states.enter(NodeState.STOPPING)
        while self._undo:
            undo = self._undo.pop()
            try:
                outcome = undo()
                if outcome is not None:
                    await outcome
            except Exception:  # a bug of ours, which must not keep the rest from being closed
                _log.exception("a shutdown step failed")
        self._states.enter(NodeState.STOPPED)

    def leave_at_once(self) -> None:
        """Make `stop` not wait for the controller to move leaderships, even if it waits already."""
        if not self._haste.done:
            self._haste.resolve(TimeoutError("was told not to wait for a controller"))

    async def _leave_cluster(self) -> None:
        """Stop accepting clients, give leadership away, write what was appended, send replies."""
        # The controller here may be the one that decides on the broker's shutdown.
        self.network.stop_accepting(controllers=False)
        if self._in_doubt:
            return
        try:
            leaving = first_of(self.kraft.controlled_shutdown(), self._haste)
            await within(self.scheduler, leaving, CONTROLLED_SHUTDOWN_MS)
            await self.scheduler.sleep(0)
        except (KafkaError, TimeoutError) as failure:
            _log.warning("left the cluster without a controlled shutdown: %s", failure)
        self.replica_manager.end_turn(self.now_ms())
        self.network.channel.flush_connections()

    async def _close_logs(self) -> None:
        """Close the logs while other nodes of the quorum are served; nothing may be appended."""
        if self._in_doubt:
            return  # as after kill -9: the next start checks what is there
        self.replica_manager.end_turn(self.now_ms())
        self.network.close_clients()  # which ends the long requests of clients, too
        closing = closing_in(self.environment, self._disk_threads, lambda: self._in_doubt)
        high_watermarks = self.replica_manager.high_watermarks()
        await self.log_manager.close_logs(self.kraft.broker_epoch, high_watermarks, closing)

    def _on_directory_offline(self, directory: LogDirectory) -> None:
        """Report a failed log directory to the controller; a node that needs it halts instead."""
        if not self._watches_directories:
            return  # the start looks at what is offline by then
        loss = self.log_manager.directories.loss_of(directory, self.config.metadata_log_directory)
        if loss is not None:
            self.halt(LogDirLost(loss))
        else:
            self._report_offline(directory)

    def _report_offline(self, directory: LogDirectory) -> None:
        # Not directory.directory_id: a directory that failed before it was opened has none.
        if (directory_id := self.storage.directory_ids.get(directory.path)) is not None:
            self.kraft.broker.directory_failed(directory_id)

    def follow_fatal(self, on_fatal: Callable[[str], None]) -> None:
        """Call `on_fatal` with the reason when the node must exit."""
        self._on_fatal = on_fatal

    def halt(self, failure: BaseException) -> None:
        """Have the process end: when a needed log directory is lost, or after another failure, such
        as an internal bug.

        After another failure the replies of this turn are dropped, and the shutdown neither closes
        the logs of topics nor is marked as clean.
        """
        if isinstance(failure, (LogDirLost, LogDirFailure)):
            self._on_fatal(str(failure))
            return
        self._in_doubt = True
        self.network.channel.to_flush.clear()
        self.counters.unexpected_errors += 1
        _log.critical("this node cannot continue", exc_info=failure)
        self._on_fatal(f"this node cannot continue: {failure!r}")

    # ---------------------------------------------------------------- turns and time

    def wake(self) -> None:
        """Schedule a turn soon: something was appended or resolved outside of one."""
        self.network.channel.wake()

    def _end_round(self) -> None:
        if self.replica_manager.end_turn(self.now_ms()):
            self.wake()

    async def settled(self, deferred: Deferred) -> Any:
        """Wait for a Deferred, and return its value, or raise it, in a turn of its own."""
        try:
            value = await deferred
        except Exception:
            await self.scheduler.sleep(0)
            raise
        await self.scheduler.sleep(0)
        return value

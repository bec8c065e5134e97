"""The life cycle of this node's broker: register, send heartbeats, unfence, shut down cleanly.

    register ---> fenced, heartbeats ---> unfenced, heartbeats ...
                                                   '--> controlled shutdown ---> may stop

State: the broker's epoch (assigned at registration); the state it wants next; failed log
       directories; the directories of replicas that the controller has not recorded yet.
In:    `register`, `refresh_registration`, `unfence`, `controlled_shutdown`, `directory_failed`,
       `assign_directories`, `allocate_producer_ids`, `stop`; the controller's answers; a timer.
Out:   BrokerRegistration, BrokerHeartbeat, AssignReplicasToDirs and AllocateProducerIds requests
       through `send`, which reaches the active controller in this process or over the network, and
       returns a Deferred.
Invariant: at most one heartbeat is in flight; what is new meanwhile is sent with the next one.
Source: Kafka's `BrokerLifecycleManager.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pykbroker.config import BrokerConfig
from pykbroker.deferred import Deferred, spawn
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller_channel_driver import value_of
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_version import (
    SUPPORTED_FEATURES,
    supports_directory_assignment,
)
from pykbroker.kraft.registration import Listener
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest

# A registration rejected with one of these will be rejected again, so the node says why and stops.
# Any other error may be temporary: no controller was reached, the active one has lost its disk, or
# the session of the broker's previous incarnation has not expired yet. (Kafka retries after these
# four as well, until its time is up.)
_REFUSED_FOR_GOOD = (
    ErrorCode.INCONSISTENT_CLUSTER_ID,
    ErrorCode.INVALID_REGISTRATION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.UNSUPPORTED_VERSION,
)
# While something is pending, ask again sooner than broker.heartbeat.interval.ms.
_RETRY_MS = 50
# How long to collect replica locations before they are sent to the controller.
_PLACED_DELAY_MS = 10

_log = logging.getLogger(__name__)


class BrokerLifecycleDriver:
    """Registers this node's broker, and keeps its session with the controller alive."""

    def __init__(
        self,
        *,
        config: BrokerConfig,
        cluster_id: str,
        incarnation_id: bytes,
        directory_ids: Sequence[bytes],
        previous_broker_epoch: int,
        send: Callable[[Any], Deferred],
        image: Callable[[], MetadataImage],
        scheduler: Scheduler,
        now_ms: Callable[[], int],
    ) -> None:
        self._config = config
        self._cluster_id = cluster_id
        self._incarnation_id = incarnation_id
        self._directory_ids = list(directory_ids)
        self._previous_epoch = previous_broker_epoch
        self._send = send
        self._image = image
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._timer: Timer | None = None
        self._stopped = False
        self._is_ready = False  # its logs are loaded
        self._unfenced: Deferred | None = None
        self._may_stop: Deferred | None = None
        self._offline_directories: list[bytes] = []
        self._placed: dict[tuple[bytes, int], bytes] = {}  # not yet told to the controller
        self._placing = False
        self._listeners: list[Listener] = []
        self._refreshing = False
        self._in_flight = False
        self._at_once = False
        self.broker_epoch = -1

    def register(self, listeners: Sequence[Listener]) -> Deferred:
        """Register with the ports that are actually open. The Deferred is resolved with the
        broker's epoch, or with the KafkaError of the last attempt.

        Temporary errors are retried for initial.broker.registration.timeout.ms.
        """
        self._listeners = list(listeners)
        return spawn(self._register_until_taken())

    async def _register_until_taken(self) -> int | KafkaError:
        deadline_ms = self._now_ms() + self._config.initial_broker_registration_timeout_ms
        pause_ms: int = self._config.broker_heartbeat_interval_ms
        while True:
            reply = await value_of(self._send(self._registration()))
            if not isinstance(reply, KafkaError):
                epoch: int = reply.broker_epoch
                self.broker_epoch = epoch
                self._again_in(pause_ms)
                return epoch
            left_ms = deadline_ms - self._now_ms()
            if reply.code in _REFUSED_FOR_GOOD or left_ms <= 0:
                return reply
            if not self._stopped:
                _log.info("The broker is not registered yet, retrying: %s", reply)
                await self._scheduler.sleep(min(pause_ms, left_ms))
            if self._stopped:
                return reply

    def _registration(self) -> registration.BrokerRegistrationRequest:
        """Build the request. Log directories that have already failed are
        left out: replicas in them cannot lead.
        """
        offline = self._offline_directories
        return registration.BrokerRegistrationRequest(
            broker_id=self._config.node_id,
            cluster_id=self._cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=[
                registration.Listener(
                    name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol
                )
                for at in self._listeners
            ],
            features=[
                registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
            rack=self._config.broker_rack,
            log_dirs=[each for each in self._directory_ids if each not in offline],
            previous_broker_epoch=self._previous_epoch,
        )

    def refresh_registration(self) -> None:
        """Register again with the same incarnation, because the cluster can
        now record more about it.

        It is sent later, because this is called while metadata is published. Epoch and state do not
        change.
        """
        if not self._refreshing and self.broker_epoch >= 0:
            self._refreshing = True
            self._scheduler.call_later(_PLACED_DELAY_MS, self._refresh)

    def _refresh(self) -> None:
        def answered(reply: Any) -> None:
            self._refreshing = False
            if isinstance(reply, KafkaError):
                _log.warning("The controller did not refresh the registration: %s", reply)

        if not self._stopped:
            self._send(self._registration()).on_resolved(answered)

    def unfence(self) -> Deferred:
        """Become visible to clients, after everything is loaded. Resolved with
        None once unfenced.
        """
        self._is_ready = True
        self._unfenced = Deferred()
        unfenced = self._unfenced
        self._heartbeat()
        return unfenced

    def controlled_shutdown(self) -> Deferred:
        """Transfer leadership, then be fenced. Resolved with None when the broker may stop: not at
        all while no controller answers.
        """
        self._may_stop = Deferred()
        may_stop = self._may_stop
        self._heartbeat()
        return may_stop

    def directory_failed(self, directory_id: bytes) -> None:
        """Report an offline log directory; from metadata.version 3.7-IV2 on, the controller removes
        its replicas from service.
        """
        if directory_id not in self._offline_directories:
            self._offline_directories.append(directory_id)
            self._heartbeat()

    def assign_directories(self, placed: Mapping[tuple[bytes, int], bytes]) -> None:
        """Report to the controller in which log directory each (topic id,
        partition) is (KIP-858).
        """
        self._placed.update(placed)
        # Sent later: this is called while metadata is published, and more may follow.
        self._scheduler.call_later(_PLACED_DELAY_MS, self._send_placed)

    def _send_placed(self) -> None:
        """Send all pending locations, one request at a time.

        They wait for a metadata.version that records them; each accepted heartbeat tries again.
        """
        if self._stopped or self.broker_epoch < 0 or self._placing or not self._placed:
            return
        if not supports_directory_assignment(self._image().metadata_version):
            return
        from pykbroker.kraft.directory_assignment import assignment_request

        sent = dict(self._placed)
        self._placing = True

        def answered(reply: Any) -> None:
            self._placing = False
            if isinstance(reply, KafkaError):
                _log.warning("The controller did not accept log directories: %s", reply)
                return  # sent again with the next heartbeat
            for replica, directory in sent.items():
                if self._placed.get(replica) == directory:
                    del self._placed[replica]
            self._send_placed()

        request = assignment_request(self._config.node_id, self.broker_epoch, sent)
        self._send(request).on_resolved(answered)

    def allocate_producer_ids(self) -> Deferred:
        """Request a block of producer ids: AllocateProducerIdsResponse or a KafkaError."""
        return self._send(
            AllocateProducerIdsRequest(
                broker_id=self._config.node_id, broker_epoch=self.broker_epoch
            )
        )

    def stop(self) -> None:
        """Stop sending heartbeats and replica locations. A first registration that is being
        retried is sent at most once more.
        """
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _heartbeat(self) -> None:
        if self._stopped or self.broker_epoch < 0:
            return
        if self._in_flight:
            self._at_once = True
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        request = BrokerHeartbeatRequest(
            broker_id=self._config.node_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._image().offset,
            want_fence=not self._is_ready,
            want_shut_down=self._may_stop is not None,
            offline_log_dirs=list(self._offline_directories),
        )
        self._in_flight = True
        self._send(request).on_resolved(self._answered)

    def _answered(self, reply: Any) -> None:
        self._in_flight = False
        at_once, self._at_once = self._at_once, False
        if self._stopped:
            return
        if isinstance(reply, KafkaError):
            if reply.code == ErrorCode.REQUEST_TIMED_OUT:
                _log.warning("No controller answered a heartbeat of this broker in time")
            elif reply.code != ErrorCode.NOT_CONTROLLER:
                _log.error("The controller rejected a heartbeat of this broker: %s", reply)
            self._again_in(self._config.broker_heartbeat_interval_ms)
            return
        self._send_placed()
        if reply.should_shut_down and self._may_stop is not None:
            may_stop, self._may_stop = self._may_stop, None
            self.stop()
            may_stop.resolve(None)
            return
        if not reply.is_fenced and self._unfenced is not None:
            unfenced, self._unfenced = self._unfenced, None
            unfenced.resolve(None)
        if at_once:
            self._heartbeat()
            return
        waiting = self._unfenced is not None or self._may_stop is not None
        self._again_in(_RETRY_MS if waiting else self._config.broker_heartbeat_interval_ms)

    def _again_in(self, delay_ms: int) -> None:
        if self._timer is None and not self._stopped:
            self._timer = self._scheduler.call_later(delay_ms, self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer = None
        self._heartbeat()

"""The sockets for requests of the Kafka protocol: the listeners, their connections, and the
channel that the requests go through.

State: the listeners, the open connections, the limits, one timer for idle connections.

TLS and SASL will be added here: a listener knows its security protocol, `accepted` creates the
connection for it, and a connection has a `principal`. Until then the configuration rejects every
protocol but PLAINTEXT.
"""

from __future__ import annotations

import logging

from pykbroker.config import BrokerConfig
from pykbroker.environment import Environment
from pykbroker.environment.background import Threads
from pykbroker.environment.scheduler import Timer
from pykbroker.environment.transport import StreamSocket
from pykbroker.metrics import Counters
from pykbroker.network.acceptor import DESCRIPTOR_RETRY_MS, Acceptor, descriptors_for_connections
from pykbroker.network.connection import Connection
from pykbroker.network.connection_limits import (
    ConnectionLimits,
    UnknownHost,
    limits_by_address,
)
from pykbroker.network.connection_resources import ConnectionResources
from pykbroker.network.idle_connections import IdleConnections
from pykbroker.network.listener import Listener
from pykbroker.network.peer_log import PeerLog
from pykbroker.network.request_channel import RequestChannel

# The timing wheel may name the start of a wide bucket, which may be now.
LEAST_IDLE_DELAY_MS = 50

_log = logging.getLogger("pykbroker.network")


class SocketServer:
    """The listeners and accepted connections of one node. Creating it may raise UnknownHost
    (connection_limits.py).
    """

    def __init__(
        self,
        environment: Environment,
        config: BrokerConfig,
        cold_reads: Threads,
        counters: Counters | None = None,
    ) -> None:
        self._scheduler = environment.scheduler
        self._transport = environment.transport
        self._config = config
        self.channel = RequestChannel(environment.scheduler, config.queued_max_requests)
        by_address = limits_by_address(config.max_connections_per_ip_by_address, self._transport)
        self.limits, self.controller_limits = (
            ConnectionLimits(
                config.max_connections, config.max_connections_per_ip, by_address, protected
            )
            for protected in (config.inter_broker_listener, None)
        )
        self.peer_log = PeerLog()
        self.listeners: list[Listener] = []
        self.connections: dict[Connection, None] = {}  # in the order in which they came
        self.counters = Counters() if counters is None else counters
        self._resources = ConnectionResources(
            transport=environment.transport,
            clock=environment.clock,
            channel=self.channel,
            cold_reads=cold_reads,
            counters=self.counters,
            peer_log=self.peer_log,
            max_request_bytes=config.socket_request_max_bytes,
        )
        self._acceptors: list[Acceptor] = []
        self.descriptor_limit = descriptors_for_connections(self._transport.most_descriptors)
        self._idle: IdleConnections[Connection] = IdleConnections(
            config.connections_max_idle_ms, self._resources.now_ms()
        )
        self._idle_timer: Timer | None = None
        self._stopped = False

    # ---------------------------------------------------------------- life cycle

    def bind(self) -> None:
        """Bind every listener. Raises BindError, with nothing left bound."""
        try:
            for endpoint in self._config.endpoints:
                self._bind_one(
                    endpoint.listener_name,
                    endpoint.host,
                    endpoint.port,
                    endpoint.security_protocol,
                    is_controller=False,
                )
            if self._config.is_controller:
                for endpoint in self._config.controller_endpoints:
                    self._bind_one(
                        endpoint.listener_name,
                        endpoint.host,
                        endpoint.port,
                        endpoint.security_protocol,
                        is_controller=True,
                    )
        except BaseException:
            for listener in self.listeners:
                listener.close()
            self.listeners.clear()
            raise

    def _bind_one(
        self, name: str, host: str, port: int, security_protocol: str, *, is_controller: bool
    ) -> None:
        config = self._config
        limits = self.controller_limits if is_controller else self.limits
        self.listeners.append(
            Listener(
                self._transport,
                name,
                host,
                port,
                security_protocol,
                limits,
                is_controller=is_controller,
                backlog=config.socket_listen_backlog_size,
                receive_buffer_bytes=config.socket_receive_buffer_bytes,
            )
        )
        overrides = config.socket_overrides(name)
        limits.add_listener(name, overrides.max_connections)

    def start(self, *, controllers: bool) -> None:
        """Accept connections: on the controller listeners, or on the others."""
        for listener in self.listeners:
            if listener.is_controller == controllers:
                acceptor = Acceptor(
                    self, self._transport, listener, self._config.socket_send_buffer_bytes
                )
                self._acceptors.append(acceptor)
                acceptor.start()

    def on_config(self, config: BrokerConfig) -> None:
        """Apply changed connection limits from the configuration, and close connections above the
        broker's `max.connections`, but none of a protected listener.
        """
        self._config = config
        for limits in (self.limits, self.controller_limits):
            limits.update(config.max_connections, config.max_connections_per_ip)
        try:
            by_address = limits_by_address(
                config.max_connections_per_ip_by_address, self._transport
            )
        except UnknownHost as fault:
            _log.error("%s; the limits of individual addresses are unchanged", fault)
        else:
            self.limits.update_addresses(by_address)
            self.controller_limits.update_addresses(by_address)
        for listener in self.listeners:
            overrides = config.socket_overrides(listener.name)
            listener.limits.add_listener(listener.name, overrides.max_connections)
        for limits in (self.limits, self.controller_limits):
            while limits.exceeded() and self._make_room(limits):
                continue
        for acceptor in self._acceptors:
            acceptor.start()

    def stop_accepting(self, *, controllers: bool = True) -> None:
        """Release the ports, those of controllers only if requested; keep open connections."""
        kept = []
        for acceptor in self._acceptors:
            if acceptor.listener.is_controller and not controllers:
                kept.append(acceptor)
            else:
                acceptor.stop()
        self._acceptors = kept
        for listener in self.listeners:
            if controllers or not listener.is_controller:
                listener.close()

    def close_clients(self) -> None:
        """Close the connections that did not come in on listeners of controllers."""
        self.channel.flush_connections()
        for connection in list(self.connections):
            if not connection.listener.is_controller:
                connection.close()

    def stop(self) -> None:
        """Close everything."""
        self._stopped = True
        self.stop_accepting()
        self.channel.flush_connections()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        for connection in list(self.connections):
            connection.close()

    # ---------------------------------------------------------------- connections

    def accepted(self, listener: Listener, sock: StreamSocket, host: str, port: int) -> None:
        """Handle a new connection of an acceptor, which is already counted."""
        self.counters.connections_accepted += 1
        connection = Connection(
            self._resources, listener, sock, host, port, self._connection_closed
        )
        self.connections[connection] = None
        self._idle.watch(connection, self._resources.now_ms())
        if self._idle_timer is None:
            self._arm_idle_timer()
        if listener.limits.exceeded():
            self._make_room(listener.limits)

    def _connection_closed(self, connection: Connection) -> None:
        """Handle a closed connection and free its place."""
        self.counters.connections_closed += 1
        self.connections.pop(connection, None)
        self._idle.forget(connection)
        connection.listener.limits.closed(connection.listener.name, connection.peer_address)
        if not self._stopped:
            for acceptor in self._acceptors:
                acceptor.start()

    def _make_room(self, limits: ConnectionLimits) -> bool:
        """Close the longest idle connection that is not on the protected listener; return False if
        there is none.
        """
        others = [
            connection
            for connection in self.connections
            if connection.listener.limits is limits
            and not limits.is_protected(connection.listener.name)
        ]
        if not others:
            return False
        min(others, key=_last_active).close()
        return True

    def refused_address(self, listener: Listener, address: str, port: int) -> None:
        """Count and log a refusal: an address has reached its `max.connections.per.ip`."""
        self.counters.connections_refused += 1
        limit = listener.limits.max_for_address(address)
        self.peer_log.closed(
            f"{address}:{port}",
            listener.name,
            f"too many connections from it, at most {limit}",
            self._resources.now_ms(),
        )

    def out_of_descriptors(self, acceptor: Acceptor) -> None:
        """Log that no descriptor is left, and retry later."""
        _log.error("cannot accept connections on %r: out of file descriptors", acceptor.listener)
        self._scheduler.call_later(DESCRIPTOR_RETRY_MS, self._retry, acceptor)

    def _retry(self, acceptor: Acceptor) -> None:
        if not self._stopped:
            acceptor.start()

    # ---------------------------------------------------------------- idle connections

    def _arm_idle_timer(self) -> None:
        deadline_ms = self._idle.next_deadline_ms()
        self._idle_timer = None
        if deadline_ms is not None:
            delay_ms = max(deadline_ms - self._resources.now_ms(), LEAST_IDLE_DELAY_MS)
            self._idle_timer = self._scheduler.call_later(delay_ms, self._close_idle)

    def _close_idle(self) -> None:
        for connection in self._idle.advance(self._resources.now_ms()):
            connection.close()
        self._arm_idle_timer()


def _last_active(connection: Connection) -> int:
    return connection.last_active_ns

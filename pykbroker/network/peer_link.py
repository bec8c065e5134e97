"""Requests to one peer for one purpose, over one connection that is opened on demand.

State: see `LinkState`; the requests that wait for the connection; the peer's ApiVersions.
In: `send`, `close`; the connection's outcome; timers.
Out: every request's Deferred is resolved once, with the response or a KafkaError.

    DOWN         no connection. A request opens one, but not before the back-off has passed.
    CONNECTING   the transport connects; requests wait.
    AUTHENTICATING, then NEGOTIATING (ApiVersions); requests wait.
    READY        requests are sent in order, at most `max_in_flight` at a time.

Invariants:

* when connecting fails or a connection breaks, every request of this link fails with
  NETWORK_EXCEPTION, including those that only waited. The caller decides whether to retry, and its
  next request waits until the back-off has passed, so a caller that retries immediately is slowed
  down;
* a request fails with REQUEST_TIMED_OUT at its deadline. If it is in flight then, the connection is
  closed as well, because its response may still come; one that waits fails alone (Kafka's
  NetworkClient). If it is the last that waits for the response to ApiVersions, the connection is
  closed;
* the same reason for closing is not logged twice in a row, until the peer has answered a request.

Source  Kafka's NetworkClient.java, ClusterConnectionStates.java, InterBrokerSendThread.java.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any

from pykbroker import __version__
from pykbroker.deferred import Deferred, spawn
from pykbroker.environment import Environment
from pykbroker.environment.scheduler import Timer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.client import ClientConnection, InFlight
from pykbroker.network.client_security import ClientSecurity, ExchangeFunction, Plaintext
from pykbroker.protocol.api import API_VERSIONS, APIS, Api
from pykbroker.protocol.primitives import Message
from pykbroker.types import Peer

SOFTWARE_NAME = "pykbroker"

_log = logging.getLogger("pykbroker.network")


class LinkState(Enum):
    """The states of a link."""

    DOWN = auto()
    CONNECTING = auto()
    AUTHENTICATING = auto()
    NEGOTIATING = auto()
    READY = auto()


@dataclass(slots=True, frozen=True)
class ClientSettings:
    """How this node connects to others; the default times are those of Kafka's raft channel."""

    client_id: str
    setup_timeout_ms: int = 10_000
    setup_timeout_max_ms: int = 30_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 500
    max_in_flight: int = 5
    security: ClientSecurity = Plaintext()


class Waiting:
    """A request that has not been sent yet."""

    __slots__ = ("deadline_ms", "deferred", "max_version", "message")

    def __init__(
        self, message: Message, deadline_ms: int, max_version: int | None, deferred: Deferred
    ) -> None:
        self.message = message
        self.deadline_ms = deadline_ms
        self.max_version = max_version
        self.deferred = deferred


class PeerLink:
    """The connection to one peer for one purpose."""

    __slots__ = (
        "_attempt",
        "_connection",
        "_environment",
        "_failures",
        "_is_closed",
        "_logged_reason",
        "_next_attempt_ms",
        "_purpose",
        "_retry",
        "_settings",
        "_timer",
        "_timer_due_ms",
        "_versions",
        "_waiting",
        "peer",
        "state",
    )

    def __init__(
        self, environment: Environment, settings: ClientSettings, peer: Peer, purpose: str
    ) -> None:
        self._environment = environment
        self._settings = settings
        self._purpose = purpose
        self._attempt = 0
        self._connection: ClientConnection | None = None
        self._failures = 0
        self._is_closed = False
        self._logged_reason: str | None = None
        self._next_attempt_ms = 0
        self._retry: Timer | None = None
        self._timer: Timer | None = None
        self._timer_due_ms = 0
        self._versions: dict[int, tuple[int, int]] = {}
        self._waiting: deque[Waiting] = deque()
        self.peer = peer
        self.state = LinkState.DOWN

    # ---------------------------------------------------------------- requests

    def send(self, message: Message, deadline_ms: int, max_version: int | None) -> Deferred:
        """Return a Deferred of the response to `message` or of a KafkaError; see
        `ClientPool.send`.
        """
        deferred = Deferred()
        now_ms = self._environment.clock.now_ms()
        if now_ms >= deadline_ms:
            deferred.resolve(KafkaError(ErrorCode.REQUEST_TIMED_OUT))
            return deferred
        self._waiting.append(Waiting(message, deadline_ms, max_version, deferred))
        self._watch_deadline(deadline_ms, now_ms)
        if self.state is LinkState.READY:
            self._send_waiting()
        elif self.state is LinkState.DOWN and self._retry is None:
            delay_ms = self._next_attempt_ms - now_ms
            if delay_ms > 0:
                scheduler = self._environment.scheduler
                self._retry = scheduler.call_later(delay_ms, self._retry_now)
            else:
                self._connect()
        return deferred

    def _send_waiting(self) -> None:
        while self._waiting:
            connection = self._connection
            if self.state is not LinkState.READY or connection is None:
                return
            if len(connection.in_flight) >= self._settings.max_in_flight:
                return
            request = self._waiting.popleft()
            version = self._version(request)
            if version is None:
                request.deferred.resolve(self._unsupported(request.message))
                continue
            answered = connection.exchange(request.message, version, request.deadline_ms)
            answered.on_resolved(partial(self._answered, request.deferred))

    def _answered(self, deferred: Deferred, outcome: object) -> None:
        if not isinstance(outcome, KafkaError):
            self._logged_reason = None
        deferred.resolve(outcome)
        self._send_waiting()

    def _version(self, request: Waiting) -> int | None:
        """Return the highest version of both sides within the caller's limit; None without one."""
        api = APIS[request.message.API_KEY]
        offered = self._versions.get(api.key)
        if offered is None:
            return None
        lowest = max(api.min_version, offered[0])
        highest = min(api.max_version, offered[1])
        if request.max_version is not None:
            highest = min(highest, request.max_version)
        return highest if highest >= lowest else None

    def _unsupported(self, message: Message) -> KafkaError:
        api = APIS[message.API_KEY]
        offered = self._versions.get(api.key)
        has = "does not offer it" if offered is None else f"offers {offered[0]} to {offered[1]}"
        return KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"{self.peer} shares no version of {api.name} with this node: it {has}",
        )

    # ---------------------------------------------------------------- connecting

    def _retry_now(self) -> None:
        self._retry = None
        if self._waiting and self.state is LinkState.DOWN:
            self._connect()

    def _connect(self) -> None:
        self.state = LinkState.CONNECTING
        self._attempt += 1
        self._environment.transport.connect(
            self.peer.host, self.peer.port, timeout_ms=self._setup_timeout_ms()
        ).on_resolved(partial(self._connected, self._attempt))

    def _connected(self, attempt: int, outcome: object) -> None:
        if isinstance(outcome, BaseException):
            if attempt == self._attempt and self.state is LinkState.CONNECTING:
                reason = getattr(outcome, "strerror", None) or str(outcome)
                self._go_down(f"cannot connect: {reason}")
            return
        sock: Any = outcome
        if attempt != self._attempt or self.state is not LinkState.CONNECTING:
            sock.close()
            return
        try:
            stream = self._settings.security.wrap(sock, self.peer.host)
        except OSError as failure:
            sock.close()
            self._go_down(f"cannot connect: {failure}")
            return
        self.state = LinkState.AUTHENTICATING
        connection = ClientConnection(
            self._environment, stream, self._settings.client_id, self._lost
        )
        self._connection = connection
        spawn(self._negotiate(connection))

    async def _negotiate(self, connection: ClientConnection) -> None:
        now_ms = self._environment.clock.now_ms()
        deadline_ms = now_ms + self._setup_timeout_ms()
        self._watch_deadline(deadline_ms, now_ms)

        def exchange(message: Message, version: int) -> Deferred:
            return connection.exchange(message, version, deadline_ms)

        try:
            await self._settings.security.authenticate(exchange)
            self.state = LinkState.NEGOTIATING
            versions = await self._api_versions(exchange)
        except KafkaError as failure:
            if not connection.closed:
                self._go_down(f"cannot negotiate: {failure.message}")
            return
        if connection.closed:
            return
        self._versions = versions
        self._failures = 0
        self.state = LinkState.READY
        self._send_waiting()

    async def _api_versions(self, exchange: ExchangeFunction) -> dict[int, tuple[int, int]]:
        """Request the peer's versions. If it rejects our version, ask again in
        its own (KIP-511).
        """
        api = APIS[API_VERSIONS]
        response = await exchange(api_versions_request(), api.max_version)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            version = _fallback_version(api, response)
            response = await exchange(api_versions_request(), version)
        if response.error_code != ErrorCode.NONE:
            raise KafkaError(
                ErrorCode.NETWORK_EXCEPTION,
                f"the peer answered ApiVersions with error {response.error_code}",
            )
        return {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}

    # ---------------------------------------------------------------- failures

    def _lost(self, reason: str, is_fault: bool) -> None:
        """Handle a broken connection or a misbehaving peer."""
        self._go_down(reason, is_fault=is_fault)

    def _go_down(self, reason: str, *, is_fault: bool = False, timed_out_ms: int = -1) -> None:
        """Close, fail all requests, and begin the back-off. Listeners run
        last, because they may send.
        """
        is_idle_end = self.state is LinkState.READY and not self._has_requests()
        connection, self._connection = self._connection, None
        waiting, self._waiting = self._waiting, deque()
        self.state = LinkState.DOWN
        if not self._is_closed:
            self._failures += 1
            self._next_attempt_ms = self._environment.clock.now_ms() + self._backoff_ms()
            self._log_once(reason, is_fault=is_fault, is_idle_end=is_idle_end)
        failure = KafkaError(ErrorCode.NETWORK_EXCEPTION, f"{self.peer}: {reason}")
        if connection is not None:
            connection.close(partial(_failure_of, failure, timed_out_ms))
        for request in waiting:
            request.deferred.resolve(failure)

    def _has_requests(self) -> bool:
        connection = self._connection
        return bool(self._waiting) or (connection is not None and bool(connection.in_flight))

    def _backoff_ms(self) -> int:
        settings = self._settings
        return self._doubling(
            settings.reconnect_backoff_ms, settings.reconnect_backoff_max_ms, self._failures - 1
        )

    def _setup_timeout_ms(self) -> int:
        settings = self._settings
        return self._doubling(
            settings.setup_timeout_ms, settings.setup_timeout_max_ms, self._failures
        )

    def _doubling(self, first_ms: int, most_ms: int, times: int) -> int:
        """Return a time that doubles with every consecutive failure up to `most_ms`, with a random
        jitter of a fifth.
        """
        time_ms = max(min(first_ms << min(times, 20), most_ms), 0)
        spread = time_ms // 5
        return time_ms - spread + self._environment.random.randrange(2 * spread + 1)

    def _log_once(self, reason: str, *, is_fault: bool, is_idle_end: bool) -> None:
        if is_idle_end and not is_fault:
            _log.debug("the idle connection to %s for %s ended", self.peer, self._purpose)
        elif reason != self._logged_reason:
            self._logged_reason = reason
            _log.warning("closed the connection to %s for %s: %s", self.peer, self._purpose, reason)

    # ---------------------------------------------------------------- deadlines

    def _watch_deadline(self, deadline_ms: int, now_ms: int) -> None:
        """Make sure that a timer fires at `deadline_ms` at the latest."""
        if self._timer is not None:
            if self._timer_due_ms <= deadline_ms:
                return
            self._timer.cancel()
        self._timer_due_ms = deadline_ms
        self._timer = self._environment.scheduler.call_later(
            max(deadline_ms - now_ms, 0), self._on_deadline
        )

    def _on_deadline(self) -> None:
        self._timer = None
        now_ms = self._environment.clock.now_ms()
        expired = [request for request in self._waiting if request.deadline_ms <= now_ms]
        if expired:
            self._waiting = deque(at for at in self._waiting if at.deadline_ms > now_ms)
        connection = self._connection
        is_overdue = connection is not None and any(
            request.deadline_ms <= now_ms for request in connection.in_flight
        )
        # A peer that has restarted since does not know the connection, and never answers.
        is_given_up = self.state is LinkState.NEGOTIATING and expired and not self._waiting
        if is_overdue or is_given_up:
            self._go_down("a request timed out", timed_out_ms=now_ms)
        for request in expired:
            request.deferred.resolve(KafkaError(ErrorCode.REQUEST_TIMED_OUT))
        self._watch_earliest(now_ms)

    def _watch_earliest(self, now_ms: int) -> None:
        deadlines = [request.deadline_ms for request in self._waiting]
        if self._connection is not None:
            deadlines += [request.deadline_ms for request in self._connection.in_flight]
        if deadlines:
            self._watch_deadline(min(deadlines), now_ms)

    # ---------------------------------------------------------------- closing

    def close(self) -> None:
        """Close the connection; requests fail with NETWORK_EXCEPTION."""
        self._is_closed = True
        self._attempt += 1
        for timer in (self._timer, self._retry):
            if timer is not None:
                timer.cancel()
        self._timer = self._retry = None
        self._go_down("this node closed the connection")


def api_versions_request() -> Message:
    """Return the ApiVersions request of this software."""
    from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest

    return ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=__version__
    )


def _fallback_version(api: Api, response: Any) -> int:
    for row in response.api_keys:
        if row.api_key == api.key:
            return min(int(row.max_version), api.max_version)
    return 0


def _failure_of(failure: KafkaError, timed_out_ms: int, request: InFlight) -> KafkaError:
    if request.deadline_ms <= timed_out_ms:
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return failure

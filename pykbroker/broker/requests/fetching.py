"""A Fetch request that is being served: read, wait, read again, respond.

    serve    enough bytes, an error, or no wait wanted      respond
             not enough yet                                 WaitingFetch, in the purgatory
    then     woken, or the longest wait is over             read again, respond

State: the request's parameters and its view of its session; none that outlives the request.
In:  `serve`. Out: a FetchResponse, `InSlices` (very many partitions), or a Deferred of either.
`PreparedFetching` (`broker/prepared/session_fetch.py`) has its own `response`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import InSlices
from pykbroker.broker.requests.leader_hints import leader_hint
from pykbroker.deferred import Deferred
from pykbroker.environment.files import ColdRead, FileSlice
from pykbroker.environment.slices import paced_if
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_response import (
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from pykbroker.replication.delayed_fetch import DelayedFetch
from pykbroker.replication.fetch_reader import add_untold, has_enough, read_all_partitions
from pykbroker.replication.fetch_request import FetchParams, FetchResult

if TYPE_CHECKING:
    from pykbroker.broker.requests.fetch_sessions import Answers, FetchContext, Told
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import RequestConnection
    from pykbroker.protocol.messages.fetch_request import FetchRequest
    from pykbroker.replication.fetch_request import FetchPartition
    from pykbroker.replication.read_replica import RackAwareSelector

MANY = 1000  # partitions that are read in slices
SMALL_BYTES = 16 * 1024
FIRST_WITH_STORAGE_ERROR = 6
FIRST_WITH_FOLLOWER_FETCHING = 11
FIRST_WITH_REPLICA_STATE = 15
FIRST_WITH_LEADER_HINTS = 16

STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)
NOT_LEADER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
HINTED = (NOT_LEADER, int(ErrorCode.FENCED_LEADER_EPOCH))


def fetch_params(
    services: BrokerServices,
    message: FetchRequest,
    version: int,
    selector: RackAwareSelector | None = None,
) -> FetchParams:
    """Return the parameters of a request; selector: for a consumer with a rack. Raises KafkaError
    for a consumer's unknown isolation level.
    """
    replica_id, replica_epoch = message.replica_id, -1
    if version >= FIRST_WITH_REPLICA_STATE:
        state = message.replica_state
        replica_id, replica_epoch = (
            (-1, -1) if state is None else (state.replica_id, state.replica_epoch)
        )
    return FetchParams(
        replica_id,
        replica_epoch,
        message.max_wait_ms,
        message.min_bytes,
        min(message.max_bytes, services.config.fetch_max_bytes),
        message.isolation_level,
        version < FIRST_WITH_FOLLOWER_FETCHING,
        None if replica_id >= 0 else selector,
    )


class Fetching:
    """One Fetch request; see the module."""

    __slots__ = ("connection", "context", "params", "received_ms", "services", "version")

    def __init__(
        self,
        services: BrokerServices,
        connection: RequestConnection,
        version: int,
        received_ms: int,
        params: FetchParams,
        context: FetchContext,
    ) -> None:
        self.services = services
        self.connection = connection
        self.version = version
        self.received_ms = received_ms
        self.params = params
        self.context = context

    def __repr__(self) -> str:
        return f"Fetching(v{self.version}, {self.context.size} partitions)"

    def serve(self) -> Any:
        """Read what is available; wait if it is not enough."""
        return self.read(self.wanted(), self._answer)

    def wanted(self) -> list[FetchPartition]:
        """Return what is to be read now."""
        context = self.context
        if context.followed is not None:
            is_stale = self.services.replica_manager.is_stale(self.params)
            context.followed.begin(self.params, is_stale, context.partitions)
        return context.wanted

    def read(self, wanted: list[FetchPartition], answering: Callable[[FetchResult], object]) -> Any:
        """Return `answering` of what is there of `wanted`, a Deferred of it, or InSlices."""
        services = self.services
        reading = partial(
            read_all_partitions,
            services.replica_manager,
            self.params,
            wanted,
            self.context.is_incremental,
        )
        cold_reads = services.cold_reads
        if len(wanted) > MANY:
            breathe = partial(cold_reads.breathe, services.breathe)
            return InSlices(
                partial(cold_reads.serve, self, partial(reading, breathe=breathe), answering)
            )
        return cold_reads.serve(self, reading, answering)

    def _answer(self, result: FetchResult) -> Any:
        """Respond with what was read, or wait for more."""
        services, params, context = self.services, self.params, self.context
        now_ms = self.received_ms
        if params.replica_id >= 0:
            services.replica_manager.note_follower_fetch(params, result, now_ms, context.followed)
        if (
            result.size_bytes >= params.min_bytes
            or result.must_answer
            or params.max_wait_ms <= 0
            or len(result.unknown) == context.size
        ):
            return self.respond(result)
        waiting = WaitingFetch(self, result)
        is_read_in_part = result.size_bytes > 0 and len(result.read) <= MANY
        if (context.followed is not None or is_read_in_part) and waiting.try_complete():
            return waiting.deferred
        waiting.wait_until(now_ms + params.max_wait_ms)
        # A client may request a wait of days, and disconnect.
        self.connection.call_on_close(partial(services.purgatory.cancel, waiting))
        if context.followed is None and len(result.read) > MANY:
            waiting.look_again()
        return waiting.deferred

    def respond(self, result: FetchResult) -> Any:
        """Return the response to what was read; its session notes what it tells."""
        endpoints: list[NodeEndpoint] = []
        if result.must_answer:
            endpoints = self._explain_errors(result)
        self.services.counters.bytes_out += result.size_bytes
        if result.at_end:
            add_untold(result)
        answers = result.answers
        if result.unknown:
            answers += result.unknown
        told = self.context.tell(answers, self.received_ms)
        if 0 < result.size_bytes <= SMALL_BYTES:
            _read_now(told[2])
        return self.response(told, endpoints)

    def response(self, told: Told, endpoints: list[NodeEndpoint]) -> Any:
        """Return the response that tells `told`."""
        return self.context.response(told, endpoints)

    def _explain_errors(self, result: FetchResult) -> list[NodeEndpoint]:
        """Translate codes for this version, and add the leader where the fetcher has to find it;
        return the endpoints of these leaders (none to a follower).
        """
        services, version = self.services, self.version
        is_follower = self.params.replica_id >= 0  # it has other ways to find out
        listener_name = self.connection.listener.name
        endpoints: dict[int, NodeEndpoint] = {}
        breathe = services.breathe if len(result.answers) > MANY else None
        for asked, entry in paced_if(result.answers, breathe):
            if not entry.error_code:
                continue
            services.counters.failed_fetch_requests += 1
            if entry.error_code == STORAGE_ERROR and version < FIRST_WITH_STORAGE_ERROR:
                entry.error_code = NOT_LEADER
            if entry.error_code in HINTED and version >= FIRST_WITH_LEADER_HINTS:
                hint = leader_hint(
                    services.replica_manager, asked.topic or "", asked.index, listener_name
                )
                entry.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader, leader_epoch=hint.leader_epoch
                )
                if hint.endpoint is not None and not is_follower:
                    host, port, rack = hint.endpoint
                    endpoints[hint.leader] = NodeEndpoint(
                        node_id=hint.leader, host=host, port=port, rack=rack
                    )
        return list(endpoints.values())


def _read_now(answers: Answers) -> None:
    """Read little records where they are in the page cache: bytes cost less to encode and send
    than slices of files.
    """
    for _, entry in answers:
        piece = entry.records
        if isinstance(piece, FileSlice):
            try:
                found = piece.read_cached()
            except OSError:  # sending will meet it again
                return
            if found is not None and len(found) == piece.length:
                piece.release()
                entry.records = found


class WaitingFetch(DelayedFetch):
    """A Fetch in the purgatory."""

    __slots__ = ("_fetching", "deferred")

    def __init__(self, fetching: Fetching, result: FetchResult) -> None:
        super().__init__(
            fetching.services.replica_manager, fetching.params, result, fetching.context.followed
        )
        self._fetching = fetching
        self.deferred = Deferred()

    def answer(self) -> None:
        fetching = self._fetching
        fetching.connection.call_on_close(None)
        wanted = self._wanted if self._session is None else fetching.wanted()
        outcome = fetching.read(wanted, self._respond)
        if isinstance(outcome, Deferred):
            outcome.on_resolved(self.deferred.resolve)
        else:
            self.deferred.resolve(outcome)

    def is_enough(self) -> bool:
        if self.waits_for_news:
            return super().is_enough()  # which looks nothing up
        return self._finds_enough(super().is_enough)

    def look_again(self) -> None:
        """Answer if there is enough now: the partitions were read in slices, and what was appended
        to them between their slice and the last one has woken nothing.
        """
        services = self._fetching.services
        wanted = paced_if(self._wanted, partial(services.cold_reads.breathe, services.breathe))
        is_enough = partial(has_enough, self._manager, self._params, wanted)
        if self._finds_enough(is_enough) and not self.completed:
            services.purgatory.cancel(self)
            self.answer()

    def _finds_enough(self, look_up: Callable[[], bool]) -> bool:
        try:
            return self._fetching.services.cold_reads.look_up_now(look_up)
        except ColdRead:
            return True  # older segments than the active one: Kafka answers as well (its case F)

    def _respond(self, result: FetchResult) -> Any:
        if self._session is None:
            result.unknown.extend(self._unknown)
        return self._fetching.respond(result)

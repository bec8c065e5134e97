"""Fetch (1): read record batches, complete and unchanged from the log.

Behaviour: answers immediately if `min_bytes` are available, if a partition has an error, or if the
client does not want to wait; otherwise it reads again when enough data has arrived or `max_wait_ms`
has passed. The wait ends if the client closes its connection. Sizes are limited by `max_bytes`,
`fetch.max.bytes` and the partition's own limit, but the first batch found is sent complete
(KIP-74). Consumers read to the high watermark, with READ_COMMITTED to the last stable offset and
with the list of aborted transactions. If the fetcher's log is not a prefix of this one, the answer
contains the diverging epoch (v12). Sessions: see fetch_sessions.

    no such topic id / topic or partition     UNKNOWN_TOPIC_ID / UNKNOWN_TOPIC_OR_PARTITION
    another topic with that name now          INCONSISTENT_TOPIC_ID
    leader epoch of the request old / new     FENCED_LEADER_EPOCH / UNKNOWN_LEADER_EPOCH
    not the leader, if one is required        NOT_LEADER_OR_FOLLOWER, and who is (v16, KIP-951)
    offset outside the log                    OFFSET_OUT_OF_RANGE, all offsets -1
    directory offline                         KAFKA_STORAGE_ERROR (NOT_LEADER_OR_FOLLOWER to v5)
    no such isolation level                   UNKNOWN_SERVER_ERROR, of the whole request
    a follower that is not a replica          UNKNOWN_LEADER_EPOCH, without an epoch
                                              NOT_LEADER_OR_FOLLOWER

A consumer with a rack (v11) is directed to an in-sync follower in that rack, if
`replica.selector.class` is set; a follower serves consumers up to the high watermark that it knows
(KIP-392).

Versions: 4-18; topic ids from 13.
Not done: nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import Handler, InSlices, Outcome
from pykbroker.broker.prepared.fetch import prepare
from pykbroker.broker.requests.leader_hints import leader_hint
from pykbroker.config.broker_keys_replication import RACK_AWARE
from pykbroker.deferred import Deferred
from pykbroker.environment.files import ColdRead
from pykbroker.environment.slices import paced_if
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from pykbroker.replication.delayed_fetch import DelayedFetch
from pykbroker.replication.fetch_reader import (
    add_untold,
    has_enough,
    read_all_partitions,
    unread_entry,
)
from pykbroker.replication.fetch_request import FetchParams, FetchResult
from pykbroker.replication.read_replica import RackAwareSelector

if TYPE_CHECKING:
    from pykbroker.broker.requests.fetch_sessions import FetchContext
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.fetch_request import FetchRequest
    from pykbroker.replication.fetch_request import FetchPartition
    from pykbroker.replication.replica_manager import ReplicaManager

API_KEY = 1
LONG_BYTES = 16 * 1024  # a request that may have very many partitions
MANY = 1000  # partitions that are read in slices
FIRST_WITH_STORAGE_ERROR = 6
FIRST_WITH_FOLLOWER_FETCHING = 11
FIRST_WITHOUT_ENTRIES_ON_ERROR = 13
FIRST_WITH_REPLICA_STATE = 15
FIRST_WITH_LEADER_HINTS = 16

STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)
NOT_LEADER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
HINTED = (NOT_LEADER, int(ErrorCode.FENCED_LEADER_EPOCH))


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Read what is available; wait if it is not enough."""
    message: FetchRequest = request.message
    services.counters.total_fetch_requests += 1
    params = _params(services, request)
    is_follower = params.replica_id >= 0
    now_ms = request.received_ms
    breathe = services.breathe if len(request.frame) > LONG_BYTES else None
    context = services.fetch_sessions.open(
        message, request.api_version, is_follower, now_ms, breathe
    )
    if context.error:
        return FetchResponse(error_code=context.error)
    manager = services.replica_manager
    wanted = _wanted(manager, context, params)
    reading = partial(read_all_partitions, manager, params, wanted, context.is_incremental)
    answering = partial(answer, services, request, context, params)
    if len(wanted) > MANY:
        return in_slices(services, request, reading, answering)
    outcome: FetchResponse | Deferred = services.cold_reads.serve(request, reading, answering)
    return outcome


def _wanted(
    manager: ReplicaManager, context: FetchContext, params: FetchParams
) -> list[FetchPartition]:
    """What is to be read now."""
    if context.followed is not None:
        context.followed.begin(params, manager.is_stale(params), context.partitions)
    return context.wanted


def in_slices(
    services: BrokerServices,
    request: Request,
    reading: Callable[..., FetchResult],
    answering: Callable[[FetchResult], FetchResponse | Deferred],
) -> InSlices:
    """Read very many partitions in slices."""
    breathe = partial(services.cold_reads.breathe, services.breathe)
    return InSlices(
        partial(services.cold_reads.serve, request, partial(reading, breathe=breathe), answering)
    )


def answer(
    services: BrokerServices,
    request: Request,
    context: FetchContext,
    params: FetchParams,
    result: FetchResult,
) -> FetchResponse | Deferred:
    """Answer with what was read, or wait for more."""
    now_ms = request.received_ms
    if params.replica_id >= 0:
        services.replica_manager.note_follower_fetch(params, result, now_ms, context.followed)
    if (
        result.size_bytes >= params.min_bytes
        or result.must_answer
        or params.max_wait_ms <= 0
        or len(result.unknown) == len(context.partitions)
    ):
        return respond(services, request, context, result)
    waiting = WaitingFetch(services, request, context, params, result)
    if context.followed is not None and waiting.try_complete():
        return waiting.deferred
    waiting.wait_until(now_ms + params.max_wait_ms)
    # A client may request a wait of days, and disconnect.
    request.connection.call_on_close(partial(services.purgatory.cancel, waiting))
    if context.followed is None and len(result.read) > MANY:
        waiting.look_again()
    return waiting.deferred


def _replica_of(message: FetchRequest, version: int) -> tuple[int, int]:
    """Return (replica id, replica epoch); -1, -1 for a consumer."""
    if version < FIRST_WITH_REPLICA_STATE:
        return message.replica_id, -1
    state = message.replica_state
    return (-1, -1) if state is None else (state.replica_id, state.replica_epoch)


def _params(services: BrokerServices, request: Request) -> FetchParams:
    message: FetchRequest = request.message
    version = request.api_version
    replica_id, replica_epoch = _replica_of(message, version)
    return FetchParams(
        replica_id,
        replica_epoch,
        message.max_wait_ms,
        message.min_bytes,
        min(message.max_bytes, services.config.fetch_max_bytes),
        message.isolation_level,
        version < FIRST_WITH_FOLLOWER_FETCHING,
        _selector(services, request) if message.rack_id and replica_id < 0 else None,
    )


def _selector(services: BrokerServices, request: Request) -> RackAwareSelector | None:
    """Return the selector of a replica for this consumer; None if it reads from leaders."""
    if services.config.replica_selector_class != RACK_AWARE:
        return None
    rack: str = request.message.rack_id
    image = services.metadata.image
    return RackAwareSelector(image, services.node_id, rack, request.listener_name)


class WaitingFetch(DelayedFetch):
    """A Fetch in the purgatory."""

    __slots__ = ("_context", "_request", "_services", "deferred")

    def __init__(
        self,
        services: BrokerServices,
        request: Request,
        context: FetchContext,
        params: FetchParams,
        result: FetchResult,
    ) -> None:
        super().__init__(services.replica_manager, params, result, context.followed)
        self._services = services
        self._request = request
        self._context = context
        self.deferred = Deferred()

    def answer(self) -> None:
        self._request.connection.call_on_close(None)
        services, request, context = self._services, self._request, self._context
        wanted = self._wanted
        if context.followed is not None:
            wanted = _wanted(self._manager, context, self._params)
        reading = partial(
            read_all_partitions, self._manager, self._params, wanted, context.is_incremental
        )
        if len(wanted) > MANY:
            self.deferred.resolve(in_slices(services, request, reading, self._respond))
            return
        outcome: Any = services.cold_reads.serve(request, reading, self._respond)
        if isinstance(outcome, Deferred):
            outcome.on_resolved(self.deferred.resolve)
        else:
            self.deferred.resolve(outcome)

    def is_enough(self) -> bool:
        return self._finds_enough(super().is_enough)

    def look_again(self) -> None:
        """Answer if there is enough now: the partitions were read in slices, and what was appended
        to them between their slice and the last one has woken nothing.
        """
        services = self._services
        wanted = paced_if(self._wanted, partial(services.cold_reads.breathe, services.breathe))
        is_enough = partial(has_enough, self._manager, self._params, wanted)
        if self._finds_enough(is_enough) and not self.completed:
            services.purgatory.cancel(self)
            self.answer()

    def _finds_enough(self, look_up: Callable[[], bool]) -> bool:
        try:
            return self._services.cold_reads.look_up_now(look_up)
        except ColdRead:
            return True  # older segments than the active one: Kafka answers as well (its case F)

    def _respond(self, result: FetchResult) -> FetchResponse:
        if self._context.followed is None:
            result.unknown.extend(self._unknown)
        return respond(self._services, self._request, self._context, result)


def respond(
    services: BrokerServices, request: Request, context: FetchContext, result: FetchResult
) -> FetchResponse:
    """Return the response to what was read, in the context of its session."""
    endpoints: list[NodeEndpoint] = []
    if result.must_answer:
        endpoints = _explain_errors(services, request, result)
    services.counters.bytes_out += result.size_bytes
    if result.at_end:
        add_untold(result)
    answers = result.answers
    if result.unknown:
        answers += result.unknown
    return context.respond(answers, endpoints, request.received_ms)


def _explain_errors(
    services: BrokerServices, request: Request, result: FetchResult
) -> list[NodeEndpoint]:
    """Translate codes for this version, and add the leader."""
    manager = services.replica_manager
    version = request.api_version
    is_follower = _replica_of(request.message, version)[0] >= 0  # it has other ways to find out
    endpoints: dict[int, NodeEndpoint] = {}
    breathe = services.breathe if len(result.answers) > MANY else None
    for asked, entry in paced_if(result.answers, breathe):
        if not entry.error_code:
            continue
        services.counters.failed_fetch_requests += 1
        if entry.error_code == STORAGE_ERROR and version < FIRST_WITH_STORAGE_ERROR:
            entry.error_code = NOT_LEADER
        if entry.error_code in HINTED and version >= FIRST_WITH_LEADER_HINTS:
            hint = leader_hint(manager, asked.topic or "", asked.index, request.listener_name)
            entry.current_leader = LeaderIdAndEpoch(
                leader_id=hint.leader, leader_epoch=hint.leader_epoch
            )
            if hint.endpoint is not None and not is_follower:
                host, port, rack = hint.endpoint
                endpoints[hint.leader] = NodeEndpoint(
                    node_id=hint.leader, host=host, port=port, rack=rack
                )
    return list(endpoints.values())


def error_reply(request: Request, code: int, message: str | None = None) -> FetchResponse:
    """Return the top-level error; before version 13 also for every partition."""
    asked: FetchRequest = request.message
    topics = []
    if request.api_version < FIRST_WITHOUT_ENTRIES_ON_ERROR:
        topics = [
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[unread_entry(p.partition, code) for p in topic.partitions],
            )
            for topic in asked.topics
        ]
    return FetchResponse(error_code=code, session_id=asked.session_id, responses=topics)


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=4,
    max_version=18,
    error_reply=error_reply,
    prepare=prepare,
)

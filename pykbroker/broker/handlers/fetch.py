"""Fetch (1): read record batches, complete and unchanged from the log.

Behaviour: answers immediately if `min_bytes` are available, if a partition has an error (unknown
partitions count only if all are unknown), a diverging epoch or a preferred replica, or if the
client does not want to wait; otherwise it reads again when enough data has arrived, something else
has changed, or `max_wait_ms` has passed. The wait ends if the client closes its connection. Sizes
are limited by `max_bytes`, `fetch.max.bytes` and the partition's own limit, but the first batch
found is sent complete (KIP-74). Consumers read to the high watermark, with READ_COMMITTED to the
last stable offset and with the list of aborted transactions. If the fetcher's log is not a prefix
of this one, the answer contains the diverging epoch (v12). Sessions: see fetch_sessions.

    no such topic id / topic or partition     UNKNOWN_TOPIC_ID / UNKNOWN_TOPIC_OR_PARTITION
    another topic with that name now          INCONSISTENT_TOPIC_ID
    leader epoch of the request old / new     FENCED_LEADER_EPOCH / UNKNOWN_LEADER_EPOCH
    not the leader, if one is required,
    or no replica here                        NOT_LEADER_OR_FOLLOWER, and who is (v16, KIP-951)
    offset outside the log                    OFFSET_OUT_OF_RANGE, all offsets -1
    directory offline                         KAFKA_STORAGE_ERROR (NOT_LEADER_OR_FOLLOWER to v5)
    no such isolation level                   UNKNOWN_SERVER_ERROR, of the whole request
    a follower that is not a replica          UNKNOWN_LEADER_EPOCH, without an epoch
                                              NOT_LEADER_OR_FOLLOWER

A consumer with a rack (v11) may be directed to an in-sync follower in that rack, if
`replica.selector.class` is the rack-aware one; a follower serves consumers up to the high watermark
that it knows (KIP-392).

Versions: 4-18; topic ids from 13.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome
from pykbroker.broker.prepared.fetch import prepare
from pykbroker.broker.requests.fetching import Fetching, fetch_params
from pykbroker.config.broker_keys_replication import RACK_AWARE
from pykbroker.protocol.messages.fetch_response import FetchableTopicResponse, FetchResponse
from pykbroker.replication.fetch_reader import unread_entry
from pykbroker.replication.read_replica import RackAwareSelector

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.fetch_request import FetchRequest

API_KEY = 1
LONG_BYTES = 16 * 1024  # a request that may have very many partitions
FIRST_WITHOUT_ENTRIES_ON_ERROR = 13


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Read what is available; wait if it is not enough."""
    message: FetchRequest = request.message
    services.counters.total_fetch_requests += 1
    selector = _selector(services, request) if message.rack_id else None
    params = fetch_params(services, message, request.api_version, selector)
    is_follower = params.replica_id >= 0
    now_ms = request.received_ms
    breathe = services.breathe if len(request.frame) > LONG_BYTES else None
    context = services.fetch_sessions.open(
        message, request.api_version, is_follower, now_ms, breathe
    )
    if context.error:
        return FetchResponse(error_code=context.error)
    fetching = Fetching(services, request.connection, request.api_version, now_ms, params, context)
    outcome: Outcome = fetching.serve()
    return outcome


def _selector(services: BrokerServices, request: Request) -> RackAwareSelector | None:
    """Return the selector of a replica for this consumer; None if it reads from leaders."""
    if services.config.replica_selector_class != RACK_AWARE:
        return None
    rack: str = request.message.rack_id
    image = services.metadata.image
    return RackAwareSelector(image, services.node_id, rack, request.listener_name)


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

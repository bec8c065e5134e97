"""Fetch in a session, prepared: what a consumer or a follower asks from one request to the next.

    the same | session, epoch | topics: partition, epoch, offset, limits ... | the same

What is the same: what stands before the session, such as client id, isolation and the limits of
the whole request; and behind the topics: nothing forgotten, no rack, and the tags, which may name
the follower. The rules are those of the general path: the session takes in what the request names,
and `Fetching` reads, waits and responds, unless `session_read.py` finds a consumer's few records.
Decoding is saved, and encoding where no partition or one has little to tell. A request that the
session refuses is the general path's.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from pykbroker.broker.prepared import HEAD_BYTES, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.fetch_entries import (
    FIRST_BY_ID,
    NamedPartition,
    OnlyEntry,
    topics_layout,
)
from pykbroker.broker.prepared.records_template import RecordsTemplate
from pykbroker.broker.prepared.session_read import read_little
from pykbroker.broker.requests.fetch_sessions import topic_response
from pykbroker.broker.requests.fetching import MANY, Fetching, fetch_params
from pykbroker.broker.requests.session_shard import NO_SESSION
from pykbroker.deferred import Deferred
from pykbroker.network.request import Request
from pykbroker.protocol.messages.fetch_response import (
    AbortedTransaction,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from pykbroker.replication.partition import LOG_END, READ_COMMITTED

if TYPE_CHECKING:
    from pykbroker.broker.requests.fetch_sessions import FetchContext, Told
    from pykbroker.broker.requests.session_shard import FetchSession
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import PreparedConnection
    from pykbroker.protocol.messages.fetch_request import FetchRequest
    from pykbroker.replication.fetch_request import FetchParams, FetchPartition

MOST_TEMPLATES = 16
FIRST_WITHOUT_REPLICA_ID = 15
LIMITS_BYTES = 4 + 4 + 4 + 1
"""Longest wait, least and most bytes, isolation."""
REPLICA_ID_BYTES = 4
SESSION_BYTES = 8

TemplateKey = tuple[tuple[str | bytes, int], bool]
"""A partition, and whether there is no list of aborted transactions."""
NoAborted = list[AbortedTransaction] | None
"""No aborted transactions: an empty list, or none if they are not asked for."""

_unpack_session = Struct(">ii").unpack_from


class PreparedFetching(Fetching):
    """A prepared Fetch that is being served: its response is a frame where that is simple."""

    __slots__ = ("_correlation_id", "_prepared")

    def __init__(
        self,
        prepared: PreparedSessionFetch,
        connection: PreparedConnection,
        params: FetchParams,
        context: FetchContext,
        now_ms: int,
        correlation_id: int,
    ) -> None:
        super().__init__(prepared.services, connection, prepared.version, now_ms, params, context)
        self._prepared = prepared
        self._correlation_id = correlation_id

    def response(self, told: Told, endpoints: list[NodeEndpoint]) -> bytearray | FetchResponse:
        frame = None
        if not endpoints and self.context.size <= MANY:  # else the worker may expect a message
            frame = self._prepared.frame(told, self._correlation_id)
        return super().response(told, endpoints) if frame is None else frame


class PreparedSessionFetch(PreparedRequest):
    """Serves the Fetch requests of a connection that continue a session."""

    __slots__ = (
        "_aborted",
        "_answer",
        "_by_id",
        "_header",
        "_is_consumers",
        "_max_bytes",
        "_message",
        "_only",
        "_params",
        "_prefix",
        "_session_at",
        "_session_id",
        "_suffix",
        "_templates",
        "_topics",
        "services",
        "version",
    )

    def __init__(
        self,
        services: BrokerServices,
        request: Request,
        answer: Answer,
        prefix: bytes,
        suffix: bytes,
    ) -> None:
        super().__init__()
        self.services = services
        self._answer = answer
        self._header = (request.api, request.api_key, request.client_id, request.body_pos)
        self._message: FetchRequest = copy(request.message)
        self._message.topics = []
        self.version = version = request.api_version
        self._by_id = version >= FIRST_BY_ID
        self._topics = topics_layout(version)
        self._only = OnlyEntry(version, suffix)
        self._prefix = prefix
        self._session_at = HEAD_BYTES + len(prefix)
        self._suffix = suffix
        self._session_id = NO_SESSION
        self._templates: dict[TemplateKey | None, RecordsTemplate] = {}
        self._max_bytes = services.config.fetch_max_bytes
        self._params = fetch_params(services, self._message, version)
        self._is_consumers = self._params.isolation != LOG_END
        self._aborted: NoAborted = [] if self._params.isolation == READ_COMMITTED else None

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        at = start + self._session_at
        if at + SESSION_BYTES > end or not frame.startswith(self._prefix, start + HEAD_BYTES):
            return MISSED
        named = self._named(frame, at + SESSION_BYTES, end)
        if named is None:
            return MISSED
        services = self.services
        sessions = services.fetch_sessions
        session_id, epoch = _unpack_session(frame, at)
        session = sessions.find(session_id, epoch, self._by_id)
        params = self._current_params()
        if (
            isinstance(session, int)
            or (session.followed is None) != (params.replica_id < 0)
            or not (named or session.partitions)
        ):
            return MISSED
        services.counters.total_fetch_requests += 1
        for topic, topic_id, entry in named:
            session.ask(topic, topic_id, entry)
        if self._is_consumers and self._serve_little(connection, session, now_ms, correlation_id):
            return SERVED
        context = sessions.proceed(session, now_ms)
        request = (frame, start, end, correlation_id)
        fetching = PreparedFetching(self, connection, params, context, now_ms, correlation_id)
        outcome = fetching.serve()
        if isinstance(outcome, Deferred):
            outcome.on_resolved(lambda later: self._finish(connection, request, later))
        else:
            self._finish(connection, request, outcome)
        return SERVED

    def _named(
        self, frame: bytes | bytearray, start: int, end: int
    ) -> Sequence[NamedPartition] | None:
        """Return the partitions that the request names; None if it is not as expected."""
        suffix = self._suffix
        only = self._only.read(frame, start, end)
        if only is not None:
            return (only,)
        read = self._topics.read(frame, start, end)
        if read is None or read[1] + len(suffix) != end or not frame.startswith(suffix, read[1]):
            return None
        if len(read[0]) == 1:
            self._only.remember(frame, start, end, read[0][0])
        return read[0]

    def _serve_little(
        self,
        connection: PreparedConnection,
        session: FetchSession,
        now_ms: int,
        correlation_id: int,
    ) -> bool:
        """Answer with the records of the only partition that has changed, if they are few; return
        whether it did.
        """
        found = read_little(session, self._params)
        if found is None:
            return False
        asked, numbers, records = found
        template = self._template(session.id, asked, self._aborted)
        if template is None:
            return False
        services = self.services
        services.fetch_sessions.advance(session, now_ms)
        session.told_records(asked, numbers[0], numbers[2])
        services.counters.bytes_out += len(records)
        connection.reply(template.frame(correlation_id, numbers, (records,)))
        return True

    def _finish(
        self,
        connection: PreparedConnection,
        request: tuple[bytes | bytearray, int, int, int],
        outcome: object,
    ) -> None:
        """Answer with a frame, or with what the worker makes of the outcome."""
        if isinstance(outcome, bytearray):
            connection.reply(outcome)
        else:
            self._answer(self._request(connection, *request), outcome)

    def frame(self, told: Told, correlation_id: int) -> bytearray | None:
        """Return the framed response that tells of no partition, or of one without an error that
        has little; None if the general encoder is needed.
        """
        error_code, session_id, answers = told
        if error_code or len(answers) > 1:
            return None
        if not answers:
            template = self._template(session_id, None, None)
            return None if template is None else template.frame(correlation_id, (), ())
        asked, entry = answers[0]
        records = entry.records
        if (
            entry.error_code
            or entry.diverging_epoch is not None
            or entry.preferred_read_replica >= 0
            or entry.aborted_transactions
            or not isinstance(records, bytes | bytearray)
        ):
            return None
        template = self._template(session_id, asked, entry.aborted_transactions)
        if template is None:
            return None
        numbers = (entry.high_watermark, entry.last_stable_offset, entry.log_start_offset)
        return template.frame(correlation_id, numbers, (records,))

    def _template(
        self, session_id: int, asked: FetchPartition | None, aborted: NoAborted
    ) -> RecordsTemplate | None:
        """Return the template of a response with this partition; None if there are too many."""
        if session_id != self._session_id:
            self._session_id = session_id
            self._templates.clear()
        key = None if asked is None else (asked.key, aborted is None)
        template = self._templates.get(key)
        if template is None and len(self._templates) < MOST_TEMPLATES:
            template = self._templates[key] = RecordsTemplate(
                self._header[0],
                self.version,
                3,
                0 if asked is None else 1,
                partial(_sample, session_id, asked, aborted),
            )
        return template

    def _current_params(self) -> FetchParams:
        """Return the parameters of the request, with the limit that is configured now."""
        if self.services.config.fetch_max_bytes != self._max_bytes:
            self._max_bytes = self.services.config.fetch_max_bytes
            self._params = fetch_params(self.services, self._message, self.version)
        return self._params

    def _request(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
    ) -> Request:
        """Return the request to be answered: header (but for the correlation id) and message are
        those of the request that was prepared for. The message names no topics, because nothing
        looks at them any more.
        """
        request = Request(connection, memoryview(frame)[start:end])
        request.api, request.api_key, request.client_id, request.body_pos = self._header
        request.api_version = self.version
        request.correlation_id = correlation_id
        request.message = self._message
        return request


def _sample(
    session_id: int,
    asked: FetchPartition | None,
    aborted: NoAborted,
    numbers: Sequence[int],
    records: Sequence[bytes],
) -> FetchResponse:
    """Return the response with these numbers and records of the partition."""
    topics = []
    if asked is not None:
        part = PartitionData(
            partition_index=asked.index,
            high_watermark=numbers[0],
            last_stable_offset=numbers[1],
            log_start_offset=numbers[2],
            aborted_transactions=aborted,
            records=records[0],
        )
        topics = [topic_response(asked, [part])]
    return FetchResponse(session_id=session_id, responses=topics)


def prepare_session(
    services: BrokerServices, request: Request, answer: Answer
) -> PreparedSessionFetch | None:
    """Prepare for the requests of a session, after the one that makes or continues it."""
    message: FetchRequest = request.message
    if message.forgotten_topics_data or message.rack_id:
        return None
    version = request.api_version
    session_at = request.body_pos + LIMITS_BYTES
    if version < FIRST_WITHOUT_REPLICA_ID:
        session_at += REPLICA_ID_BYTES
    frame = bytes(request.frame)
    read = topics_layout(version).read(frame, session_at + SESSION_BYTES, len(frame))
    if read is None:
        return None
    return PreparedSessionFetch(
        services, request, answer, frame[HEAD_BYTES:session_at], frame[read[1] :]
    )

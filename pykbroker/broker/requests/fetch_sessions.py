"""Incremental fetch sessions (KIP-227): a client of many partitions names only what changed.

    request (id, epoch)    meaning                                answer
    (0, 0) or (i, 0)       full; make a session (ends session i)  all, new id (0: no room)
    (i, -1), (0, -1)       full; no session (ends session i)      all, id 0
    (i, e)                 what changed since e - 1               what changed, id i
                           and no partition is left               what it names, id 0 (ends i)
    unknown i / wrong e    -                                      error 70 / 71
    by id <-> by name      -                                      error 106

A partition is left out of an incremental answer when it has no records, no error, no diverging
epoch and no preferred replica, and the same high watermark and log start as last told. Partitions
that had records go to the end of the session's order, so that no busy partition starves the others.
Of a follower's session only what is dirty is read at all (`replication/follower_session.py`).

The cache is eight shards, each with an eighth of `max.incremental.fetch.session.cache.slots` and
its own range of ids; a full shard makes room for a new session only by the rules of
`SessionShard._make_room`.
Slots limit sessions whatever their size: so a shard also holds at most MAX_PARTITIONS (Kafka only
counts them). A session that would not fit is not made, one that grows too large ends.

State: the sessions; each holds its partitions in the order to read them.
In:  `open` for a Fetch request (a prepared one: `find`, then `proceed` or `advance`).
Out: a `FetchContext`: what to read, and how to answer.
Source: `FetchManager`, `FetchSession`, `FetchSessionCacheShard` of Kafka's server module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

from pykbroker.broker.requests.session_shard import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    SESSION_ID_RANGE,
    SHARDS,
    FetchSession,
    Partitions,
    SessionShard,
    next_epoch,
)
from pykbroker.environment.slices import Breathe, paced_if
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_request import FetchPartition as RequestedPartition
from pykbroker.protocol.messages.fetch_request import FetchRequest, FetchTopic
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.fetch_request import FetchPartition
from pykbroker.replication.follower_session import FollowerSession

FIRST_VERSION_BY_ID = 13

Answer: TypeAlias = "tuple[FetchPartition, PartitionData]"
Answers: TypeAlias = "list[Answer]"
Told: TypeAlias = "tuple[int, int, Answers]"
"""What a response tells: its error code, the id of the session, the entries."""


class FetchContext:
    """One request's view: `wanted` to read in order; `tell` and `response` make the answer.

    `followed`: of a follower's session; what is wanted may be more by the time of the answer.
    """

    __slots__ = (
        "_breathe",
        "_by_id",
        "_expected_epoch",
        "_privileged",
        "_session",
        "_sessions",
        "_wanted",
        "error",
        "followed",
    )

    def __init__(
        self,
        wanted: list[FetchPartition],
        error: int = 0,
        session: FetchSession | None = None,
        new_session_in: FetchSessions | None = None,
        by_id: bool = False,
        privileged: bool = False,
        breathe: Breathe | None = None,
    ) -> None:
        self._breathe = breathe
        self._wanted = wanted
        self.error = error
        self._session = session
        self.followed = None if session is None else session.followed
        self._expected_epoch = 0 if session is None else session.epoch
        self._sessions = new_session_in
        self._by_id = by_id
        self._privileged = privileged

    @property
    def is_incremental(self) -> bool:
        """Does the answer leave out what is unchanged?"""
        return self._session is not None

    @property
    def wanted(self) -> list[FetchPartition]:
        """What to read now, in order."""
        return self._wanted if self.followed is None else list(self.followed.dirty)

    @property
    def partitions(self) -> Collection[FetchPartition]:
        """All that the request asks for, by itself or in its session."""
        return self._wanted if self._session is None else self._session.partitions.values()

    @property
    def size(self) -> int:
        """The number of `partitions`."""
        return len(self._wanted if self._session is None else self._session.partitions)

    def tell(self, answers: Answers, now_ms: int) -> Told:
        """Return what to tell of the entries that were read; updates or makes the session."""
        session = self._session
        breathe = self._breathe
        if session is not None:
            if session.epoch != self._expected_epoch:
                # The same request came twice and the other one was answered meanwhile.
                return int(ErrorCode.INVALID_FETCH_SESSION_EPOCH), session.id, []
            told = _changed(session, paced_if(answers, breathe))
            if self.followed is not None:
                self.followed.told(paced_if(answers, breathe))
            return 0, session.id, told
        session_id = NO_SESSION
        if self._sessions is not None:
            session_id = self._sessions.make(
                paced_if(answers, breathe), self._by_id, self._privileged, now_ms
            )
        return 0, session_id, answers

    def response(self, told: Told, node_endpoints: list[NodeEndpoint]) -> FetchResponse:
        """Return the response with what `tell` returned."""
        error_code, session_id, answers = told
        return FetchResponse(
            error_code=error_code,
            session_id=session_id,
            responses=_by_topic(paced_if(answers, self._breathe)),
            node_endpoints=node_endpoints,
        )


def _changed(session: FetchSession, answers: Iterable[Answer]) -> Answers:
    """The entries that an incremental answer has to have; notes what is told."""
    told = []
    partitions = session.partitions
    for pair in answers:
        asked, entry = pair
        has_records = len(entry.records) > 0  # type: ignore[arg-type]
        must_tell = (
            has_records or entry.diverging_epoch is not None or entry.preferred_read_replica >= 0
        )
        if asked.sent_high_watermark != entry.high_watermark:
            must_tell = True
            asked.sent_high_watermark = entry.high_watermark
        if asked.sent_log_start_offset != entry.log_start_offset:
            must_tell = True
            asked.sent_log_start_offset = entry.log_start_offset
        if entry.error_code:
            must_tell = True
            asked.sent_high_watermark = -1  # tell again once the error is gone
        if entry.diverging_epoch is not None:
            asked.sent_high_watermark = -1  # the follower cuts its log and takes nothing else over
        if must_tell:
            told.append(pair)
        if has_records and partitions.pop(asked.key, None) is not None:
            partitions[asked.key] = asked
    return told


def _by_topic(answers: Iterable[Answer]) -> list[FetchableTopicResponse]:
    """Neighbours of the same topic share an entry; the order stays."""
    topics: list[FetchableTopicResponse] = []
    last_key: str | bytes | None = None
    partitions: list[PartitionData] = []
    for asked, entry in answers:
        key = asked.key[0]
        if key == last_key:
            partitions.append(entry)
        else:
            last_key = key
            partitions = [entry]
            topics.append(topic_response(asked, partitions))
    return topics


def topic_response(
    asked: FetchPartition, partitions: list[PartitionData]
) -> FetchableTopicResponse:
    """Return the entry of a topic; asked: one of its partitions."""
    return FetchableTopicResponse(
        topic=asked.topic or "", topic_id=asked.topic_id, partitions=partitions
    )


class FetchSessions:
    """The cache of a broker."""

    def __init__(
        self,
        slots: int,
        choose_id: Callable[[int, int], int],
        follower_session: Callable[[], FollowerSession],
    ) -> None:
        """slots: the most sessions, of which each shard has an eighth, rounded down. choose_id:
        returns a random id of a range, whose end is exclusive. follower_session: creates the
        leader's side of a follower's session.
        """
        self._follower_session = follower_session
        self._shards = [SessionShard(n, slots // SHARDS, choose_id) for n in range(SHARDS)]
        self._next_shard = 0

    def __len__(self) -> int:
        return sum(len(shard.sessions) for shard in self._shards)

    @property
    def partition_count(self) -> int:
        """Partitions cached in all sessions."""
        return sum(shard.partition_count for shard in self._shards)

    @property
    def evictions(self) -> int:
        """Sessions evicted since the start."""
        return sum(shard.evictions for shard in self._shards)

    def open(
        self,
        message: FetchRequest,
        version: int,
        is_follower: bool,
        now_ms: int,
        breathe: Breathe | None = None,
    ) -> FetchContext:
        """What the request wants read, given its session; see the module's table.

        `breathe` is called between partitions (`environment/slices.py`), but not where the request
        changes what a session asks for.
        """
        epoch = message.session_epoch
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if message.session_id != NO_SESSION:
                self._remove(message.session_id)
            wanted = _asked(message, breathe)
            if epoch == FINAL_EPOCH:
                return FetchContext(wanted, breathe=breathe)
            return FetchContext(
                wanted,
                new_session_in=self,
                by_id=version >= FIRST_VERSION_BY_ID,
                privileged=is_follower,
                breathe=breathe,
            )
        return self._continue(message, version, is_follower, now_ms, breathe)

    def _continue(
        self,
        message: FetchRequest,
        version: int,
        is_follower: bool,
        now_ms: int,
        breathe: Breathe | None,
    ) -> FetchContext:
        session = self.find(
            message.session_id, message.session_epoch, version >= FIRST_VERSION_BY_ID
        )
        if isinstance(session, int):
            return FetchContext([], session)
        if session.followed is not None and not is_follower:
            session.serve_consumer()
        if message.topics or message.forgotten_topics_data:
            _update(session, message)
        if not session.partitions:
            self._remove(session.id)
            return FetchContext(_asked(message))
        return self.proceed(session, now_ms, breathe)

    def find(self, session_id: int, epoch: int, by_id: bool) -> FetchSession | int:
        """Return the session that a request of this epoch continues, or the error code."""
        shard = self._shard_of(session_id)
        session = None if shard is None else shard.sessions.get(session_id)
        if session is None:
            return int(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            return int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            return int(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return session

    def proceed(
        self, session: FetchSession, now_ms: int, breathe: Breathe | None = None
    ) -> FetchContext:
        """Return the context of a request that continues `session`, which has partitions and has
        taken in what the request changes.
        """
        self.advance(session, now_ms)
        wanted = [] if session.followed is not None else list(session.partitions.values())
        return FetchContext(wanted, session=session, breathe=breathe)

    def advance(self, session: FetchSession, now_ms: int) -> None:
        """A request that continues `session` is served: the next one has the next epoch."""
        shard = self._shard_of(session.id)
        assert shard is not None
        shard.touch(session, now_ms)
        session.epoch = next_epoch(session.epoch)

    def make(self, answers: Iterable[Answer], by_id: bool, privileged: bool, now_ms: int) -> int:
        """A session of what a full fetch asked and was told; its id, 0 without room."""
        shard = self._shards[self._next_shard]
        self._next_shard = (self._next_shard + 1) % SHARDS
        partitions: Partitions = {}
        followed = self._follower_session() if privileged else None
        for asked, entry in answers:
            has_diverged = entry.diverging_epoch is not None
            asked.sent_high_watermark = -1 if has_diverged else entry.high_watermark
            asked.sent_log_start_offset = entry.log_start_offset
            partitions[asked.key] = asked
            if followed is not None:
                followed.ask(asked)
        return shard.make(partitions, by_id, followed, now_ms)

    def _remove(self, session_id: int) -> None:
        shard = self._shard_of(session_id)
        if shard is not None:
            shard.remove(session_id)

    def _shard_of(self, session_id: int) -> SessionShard | None:
        number = session_id // SESSION_ID_RANGE
        return self._shards[number] if 0 <= number < SHARDS else None


def _asked(message: FetchRequest, breathe: Breathe | None = None) -> list[FetchPartition]:
    wanted = []
    for topic in paced_if(message.topics, breathe):
        for p in paced_if(topic.partitions, breathe):
            wanted.append(_new_entry(topic, p))
    if len(wanted) > 1:
        # A partition that is named twice counts once, as last asked.
        wanted = list({asked.key: asked for asked in paced_if(wanted, breathe)}.values())
    return wanted


def _new_entry(topic: FetchTopic, p: RequestedPartition) -> FetchPartition:
    return FetchPartition(
        topic.topic if topic.topic_id == ZERO_UUID else None,
        topic.topic_id,
        p.partition,
        p.fetch_offset,
        p.partition_max_bytes,
        p.current_leader_epoch,
        p.last_fetched_epoch,
        p.log_start_offset,
    )


def _update(session: FetchSession, message: FetchRequest) -> None:
    """Take in what an incremental request adds, changes and forgets."""
    partitions = session.partitions
    followed = session.followed
    for topic in message.topics:
        name = topic.topic if topic.topic_id == ZERO_UUID else None
        for p in topic.partitions:
            session.ask(
                name,
                topic.topic_id,
                (
                    p.partition,
                    p.current_leader_epoch,
                    p.fetch_offset,
                    p.last_fetched_epoch,
                    p.log_start_offset,
                    p.partition_max_bytes,
                ),
            )
    for forgot in message.forgotten_topics_data:
        by = forgot.topic if forgot.topic_id == ZERO_UUID else forgot.topic_id
        for index in forgot.partitions:
            forgotten = partitions.pop((by, index), None)
            if forgotten is not None and followed is not None:
                followed.forget(forgotten)

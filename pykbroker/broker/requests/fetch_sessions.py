"""Incremental fetch sessions (KIP-227): a consumer of many partitions names only what changed.

    request (id, epoch)    meaning                                answer
    (0, 0) or (i, 0)       full; make a session (ends session i)  all, new id (0: no room)
    (i, -1), (0, -1)       full; no session (ends session i)      all, id 0
    (i, e)                 what changed since e - 1               what changed, id i
    unknown i / wrong e    -                                      error 70 / 71
    by id <-> by name      -                                      error 106

A partition is left out of an incremental answer when it has no records, no error and the same high
watermark and log start as last told. Partitions that had records go to the end of the session's
order, so that no busy partition starves the others. Of a follower's session only what is dirty is
read at all (`replication/follower_session.py`).

The cache is eight shards, each with an eighth of `max.incremental.fetch.session.cache.slots` and
its own range of ids; a full shard makes room for a new session only by the rules of `_make_room`.
Slots limit sessions whatever their size: so a shard also holds at most MAX_PARTITIONS (Kafka only
counts them). A session that would not fit is not made, one that grows too large ends.

State: the sessions; each holds its partitions in the order to read them.
In:  `open` for each Fetch request. Out: a `FetchContext`: what to read, and how to answer.
Source: `FetchManager`, `FetchSession`, `FetchSessionCacheShard` of Kafka's server module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

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

SHARDS = 8
SESSION_ID_RANGE = 0x7FFFFFFF // SHARDS
EVICTION_MS = 120_000
MAX_PARTITIONS = 1_000_000 // SHARDS
MAX_EPOCH = 0x7FFFFFFF

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1

FIRST_VERSION_BY_ID = 13

Answer: TypeAlias = "tuple[FetchPartition, PartitionData]"
Answers: TypeAlias = "list[Answer]"
Partitions: TypeAlias = "dict[tuple[str | bytes, int], FetchPartition]"


def next_epoch(epoch: int) -> int:
    """After the largest comes 1: 0 would mean a full fetch. -1 stays."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == MAX_EPOCH else epoch + 1


class FetchSession:
    """One session. `partitions` is in reading order."""

    __slots__ = (
        "by_id",
        "created_ms",
        "epoch",
        "followed",
        "id",
        "last_used_ms",
        "long_lived",
        "partitions",
        "privileged",
        "size",
    )

    def __init__(
        self,
        session_id: int,
        followed: FollowerSession | None,
        partitions: Partitions,
        by_id: bool,
        now_ms: int,
    ) -> None:
        self.id = session_id
        self.privileged = followed is not None
        self.followed = followed
        self.partitions = partitions
        self.by_id = by_id
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.long_lived = False  # older than EVICTION_MS when last used
        self.size = len(partitions)  # when last used
        self.epoch = next_epoch(INITIAL_EPOCH)

    def serve_consumer(self) -> None:
        """A consumer uses a follower's session: it is not read as a follower's any more."""
        followed, self.followed = self.followed, None
        if followed is not None:
            for asked in self.partitions.values():
                followed.forget(asked)


class SessionShard:
    """An eighth of the cache. `sessions` is in the order of their last use."""

    __slots__ = (
        "_choose_id",
        "_first_id",
        "evictions",
        "max_sessions",
        "partition_count",
        "sessions",
    )

    def __init__(
        self, number: int, max_sessions: int, choose_id: Callable[[int, int], int]
    ) -> None:
        self.sessions: dict[int, FetchSession] = {}
        self.max_sessions = max_sessions
        self.partition_count = 0
        self.evictions = 0
        self._first_id = number * SESSION_ID_RANGE
        self._choose_id = choose_id

    def make(
        self,
        partitions: Partitions,
        by_id: bool,
        followed: FollowerSession | None,
        now_ms: int,
    ) -> int:
        """A new session's id; 0 when there is no room for one of this kind and size.

        followed: what a follower's session is for the replicas' leader.
        """
        privileged = followed is not None
        size = len(partitions)
        is_full = (
            len(self.sessions) >= self.max_sessions or self.partition_count + size > MAX_PARTITIONS
        )
        if is_full and not self._make_room(privileged, size, now_ms):
            return NO_SESSION
        if self.partition_count + size > MAX_PARTITIONS:
            return NO_SESSION
        session = FetchSession(self._new_id(), followed, partitions, by_id, now_ms)
        self.sessions[session.id] = session
        self.partition_count += session.size
        return session.id

    def touch(self, session: FetchSession, now_ms: int) -> None:
        """`session` is used now; its partitions may have changed."""
        sessions = self.sessions
        del sessions[session.id]
        sessions[session.id] = session
        session.last_used_ms = now_ms
        session.long_lived = now_ms - session.created_ms > EVICTION_MS
        size = len(session.partitions)
        self.partition_count += size - session.size
        session.size = size
        if self.partition_count > MAX_PARTITIONS:
            self.remove(session.id)

    def remove(self, session_id: int) -> None:
        """End a session; nothing happens when there is none."""
        session = self.sessions.pop(session_id, None)
        if session is not None:
            self.partition_count -= session.size

    def _new_id(self) -> int:
        first = max(1, self._first_id)
        while True:
            session_id = self._choose_id(first, self._first_id + SESSION_ID_RANGE)
            if session_id not in self.sessions:
                return session_id

    def _make_room(self, privileged: bool, size: int, now_ms: int) -> bool:
        """Evict one session that is unused for long; or else the least valuable one that is old
        enough (or, for a follower, a consumer's), if the new one is worth more: followers before
        consumers, more partitions before fewer.
        """
        if not self.sessions:
            return False
        oldest = next(iter(self.sessions.values()))
        if now_ms - oldest.last_used_ms > EVICTION_MS:
            victim = oldest
        else:
            candidates = [
                session
                for session in self.sessions.values()
                if session.long_lived or (privileged and not session.privileged)
            ]
            if not candidates:
                return False
            victim = min(candidates, key=lambda s: (s.privileged, s.size, s.id))
            if (privileged, size, 0) < (victim.privileged, victim.size, victim.id):
                return False
        self.remove(victim.id)
        self.evictions += 1
        return True


class FetchContext:
    """One request's view: `wanted` to read in order; `respond` makes the answer.

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

    def respond(
        self, answers: Answers, node_endpoints: list[NodeEndpoint], now_ms: int
    ) -> FetchResponse:
        """The response to the entries that were read; updates or makes the session."""
        session = self._session
        breathe = self._breathe
        if session is not None:
            if session.epoch != self._expected_epoch:
                # The same request came twice and the other one was answered meanwhile.
                return FetchResponse(
                    error_code=int(ErrorCode.INVALID_FETCH_SESSION_EPOCH), session_id=session.id
                )
            read, answers = answers, _changed(session, paced_if(answers, breathe))
            if self.followed is not None:
                self.followed.told(paced_if(read, breathe))
            session_id = session.id
        elif self._sessions is not None:
            session_id = self._sessions.make(
                paced_if(answers, breathe), self._by_id, self._privileged, now_ms
            )
        else:
            session_id = NO_SESSION
        return FetchResponse(
            session_id=session_id,
            responses=_by_topic(paced_if(answers, breathe)),
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
            topics.append(
                FetchableTopicResponse(
                    topic=asked.topic or "", topic_id=asked.topic_id, partitions=partitions
                )
            )
    return topics


class FetchSessions:
    """The cache of a broker. `choose_id(first, end)` picks an id at random: the caller's luck."""

    def __init__(
        self,
        slots: int,
        choose_id: Callable[[int, int], int],
        follower_session: Callable[[], FollowerSession],
    ) -> None:
        """`slots`: the most sessions; `follower_session` creates the leader's side of one."""
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
                shard = self._shard_of(message.session_id)
                if shard is not None:
                    shard.remove(message.session_id)
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
        shard = self._shard_of(message.session_id)
        session = None if shard is None else shard.sessions.get(message.session_id)
        if shard is None or session is None:
            return FetchContext([], int(ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
        if session.epoch != message.session_epoch:
            return FetchContext([], int(ErrorCode.INVALID_FETCH_SESSION_EPOCH))
        if session.by_id != (version >= FIRST_VERSION_BY_ID):
            return FetchContext([], int(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR))
        if session.followed is not None and not is_follower:
            session.serve_consumer()
        if message.topics or message.forgotten_topics_data:
            _update(session, message)
        if not session.partitions:
            shard.remove(session.id)
            return FetchContext(_asked(message))
        shard.touch(session, now_ms)
        session.epoch = next_epoch(session.epoch)
        wanted = [] if session.followed is not None else list(session.partitions.values())
        return FetchContext(wanted, session=session, breathe=breathe)

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
        by: str | bytes = topic.topic if topic.topic_id == ZERO_UUID else topic.topic_id
        for p in topic.partitions:
            known = partitions.get((by, p.partition))
            if known is None:
                known = _new_entry(topic, p)
                partitions[known.key] = known
            else:
                if known.current_leader_epoch != p.current_leader_epoch:
                    known.sent_high_watermark = -1  # it has dropped what it was told in the old one
                    known.current_leader_epoch = p.current_leader_epoch
                known.fetch_offset = p.fetch_offset
                known.max_bytes = p.partition_max_bytes
                known.last_fetched_epoch = p.last_fetched_epoch
                known.log_start_offset = p.log_start_offset
            if followed is not None:
                followed.ask(known)
    for forgot in message.forgotten_topics_data:
        by = forgot.topic if forgot.topic_id == ZERO_UUID else forgot.topic_id
        for index in forgot.partitions:
            forgotten = partitions.pop((by, index), None)
            if forgotten is not None and followed is not None:
                followed.forget(forgotten)

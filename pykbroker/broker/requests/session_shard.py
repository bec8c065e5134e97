"""Fetch sessions and the shards that keep them; `fetch_sessions.py` has the rules of requests.

State: a session holds its partitions in the order to read them; a shard the sessions, in the order
of their last use.
In:  `ask` (an entry of a request); `make`, `touch`, `remove`. Out: ids; what is evicted is gone.
Invariant: a shard holds at most its share of sessions and MAX_PARTITIONS partitions, counted when
a session was last used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

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

Partitions: TypeAlias = "dict[tuple[str | bytes, int], FetchPartition]"
Entry: TypeAlias = tuple[int, int, int, int, int, int]
"""Index, leader epoch, fetch offset, last fetched epoch, log start offset, limit in bytes."""


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

    def ask(self, topic: str | None, topic_id: bytes, entry: Entry) -> None:
        """Take in an entry of an incremental request: a partition that is new, or what it asks now.

        topic: the name; None if `topic_id` is given instead.
        """
        index, leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, max_bytes = entry
        known = self.partitions.get((topic_id if topic is None else topic, index))
        if known is None:
            known = FetchPartition(
                topic,
                topic_id,
                index,
                fetch_offset,
                max_bytes,
                leader_epoch,
                last_fetched_epoch,
                log_start_offset,
            )
            self.partitions[known.key] = known
        else:
            if known.current_leader_epoch != leader_epoch:
                known.sent_high_watermark = -1  # it has dropped what it was told in the old one
                known.current_leader_epoch = leader_epoch
            known.fetch_offset = fetch_offset
            known.max_bytes = max_bytes
            known.last_fetched_epoch = last_fetched_epoch
            known.log_start_offset = log_start_offset
        if self.followed is not None:
            self.followed.ask(known)

    def told_records(
        self, asked: FetchPartition, high_watermark: int, log_start_offset: int
    ) -> None:
        """A response has records of a partition: it goes to the end of the reading order."""
        asked.sent_high_watermark = high_watermark
        asked.sent_log_start_offset = log_start_offset
        partitions = self.partitions
        if len(partitions) > 1:
            del partitions[asked.key]
            partitions[asked.key] = asked

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
        """`session` is used now; its partitions may have changed. It ends if the shard now has too
        many.
        """
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
        consumers, more partitions before fewer. Return whether one was evicted.
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

"""What one fetcher requests from its leader: the state of each partition that it follows.

    TRUNCATING    its log has no epoch: cut at the high watermark first
    FETCHING      requested in every fetch
    RESETTING     its offset is out of the leader's range; the leader's offsets are looked up
    FAILED        not requested until it is added again, in another leader epoch for example
    delayed       FETCHING, but not requested for the time of the back-off after an error

State: the partitions, those whose state changed since the last request, the fetch session.
In:  partitions added and removed, answers, the time. Out: requests; entries to work on.
Invariants: an answer counts only for a partition that still has the offset and the leader epoch of
the request; within a session, the cost of a request depends on what changed, not on how many
partitions are followed.
Source: Kafka's `AbstractFetcherThread.scala`, `RemoteLeaderEndPoint.scala`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from heapq import heappop, heappush

from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from pykbroker.protocol.messages.fetch_response import FetchResponse, PartitionData
from pykbroker.replication.fetch_session_client import Asked, FetchSessionClient, PartitionKey
from pykbroker.values import NamedTuple

NO_EPOCH = -1


class FetchLimits(NamedTuple):
    """The settings `replica.fetch.*`."""

    wait_max_ms: int
    min_bytes: int
    response_max_bytes: int
    max_bytes: int
    backoff_ms: int


class State(Enum):
    """The states of a followed partition."""

    TRUNCATING = auto()
    FETCHING = auto()
    RESETTING = auto()
    FAILED = auto()


class Followed:
    """One partition of a fetcher."""

    __slots__ = (
        "delayed_until_ms",
        "fetch_offset",
        "key",
        "last_fetched_epoch",
        "leader_epoch",
        "log_start_offset",
        "state",
    )

    def __init__(
        self,
        key: PartitionKey,
        leader_epoch: int,
        fetch_offset: int,
        last_fetched_epoch: int | None,
        log_start_offset: int,
    ) -> None:
        self.key = key
        self.leader_epoch = leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = NO_EPOCH if last_fetched_epoch is None else last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.state = State.TRUNCATING if last_fetched_epoch is None else State.FETCHING
        self.delayed_until_ms = 0


class FetchPlan:
    """What one fetcher requests from its leader."""

    def __init__(self, replica_id: int, limits: FetchLimits) -> None:
        self._replica_id = replica_id
        self._limits = limits
        self._session = FetchSessionClient()
        self._changed: dict[PartitionKey, None] = {}
        self._delays: list[tuple[int, PartitionKey]] = []
        self._paused_until_ms = 0
        self.partitions: dict[PartitionKey, Followed] = {}

    # ---- what is followed

    def add(self, followed: Followed) -> None:
        """Follow a partition from its current state on; a back-off after a failed fetch ends."""
        self.partitions[followed.key] = followed
        self._changed[followed.key] = None
        self._paused_until_ms = 0

    def remove(self, key: PartitionKey) -> None:
        """Stop following a partition."""
        if self.partitions.pop(key, None) is not None:
            self._changed[key] = None

    def move(
        self, followed: Followed, offset: int, last_fetched_epoch: int | None, log_start_offset: int
    ) -> None:
        """Record that the replica now ends at `offset`, after an append, a
        truncation, or a look-up.
        """
        followed.fetch_offset = offset
        followed.last_fetched_epoch = NO_EPOCH if last_fetched_epoch is None else last_fetched_epoch
        followed.log_start_offset = log_start_offset
        followed.state = State.FETCHING
        self._changed[followed.key] = None

    def note_log_start(self, followed: Followed, log_start_offset: int) -> None:
        """Record that retention or the leader moved the replica's log start."""
        if followed.log_start_offset != log_start_offset:
            followed.log_start_offset = log_start_offset
            self._changed[followed.key] = None

    def set_aside(self, followed: Followed, state: State) -> None:
        """Stop requesting the partition while it is RESETTING or FAILED."""
        followed.state = state
        self._changed[followed.key] = None

    def delay(self, followed: Followed, now_ms: int) -> None:
        """Request the partition again after the back-off."""
        followed.delayed_until_ms = now_ms + self._limits.backoff_ms
        if followed.state is State.RESETTING:
            followed.state = State.FETCHING
        heappush(self._delays, (followed.delayed_until_ms, followed.key))
        self._changed[followed.key] = None

    def truncating(self) -> list[Followed]:
        """Return the partitions to truncate at their fetch offset, the high
        watermark, before fetching.
        """
        return [
            followed
            for key in self._changed
            if (followed := self.partitions.get(key)) is not None
            and followed.state is State.TRUNCATING
        ]

    # ---- requests and answers

    def next_request(self, broker_epoch: int, now_ms: int) -> FetchRequest | None:
        """Return the next fetch; None if there is nothing to request now (see
        `next_deadline_ms`).
        """
        if now_ms < self._paused_until_ms:
            return None
        self._paused_until_ms = 0
        delays = self._delays
        while delays and delays[0][0] <= now_ms:
            self._changed[heappop(delays)[1]] = None
        self._update_session(now_ms)
        session = self._session
        if session.is_idle:
            return None
        is_new = session.is_full
        named, forgotten = session.take_request()
        limits = self._limits
        return FetchRequest(
            replica_state=ReplicaState(replica_id=self._replica_id, replica_epoch=broker_epoch),
            max_wait_ms=limits.wait_max_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.response_max_bytes,
            session_id=session.id,
            session_epoch=0 if is_new else session.epoch,
            topics=self._topics(named),
            forgotten_topics_data=_forgotten(forgotten),
        )

    def _update_session(self, now_ms: int) -> None:
        changed, self._changed = self._changed, {}
        session = self._session
        for key in changed:
            followed = self.partitions.get(key)
            if (
                followed is None
                or followed.state is not State.FETCHING
                or followed.delayed_until_ms > now_ms
            ):
                session.forget(key)
                continue
            asked = Asked(
                followed.fetch_offset,
                followed.leader_epoch,
                followed.last_fetched_epoch,
                followed.log_start_offset,
            )
            session.add(key, asked)

    def _topics(self, keys: list[PartitionKey]) -> list[FetchTopic]:
        topics: dict[bytes, FetchTopic] = {}
        max_bytes = self._limits.max_bytes
        for key in keys:
            topic_id, index = key
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = FetchTopic(topic_id=topic_id, partitions=[])
            asked = self._session.asked[key]
            topic.partitions.append(
                FetchPartition(
                    partition=index,
                    current_leader_epoch=asked.leader_epoch,
                    fetch_offset=asked.fetch_offset,
                    last_fetched_epoch=asked.last_fetched_epoch,
                    log_start_offset=asked.log_start_offset,
                    partition_max_bytes=max_bytes,
                )
            )
        return list(topics.values())

    def answered(
        self, response: FetchResponse, now_ms: int
    ) -> Iterator[tuple[Followed, PartitionData]]:
        """Return the entries to process, of partitions whose state is still as requested."""
        entries = {
            (topic.topic_id, entry.partition_index): entry
            for topic in response.responses
            for entry in topic.partitions
        }
        was_full = self._session.is_full
        if not self._session.answered(response.error_code, response.session_id, entries):
            if was_full:  # else a full fetch may well succeed at once
                self._paused_until_ms = now_ms + self._limits.backoff_ms
            return
        asked = self._session.asked
        for key, entry in entries.items():
            followed = self.partitions.get(key)
            if (
                followed is not None
                and followed.state is State.FETCHING
                and followed.delayed_until_ms <= now_ms
                and followed.fetch_offset == asked[key].fetch_offset
                and followed.leader_epoch == asked[key].leader_epoch
            ):
                yield followed, entry

    def failed(self, now_ms: int) -> None:
        """Handle a missing answer: request everything again after the back-off."""
        self._session.failed()
        self._paused_until_ms = now_ms + self._limits.backoff_ms

    def next_deadline_ms(self) -> int | None:
        """Return when `next_request` may have something new; None: not by time alone."""
        if self._paused_until_ms:
            return self._paused_until_ms
        return self._delays[0][0] if self._delays else None


def _forgotten(keys: list[PartitionKey]) -> list[ForgottenTopic]:
    topics: dict[bytes, ForgottenTopic] = {}
    for topic_id, index in keys:
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = ForgottenTopic(topic_id=topic_id, partitions=[])
        topic.partitions.append(index)
    return list(topics.values())

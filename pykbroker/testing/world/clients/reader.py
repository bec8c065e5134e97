"""A reader: it follows partitions from their start to their end, with fetch sessions or without.

Each partition is read from its leader; a session is with one node that leads some. The reader
checks that offsets follow each other without gaps, except in compacted topics and in those that a
power failure may have taken records from; where its offset is out of range, it may go to the start
of the log. When the faults are over it must reach the end of every partition: this reveals a
session that forgets a partition, or a long poll that is never woken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from pykbroker.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.routed_client import RoutedClient
from pykbroker.testing.world.ledger import PartitionLedger, end_of_batches, stored_records
from pykbroker.testing.world.world import World
from pykbroker.types import Peer, TopicPartition

FIRST_WITH_TOPIC_ID = 13
FIRST_WITH_SESSIONS = 7
EARLIEST = -2
SESSION_LOST = frozenset(
    (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    )
)


@dataclass(slots=True)
class Position:
    """How far one partition is read."""

    topic: TopicPromise
    index: int
    offset: int = 0
    is_sent: bool = False
    """The session knows this offset."""
    session: Session | None = None
    """The one that it is in."""

    @property
    def ledger(self) -> PartitionLedger:
        """The promises of the partition."""
        return self.topic.ledgers[self.index]

    @property
    def partition(self) -> TopicPartition:
        """What is read."""
        return TopicPartition(self.topic.name, self.index)


class Session:
    """A fetch session with one node (KIP-227), or fetches without one."""

    def __init__(self, peer: Peer | None, *, is_incremental: bool) -> None:
        self.peer = peer
        self._is_incremental = is_incremental
        self.positions: list[Position] = []
        self.forgotten: list[Position] = []
        self.begin()

    def begin(self) -> None:
        """Begin anew: the next request names all partitions."""
        self.id = 0
        self.epoch = 0 if self._is_incremental else -1
        for position in self.positions:
            position.is_sent = False
        self.forgotten = []

    def take(self, position: Position) -> None:
        """Move a position from its session, if it has one, to this one."""
        before = position.session
        if before is not None:
            before.positions.remove(position)
            before.forgotten.append(position)
        if position in self.forgotten:
            self.forgotten.remove(position)
        position.session = self
        position.is_sent = False
        self.positions.append(position)


class ReaderClient(RoutedClient):
    """A scripted reader."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        topics: Sequence[str],
    ) -> None:
        super().__init__(world, name, bootstrap)
        self._catalog = catalog
        self.positions = [
            Position(catalog.topics[topic], index)
            for topic in topics
            for index in range(catalog.topics[topic].partitions)
        ]
        self._version = self.version_of("Fetch")
        self._has_sessions = self._version >= FIRST_WITH_SESSIONS and self.dice.randrange(4) > 0
        self._sessions: dict[Peer | None, Session] = {}
        self.records_read = 0
        if self.knows_one_node:
            for position in self.positions:
                self._session_with(None).take(position)

    async def script(self) -> None:
        """Read until it is stopped."""
        while not self.is_stopping:
            if not self.knows_one_node:
                await self._follow_leaders()
            for session in list(self._sessions.values()):
                if session.positions or session.forgotten:
                    await self._fetch(session)

    async def _follow_leaders(self) -> None:
        by_partition = {position.partition: position for position in self.positions}
        for peer, owned in (await self.leaders_of(by_partition)).items():
            session = self._session_with(peer)
            for partition in owned:
                if by_partition[partition].session is not session:
                    session.take(by_partition[partition])
        if not any(session.positions for session in self._sessions.values()):
            await self.pause(20, 200)

    def _session_with(self, peer: Peer | None) -> Session:
        session = self._sessions.get(peer)
        if session is None:
            session = Session(peer, is_incremental=self._has_sessions)
            self._sessions[peer] = session
        return session

    async def _fetch(self, session: Session) -> None:
        failures_before = self._catalog.power_failures
        try:
            response = await self.ask(
                self._request(session),
                self._version,
                peer=session.peer,
                timeout_ms=3_000,
                purpose="fetch",
            )
        except KafkaError as failure:
            self.note(f"fetch failed: {failure.code}")
            session.begin()
            self.forget_leaders()
            await self.pause(20, 200)
            return
        await self._take(session, response, failures_before)
        await self.pause(0, 60)

    # ---------------------------------------------------------------- requests

    def _request(self, session: Session) -> FetchRequest:
        wanted = [each for each in session.positions if session.epoch <= 0 or not each.is_sent]
        topics: list[FetchTopic] = []
        for position in wanted:
            position.is_sent = True
            topics.append(
                FetchTopic(
                    topic=position.topic.name,
                    topic_id=position.topic.topic_id,
                    partitions=[
                        FetchPartition(
                            partition=position.index,
                            fetch_offset=position.offset,
                            partition_max_bytes=self.dice.choice((1, 500, 100_000)),
                        )
                    ],
                )
            )
        message = FetchRequest(
            max_wait_ms=self.dice.choice((0, 50, 500)),
            min_bytes=self.dice.choice((0, 1, 1, 1_000)),
            max_bytes=self.dice.choice((1, 1_000, 1 << 20)),
            topics=topics,
        )
        if self._has_sessions:
            message.session_id = session.id
            message.session_epoch = session.epoch
            message.forgotten_topics_data = [
                ForgottenTopic(
                    topic=each.topic.name,
                    topic_id=each.topic.topic_id,
                    partitions=[each.index],
                )
                for each in session.forgotten
            ]
            session.forgotten = []
        return message

    # ---------------------------------------------------------------- responses

    async def _take(self, session: Session, response: Any, failures_before: int) -> None:
        """Take the answer, unless a power failure since the request may have taken it back."""
        if self._catalog.power_failures != failures_before:
            session.begin()
            return
        code = response.error_code
        if code in SESSION_LOST:
            self.note(f"session {session.id} is lost: {code}")
            session.begin()
            return
        if code:
            raise self.violated(f"a fetch was answered with {code}")
        if self._has_sessions:
            session.id = response.session_id
            session.epoch = session.epoch + 1 if response.session_id else 0
        for topic in response.responses:
            for answer in topic.partitions:
                if self._catalog.power_failures != failures_before:  # while another was taken
                    session.begin()
                    return
                await self._take_partition(self._find(topic, answer.partition_index), answer)
        if self._has_sessions and self.dice.one_in(30) and not self.world.is_calm():
            session.begin()

    def _find(self, topic: Any, index: int) -> Position:
        for position in self.positions:
            is_same = (
                position.topic.topic_id == topic.topic_id
                if self._version >= FIRST_WITH_TOPIC_ID
                else position.topic.name == topic.topic
            )
            if is_same and position.index == index:
                return position
        raise self.violated(f"a fetch was answered with {topic.topic}-{index}, not asked for")

    async def _take_partition(self, position: Position, answer: Any) -> None:
        name = position.ledger.name
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            await self._find_start(position)
            return
        if answer.error_code:
            self.note(f"{name} cannot be read: {answer.error_code}")
            position.is_sent = False
            self.forget_leaders()
            await self.pause(20, 200)
            return
        payload = answer.records or b""
        records = [each for each in stored_records(payload) if each.offset >= position.offset]
        end = end_of_batches(payload)
        if end <= position.offset:
            return
        for record in records:
            # A power failure may leave a hole between two segments, in what was not flushed.
            may_skip = position.topic.rules.is_compacted or position.topic.may_lose
            if record.offset != position.offset and not may_skip:
                raise self.violated(f"{name}: {record.offset} follows {position.offset - 1}")
            if record.offset >= answer.high_watermark:
                raise self.violated(
                    f"{name}: {record.offset} is not below the high watermark "
                    f"{answer.high_watermark}"
                )
            position.ledger.seen(record)
            position.offset = record.offset + 1
        position.offset = max(position.offset, end)  # compaction leaves batches without records
        position.is_sent = False
        self.records_read += len(records)
        self.note(f"{name} is read up to {position.offset}")

    async def _find_start(self, position: Position) -> None:
        """Ask where the log starts now, and go there if that is later, or if a power failure took
        records of it.
        """
        version = self.version_of("ListOffsets")
        partition = ListOffsetsPartition(partition_index=position.index, timestamp=EARLIEST)
        topic = ListOffsetsTopic(name=position.topic.name, partitions=[partition])
        peer = None if position.session is None else position.session.peer
        try:
            response = await self.ask(ListOffsetsRequest(topics=[topic]), version, peer=peer)
        except KafkaError:
            return
        answer = response.topics[0].partitions[0]
        if answer.error_code:
            self.forget_leaders()  # it was read from a follower
            position.is_sent = False
            return
        if answer.offset > position.offset or position.ledger.lost_by_power:
            position.offset = answer.offset
            self.note(f"{position.ledger.name} is reread from {answer.offset}")
        position.is_sent = False

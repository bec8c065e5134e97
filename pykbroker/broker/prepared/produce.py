"""Produce, prepared: plain batches to the same topics, in a request like the last one.

    the same, first topic | its partitions | next topic | its partitions | ... | end

What is the same: client id, no transactional id, acks, time-out, the topics and their order. The
batches are checked and queued as on the general path (`check_plain`, `queue_plain`). If one of them
needs more than that, or there are very many, nothing is queued, and the general path serves the
whole request.

A request whose batches are queued is a `ProduceTicket`, which answers it at the end of the round or
waits for the replicas (`produce_ticket.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.broker.prepared import GATHERED, HEAD_BYTES, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.produce_entries import EntriesOf, fixed_entries, flexible_entries
from pykbroker.broker.prepared.produce_replies import Place, ProduceReplies
from pykbroker.broker.prepared.produce_ticket import ProduceTerms, ProduceTicket
from pykbroker.broker.requests.long_produce import PIECE, is_long
from pykbroker.broker.requests.produce_checks import FIRST_BY_ID
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.log.partition.log_appender import PlainCheck
    from pykbroker.network.request import PreparedConnection, Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest
    from pykbroker.replication.partition import Partition

# So many topics, and such names, have one byte for their number and length in flexible versions.
MOST_TOPICS = 20
MOST_NAME_LENGTH = 100
ID_BYTES = 16
FIXED_FIELDS_BYTES = 2 + 2 + 4 + 4  # transactional id, acks, time-out, number of topics
FLEXIBLE_FIELDS_BYTES = 1 + 2 + 4 + 1

CheckedBatch: TypeAlias = "tuple[Place, Partition, memoryview, PlainCheck]"
"""Where the batch goes, its records, and what `check_plain` has found. A plain tuple: a named one
would cost every batch 0.2 us more.
"""


class RememberedTopic(NamedTuple):
    """A topic of the requests: its name, its id if they have it (else zeros), and the bytes that
    follow its partitions.
    """

    name: str
    topic_id: bytes
    behind: bytes


class PreparedProduce(PreparedRequest):
    """Serves Produce requests with plain batches to the same topics."""

    __slots__ = (
        "_acks",
        "_counters",
        "_entries_at",
        "_entries_of",
        "_manager",
        "_prefix",
        "_terms",
        "_topics",
        "_wall_ms",
    )

    def __init__(
        self,
        services: BrokerServices,
        terms: ProduceTerms,
        entries_of: EntriesOf,
        prefix: bytes,
        topics: list[RememberedTopic],
    ) -> None:
        super().__init__()
        self._terms = terms
        self._acks = terms.acks
        self._counters = services.counters
        self._manager = services.replica_manager
        self._wall_ms = services.wall_ms
        self._prefix = prefix
        self._entries_at = HEAD_BYTES + len(prefix)
        self._topics = topics
        self._entries_of = entries_of

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        if not frame.startswith(self._prefix, start + HEAD_BYTES):
            return MISSED
        wall_ms = self._wall_ms()
        checked = self._check(frame, start + self._entries_at, end, wall_ms)
        if checked is None:
            return MISSED
        manager = self._manager
        counters = self._counters
        counters.total_produce_requests += 1
        request = (frame, start, end)
        ticket = ProduceTicket(self._terms, connection, request, correlation_id, now_ms)
        is_lone = True
        for place, partition, records, plain in checked:
            base_offset, next_offset = manager.queue_plain(partition, records, plain, wall_ms)
            ticket.add(place, partition, base_offset, next_offset)
            counters.bytes_in += len(records)
            counters.messages_in += next_offset - base_offset
            is_lone = is_lone and partition.is_lone
        manager.await_turn(ticket)
        return GATHERED if is_lone or self._acks != ACKS_ALL else SERVED

    def _check(
        self, frame: bytes | bytearray, position: int, end: int, wall_ms: int
    ) -> list[CheckedBatch] | None:
        """Find the batches from the first partition on and let the partitions check them; None
        leaves the request to the general path.
        """
        view = memoryview(frame)
        partitions_of = self._manager.partitions_of
        checked: list[CheckedBatch] = []
        for number, topic in enumerate(self._topics):
            read = self._entries_of(frame, position, end)
            partitions = partitions_of(topic.name)
            if read is None:
                return None
            entries, position = read
            if len(checked) + len(entries) > PIECE or not frame.startswith(topic.behind, position):
                return None
            position += len(topic.behind)
            for index, begin, stop in entries:
                partition = partitions.get(index)
                if partition is None or topic.topic_id not in (ZERO_UUID, partition.topic_id):
                    return None
                records = view[begin:stop]
                plain = partition.check_plain(records, self._acks, wall_ms)
                if plain is None:
                    return None
                checked.append(((number, index), partition, records, plain))
        if position != end or (len(checked) > 1 and _has_repeats(checked)):
            return None
        return checked


def _has_repeats(checked: Sequence[CheckedBatch]) -> bool:
    return len({place for place, *_ in checked}) < len(checked)


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedProduce | None:
    """Prepare for requests like this one, which the general path has served."""
    message: ProduceRequest = request.message
    topics = message.topic_data
    if (
        message.transactional_id is not None
        or not 0 < len(topics) <= MOST_TOPICS
        or not -1 <= message.acks <= 1
        or is_long(message)
    ):
        return None
    names = _names_of(services, request)
    layout = None if names is None else _layout_of(request, names)
    if names is None or layout is None:
        return None
    prefix, behind = layout
    remembered = [
        RememberedTopic(name, topic.topic_id, after)
        for name, topic, after in zip(names, topics, behind, strict=True)
    ]
    answered = [(topic.name, topic.topic_id) for topic in topics]
    replies = ProduceReplies(request.api, request.api_version, answered)
    terms = ProduceTerms(services, message.acks, message.timeout_ms, replies, answer)
    return PreparedProduce(services, terms, _entries_of(request), prefix, remembered)


def _names_of(services: BrokerServices, request: Request) -> list[str] | None:
    """Return the names of the topics; None if an id is unknown, or a name is internal, long or
    repeated.
    """
    by_id = request.api_version >= FIRST_BY_ID
    topic_name = services.replica_manager.topic_name
    names: list[str] = []
    for topic in request.message.topic_data:
        name: str | None = topic_name(topic.topic_id) if by_id else topic.name
        if name is None or name in INTERNAL_TOPICS or len(name) > MOST_NAME_LENGTH:
            return None
        names.append(name)
    return names if len(set(names)) == len(names) else None


def _entries_of(request: Request) -> EntriesOf:
    is_flexible = request.api_version >= request.api.flexible_from
    return flexible_entries if is_flexible else fixed_entries


def _layout_of(request: Request, names: list[str]) -> tuple[bytes, list[bytes]] | None:
    """Return what is the same in the next request: the bytes from HEAD_BYTES to the partitions of
    the first topic, and for each topic those after its partitions. None if there are tags, or what
    `entries_of` leaves to the general decoder.
    """
    by_id = request.api_version >= FIRST_BY_ID
    is_flexible = request.api_version >= request.api.flexible_from
    entries_of = _entries_of(request)
    no_tags = b"\0" if is_flexible else b""  # behind each topic, and behind all of them
    frame = bytes(request.frame)
    position = request.body_pos + (FLEXIBLE_FIELDS_BYTES if is_flexible else FIXED_FIELDS_BYTES)
    same: list[bytes] = []
    same_from = HEAD_BYTES
    for name in names:
        if by_id:
            position += ID_BYTES
        else:
            position += len(name.encode()) + (1 if is_flexible else 2)
        same.append(frame[same_from:position])
        read = entries_of(frame, position, len(frame))
        if read is None:
            return None
        _, same_from = read
        position = same_from + len(no_tags)
        if frame[same_from:position] != no_tags:
            return None
    if frame[position:] != no_tags:
        return None
    return same[0], [*same[1:], frame[same_from:]]

"""Produce, prepared: plain batches to the same topics, in a request like the last one.

    the same, first topic | its partitions | next topic | its partitions | ... | end

What is the same: client id, no transactional id, acks, time-out, the topics and their order. The
batches are checked and queued by the log as on the general path (`check_plain`, `queue_plain`). If
one of them needs more than that, nothing is queued, and the general path serves the whole request.

A request whose batches are queued is a `ProduceTicket` until the end of the round. Then it is
answered from a template, or when the replicas have it (`produce_ticket.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykbroker.broker.prepared import GATHERED, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.produce_entries import fixed_entries, flexible_entries
from pykbroker.broker.prepared.produce_ticket import Place, ProduceTicket
from pykbroker.broker.prepared.reply_template import ReplyTemplate
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.log.partition.log_appender import PlainBatch
    from pykbroker.network.request import PreparedConnection, Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest
    from pykbroker.replication.partition import Partition

FIRST_FLEXIBLE = 9
FIRST_BY_ID = 13
PREFIX_AT = 8  # behind API, version and correlation id
MOST_TOPICS = 20
MOST_NAME_LENGTH = 100
ID_BYTES = 16
FIXED_FIELDS_BYTES = 2 + 2 + 4 + 4  # transactional id, acks, time-out, number of topics
FLEXIBLE_FIELDS_BYTES = 1 + 2 + 4 + 1
NO_TAGS = b"\0\0"  # of the last topic and of the request
MOST_TEMPLATES = 64


class RememberedTopic(NamedTuple):
    """A topic of the requests: its name in the image; its name and id as in the requests; the bytes
    that follow its partitions.
    """

    name: str
    named: str
    topic_id: bytes
    behind: bytes


class PreparedProduce(PreparedRequest):
    """Serves Produce requests with plain batches to the same topics."""

    __slots__ = (
        "_api",
        "_counters",
        "_entries_of",
        "_manager",
        "_prefix",
        "_prefix_bytes",
        "_templates",
        "_topics",
        "_version",
        "_wall_ms",
        "acks",
        "answer",
        "services",
        "timeout_ms",
    )

    def __init__(
        self,
        services: BrokerServices,
        request: Request,
        answer: Answer,
        prefix: bytes,
        topics: list[RememberedTopic],
    ) -> None:
        super().__init__()
        self.services = services
        self.answer = answer
        self._api = request.api
        self._version = version = request.api_version
        self.acks: int = request.message.acks
        self.timeout_ms: int = request.message.timeout_ms
        self._counters = services.counters
        self._manager = services.replica_manager
        self._wall_ms = services.wall_ms
        self._prefix = prefix
        self._prefix_bytes = PREFIX_AT + len(prefix)
        self._topics = topics
        self._entries_of = flexible_entries if version >= FIRST_FLEXIBLE else fixed_entries
        self._templates: dict[tuple[Place, ...], ReplyTemplate] = {}

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
    ) -> int:
        if not frame.startswith(self._prefix, start + PREFIX_AT):
            return MISSED
        checked = self._check(frame, start + self._prefix_bytes, end)
        if checked is None:
            return MISSED
        manager = self._manager
        counters = self._counters
        counters.total_produce_requests += 1
        ticket = ProduceTicket(self, connection, correlation_id, (frame, start, end))
        is_lone = True
        for place, partition, records, plain in checked:
            base_offset, next_offset = manager.queue_plain(partition, records, plain)
            ticket.places.append(place)
            ticket.appended.append((partition, next_offset))
            ticket.numbers += (base_offset, partition.log.local.log_start_offset)
            counters.bytes_in += len(records)
            counters.messages_in += next_offset - base_offset
            is_lone = is_lone and partition.is_lone
        manager.await_turn(ticket)
        return GATHERED if is_lone or self.acks != ACKS_ALL else SERVED

    def _check(
        self, frame: bytes | bytearray, position: int, end: int
    ) -> list[tuple[Place, Partition, memoryview, PlainBatch]] | None:
        """Find the batches from the first partition on and let the partitions check them.

        Return (place, partition, records, result of the check) of each, or None to leave the
        request to the general path.
        """
        now_ms = self._wall_ms()
        view = memoryview(frame)
        by_name = self._manager.hosting.by_name
        checked: list[tuple[Place, Partition, memoryview, PlainBatch]] = []
        for number, topic in enumerate(self._topics):
            read = self._entries_of(frame, position, end)
            partitions = by_name.get(topic.name)
            if read is None or partitions is None or not frame.startswith(topic.behind, read[1]):
                return None
            position = read[1] + len(topic.behind)
            for index, begin, stop in read[0]:
                partition = partitions.get(index)
                if partition is None or topic.topic_id not in (ZERO_UUID, partition.topic_id):
                    return None
                records = view[begin:stop]
                plain = partition.check_plain(records, self.acks, now_ms)
                if plain is None:
                    return None
                checked.append(((number, index), partition, records, plain))
        if position != end or (len(checked) > 1 and _has_repeats(checked)):
            return None
        return checked

    def reply(self, ticket: ProduceTicket) -> bytearray:
        """Return the frame of a response without errors."""
        places = tuple(ticket.places)
        template = self._templates.get(places)
        if template is None:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            template = self._templates[places] = ReplyTemplate(
                self._api,
                self._version,
                len(ticket.numbers),
                lambda numbers: self.response(places, numbers),
            )
        return template.frame(ticket.correlation_id, ticket.numbers)

    def response(self, places: Sequence[Place], numbers: Sequence[int]) -> ProduceResponse:
        """Return the response for these places; numbers: a base offset and a log start of each."""
        topics = [
            TopicProduceResponse(name=topic.named, topic_id=topic.topic_id, partition_responses=[])
            for topic in self._topics
        ]
        answers = zip(places, numbers[::2], numbers[1::2], strict=True)
        for (number, index), base_offset, log_start_offset in answers:
            part = PartitionProduceResponse(
                index=index, base_offset=base_offset, log_start_offset=log_start_offset
            )
            topics[number].partition_responses.append(part)
        return ProduceResponse(responses=topics)


def _has_repeats(checked: Sequence[tuple[Place, Partition, memoryview, PlainBatch]]) -> bool:
    return len({place for place, *_ in checked}) < len(checked)


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedProduce | None:
    """Prepare for requests like this one, which the general path has served."""
    message: ProduceRequest = request.message
    topics = message.topic_data
    if (
        message.transactional_id is not None
        or not 0 < len(topics) <= MOST_TOPICS
        or not -1 <= message.acks <= 1
    ):
        return None
    version = request.api_version
    is_flexible = version >= FIRST_FLEXIBLE
    entries_of = flexible_entries if is_flexible else fixed_entries
    frame = bytes(request.frame)
    position = request.body_pos + (FLEXIBLE_FIELDS_BYTES if is_flexible else FIXED_FIELDS_BYTES)
    heads: list[bytes] = []  # what is before the partitions of each topic
    names: list[str] = []
    begin = PREFIX_AT
    for topic in topics:
        name: str | None = topic.name
        if version >= FIRST_BY_ID:
            name = services.replica_manager.topic_name(topic.topic_id)
        if name is None or name in INTERNAL_TOPICS or len(name) > MOST_NAME_LENGTH:
            return None
        names.append(name)
        if version >= FIRST_BY_ID:
            position += ID_BYTES
        else:
            position += len(name.encode()) + (1 if is_flexible else 2)
        heads.append(frame[begin:position])
        read = entries_of(frame, position, len(frame))
        if read is None:
            return None
        begin = position = read[1]
        position += is_flexible  # the topic's tags
    end = frame[begin:]
    if end != (NO_TAGS if is_flexible else b"") or len(set(names)) < len(names):
        return None
    remembered = [
        RememberedTopic(name, topic.name, topic.topic_id, behind)
        for name, topic, behind in zip(names, topics, [*heads[1:], end], strict=True)
    ]
    return PreparedProduce(services, request, answer, heads[0], remembered)

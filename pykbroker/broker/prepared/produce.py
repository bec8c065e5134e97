"""Produce, prepared: plain batches to partitions of one topic, in a request like the last one.

    v3-8    the same | count | index size records | index size records ...
    v9-13   the same | count | index size records tags | ... | tags tags      (lengths are varints)

What is the same: client id, no transactional id, acks, time-out, the topic. The batches are checked
and queued by the log as on the general path (`check_plain`, `queue_plain`); if one of them wants
more than that, nothing is queued, and the whole request is the general path's.

A request that is queued is a `ProduceTicket` until the end of the round: then it is answered from a
template. If it still has to wait then (for replicas), or its write failed, it goes on as the
`PendingProduce` that the general path would have made.
"""

from __future__ import annotations

from collections.abc import Container
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.broker.prepared import GATHERED, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.reply_template import ReplyTemplate
from pykbroker.broker.requests.pending_produce import PendingProduce
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.protocol.messages.produce_request import ProduceRequest
from pykbroker.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import ACKS_ALL

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.log.partition.log_appender import PlainBatch
    from pykbroker.network.request import PreparedConnection, Request
    from pykbroker.replication.delayed_produce import DelayedProduce
    from pykbroker.replication.partition import Partition

FIRST_FLEXIBLE = 9
FIRST_BY_ID = 13
PREFIX_AT = 8  # behind API, version and correlation id
MOST_PARTITIONS = 100
MOST_TEMPLATES = 64

_unpack_i32 = Struct(">i").unpack_from
_unpack_entry = Struct(">ii").unpack_from
_unpack_lone = Struct(">iii").unpack_from

Entry: TypeAlias = tuple[int, int, int]
"""Of one partition: its index, where its records begin and end in the frame."""


class PreparedProduce(PreparedRequest):
    """See the module."""

    __slots__ = (
        "_api",
        "_counters",
        "_entries_of",
        "_manager",
        "_named",
        "_prefix",
        "_prefix_bytes",
        "_templates",
        "_topic",
        "_topic_id",
        "_version",
        "_wall_ms",
        "acks",
        "answer",
        "services",
    )

    def __init__(
        self, services: BrokerServices, request: Request, answer: Answer, prefix: bytes, topic: str
    ) -> None:
        super().__init__()
        self.services = services
        self.answer = answer
        self._api = request.api
        self._version = version = request.api_version
        self.acks = request.message.acks
        self._counters = services.counters
        self._manager = services.replica_manager
        self._wall_ms = services.wall_ms
        self._prefix = prefix
        self._prefix_bytes = PREFIX_AT + len(prefix)
        self._topic = topic
        self._named: str = request.message.topic_data[0].name  # none where the id names it
        self._topic_id: bytes = request.message.topic_data[0].topic_id
        self._entries_of = flexible_entries if version >= FIRST_FLEXIBLE else fixed_entries
        self._templates: dict[tuple[int, ...], ReplyTemplate] = {}

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
        entries = self._entries_of(frame, start + self._prefix_bytes, end)
        partitions = self._manager.hosting.by_name.get(self._topic)
        if not entries or partitions is None:
            return MISSED
        now_ms = self._wall_ms()
        view = memoryview(frame)
        checked: list[tuple[Partition, memoryview, PlainBatch]] = []
        is_lone = True
        for index, begin, stop in entries:
            partition = partitions.get(index)
            if (
                partition is None
                or not partition.may_append(self.acks)
                or (self._topic_id != ZERO_UUID and partition.topic_id != self._topic_id)
            ):
                return MISSED
            records = view[begin:stop]
            plain = partition.log.appender.check_plain(records, partition.leader_epoch, now_ms)
            if plain is None:
                return MISSED
            checked.append((partition, records, plain))
            is_lone = is_lone and partition.is_lone
        if len(checked) > 1 and len({index for index, _, _ in entries}) < len(checked):
            return MISSED
        manager = self._manager
        counters = self._counters
        counters.total_produce_requests += 1
        appended: list[tuple[Partition, int]] = []
        numbers: list[int] = []
        for partition, records, plain in checked:
            base_offset = manager.queue_plain(partition, records, plain)
            count = plain[0] + 1
            appended.append((partition, base_offset + count))
            numbers += (base_offset, partition.log.local.log_start_offset)
            counters.bytes_in += len(records)
            counters.messages_in += count
        request = (frame, start, end)
        manager.await_turn(
            ProduceTicket(self, connection, correlation_id, request, appended, numbers)
        )
        return GATHERED if is_lone or self.acks != ACKS_ALL else SERVED

    def reply(self, ticket: ProduceTicket) -> bytearray:
        """The frame that says that all went well."""
        indexes = tuple([partition.index for partition, _ in ticket.appended])
        template = self._templates.get(indexes)
        if template is None:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            template = self._templates[indexes] = ReplyTemplate(
                self._api,
                self._version,
                2 * len(indexes),
                lambda numbers: self.response(indexes, numbers),
            )
        return template.frame(ticket.correlation_id, ticket.numbers)

    def response(self, indexes: tuple[int, ...], numbers: object) -> ProduceResponse:
        """The response of these partitions; numbers: a base offset and a log start of each."""
        offsets: list[int] = list(numbers)  # type: ignore[call-overload]
        parts = [
            PartitionProduceResponse(
                index=index, base_offset=offsets[2 * at], log_start_offset=offsets[2 * at + 1]
            )
            for at, index in enumerate(indexes)
        ]
        return ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=self._named, topic_id=self._topic_id, partition_responses=parts
                )
            ]
        )


class ProduceTicket:
    """A prepared Produce whose batches are queued, until the end of the round."""

    __slots__ = ("_connection", "_prepared", "_request", "appended", "correlation_id", "numbers")

    def __init__(
        self,
        prepared: PreparedProduce,
        connection: PreparedConnection,
        correlation_id: int,
        request: tuple[bytes | bytearray, int, int],
        appended: list[tuple[Partition, int]],
        numbers: list[int],
    ) -> None:
        """request: the frame, and from where to where in it; appended: partitions, and where what
        was appended to each ends; numbers: base offset and log start offset of each."""
        self._prepared = prepared
        self._connection = connection
        self._request = request
        self.correlation_id = correlation_id
        self.appended = appended
        self.numbers = numbers

    def on_turn_written(self, failed: Container[Partition]) -> DelayedProduce | None:
        """The writes of the turn are done: answer, or go on as what has to wait longer."""
        prepared = self._prepared
        acks = prepared.acks
        for partition, end_offset in self.appended:
            if partition in failed or (
                acks == ACKS_ALL and partition.acknowledged(end_offset) != 0
            ):
                return self._as_pending().on_turn_written(failed)
        if acks:
            self._connection.reply(prepared.reply(self))
        else:
            self._connection.no_reply()
        return None

    def _as_pending(self) -> PendingProduce:
        prepared = self._prepared
        services = prepared.services
        request = self._connection.request_of(*self._request)
        assert request is not None, "its header is that of the request that was prepared for"
        request.received_ms = services.now_ms()
        message = ProduceRequest.decode(request.frame, request.body_pos, request.api_version)[0]
        request.message = message
        deadline_ms = request.received_ms + message.timeout_ms
        pending = PendingProduce(services, request, message.acks, deadline_ms, None)
        indexes = tuple(partition.index for partition, _ in self.appended)
        pending.reply = prepared.response(indexes, self.numbers)
        parts = pending.reply.responses[0].partition_responses
        for (partition, end_offset), part in zip(self.appended, parts, strict=True):
            pending.add(partition, end_offset, part)
        answer = prepared.answer
        pending.deferred.on_resolved(lambda outcome: answer(request, outcome))
        return pending


def fixed_entries(frame: bytes | bytearray, position: int, end: int) -> list[Entry] | None:
    """What is behind the topic up to version 8; None when it is not just that."""
    if end - position < 12:
        return None
    count, index, size = _unpack_lone(frame, position)
    if count == 1:
        position += 12
        return [(index, position, end)] if size == end - position else None
    if not 0 < count <= MOST_PARTITIONS:
        return None
    position += 4
    entries: list[Entry] = []
    for _ in range(count):
        if end - position < 8:
            return None
        index, size = _unpack_entry(frame, position)
        position += 8 + size
        if size < 0 or position > end:
            return None
        entries.append((index, position - size, position))
    return entries if position == end else None


def flexible_entries(frame: bytes | bytearray, position: int, end: int) -> list[Entry] | None:
    """What is behind the topic from version 9 on; None when it is not just that."""
    count = frame[position] - 1 if position < end else 0
    if not 0 < count <= MOST_PARTITIONS:
        return None
    position += 1
    entries: list[Entry] = []
    for _ in range(count):
        if end - position < 9:
            return None
        (index,) = _unpack_i32(frame, position)
        position += 4
        size = shift = 0
        while position < end:
            byte = frame[position]
            position += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 28:
                return None
        begin, position = position, position + size - 1
        if size < 1 or position >= end or frame[position]:
            return None
        entries.append((index, begin, position))
        position += 1
    if end - position != 2 or frame[position] or frame[position + 1]:
        return None
    return entries


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedProduce | None:
    """For requests like this one, which the general path has served."""
    message: ProduceRequest = request.message
    version = request.api_version
    if (
        message.transactional_id is not None
        or len(message.topic_data) != 1
        or not -1 <= message.acks <= 1
        or not 0 < len(message.topic_data[0].partition_data) <= MOST_PARTITIONS
    ):
        return None
    topic = message.topic_data[0]
    name = topic.name
    if version >= FIRST_BY_ID:
        found = services.replica_manager.topic_name(topic.topic_id)
        if found is None:
            return None
        name = found
        topic_bytes = 16
    else:
        topic_bytes = len(name.encode()) + (1 if version >= FIRST_FLEXIBLE else 2)
    if name in INTERNAL_TOPICS or len(name) > 100:
        return None
    before_topic = 1 + 2 + 4 + 1 if version >= FIRST_FLEXIBLE else 2 + 2 + 4 + 4
    size = request.body_pos + before_topic + topic_bytes
    prefix = bytes(request.frame[PREFIX_AT:size])
    entries_of = flexible_entries if version >= FIRST_FLEXIBLE else fixed_entries
    if not entries_of(bytes(request.frame), size, len(request.frame)):
        return None
    return PreparedProduce(services, request, answer, prefix, name)

"""Fetch, prepared: a few small batches of one topic, for a consumer without a session.

    the same | partition count | partition, epoch, offset, limits ... | the same

What is the same: what stands before the partitions, such as client id, isolation and the limits of
the whole request; and behind them: nothing forgotten, no rack. What is read is little and in the
page cache (`PartitionLog.read_small`). The general path serves the other requests, such as those
that have to wait, that have an error, or that read larger or colder data.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING

from pykbroker.broker.prepared import HEAD_BYTES, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.fetch_entries import (
    FIRST_BY_ID,
    FIRST_FLEXIBLE,
    EntryLayout,
)
from pykbroker.broker.prepared.records_template import RecordsTemplate
from pykbroker.broker.requests.session_shard import FINAL_EPOCH, Entry
from pykbroker.environment.files import Buffer
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import READ_COMMITTED, READ_UNCOMMITTED

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import PreparedConnection, Request
    from pykbroker.protocol.messages.fetch_request import FetchRequest

FIRST_WITH_SESSIONS = 7
FIRST_WITH_RACK = 11
FIRST_WITHOUT_REPLICA_ID = 15
LAST_EPOCH = 3  # in an Entry
MOST_PARTITIONS = 32
MOST_TEMPLATES = 16
MOST_TOPIC_BYTES = 100
MOST_REPLY_BYTES = 64 * 1024

_unpack_i32 = Struct(">i").unpack_from


class PreparedFetch(PreparedRequest):
    """Serves Fetch requests for a few small batches of one topic."""

    __slots__ = (
        "_api",
        "_counters",
        "_entries_at",
        "_isolation",
        "_layout",
        "_leader_only",
        "_manager",
        "_max_bytes",
        "_may_be_empty",
        "_min_bytes",
        "_named",
        "_prefix",
        "_services",
        "_suffix",
        "_templates",
        "_topic",
        "_topic_id",
        "_version",
    )

    def __init__(
        self, services: BrokerServices, request: Request, prefix: bytes, suffix: bytes, topic: str
    ) -> None:
        super().__init__()
        message: FetchRequest = request.message
        self._services = services
        self._manager = services.replica_manager
        self._counters = services.counters
        self._api = request.api
        self._version = version = request.api_version
        self._layout = EntryLayout(version)
        self._prefix = prefix
        self._entries_at = HEAD_BYTES + len(prefix)
        self._suffix = suffix
        self._topic = topic
        self._named: str = message.topics[0].topic
        self._topic_id: bytes = message.topics[0].topic_id
        self._isolation = message.isolation_level
        self._leader_only = version < FIRST_WITH_RACK
        self._max_bytes = message.max_bytes
        self._min_bytes = message.min_bytes
        self._may_be_empty = message.max_wait_ms <= 0
        self._templates: dict[tuple[int, ...], RecordsTemplate] = {}

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        position = start + self._entries_at
        if not frame.startswith(self._prefix, start + HEAD_BYTES):
            return MISSED
        layout = self._layout
        if layout.has_tags:
            count = frame[position] - 1 if position < end else 0
            position += 1
        else:
            count = _unpack_i32(frame, position)[0] if position + 4 <= end else 0
            position += 4
        behind = position + count * layout.size
        if (
            not 0 < count <= MOST_PARTITIONS
            or behind + len(self._suffix) != end
            or not frame.startswith(self._suffix, behind)
        ):
            return MISSED
        max_bytes = min(self._max_bytes, self._services.config.fetch_max_bytes)
        indexes: list[int] = []
        numbers: list[int] = []
        found: list[Buffer] = []
        total = 0
        for at in range(position, behind, layout.size):
            entry = layout.read(frame, at)
            if entry is None or entry[LAST_EPOCH] >= 0:
                return MISSED
            index = entry[0]
            records = self._read(entry, max(max_bytes - total, 0), not total, numbers)
            if records is None:
                return MISSED
            indexes.append(index)
            found.append(records)
            total += len(records)
        if total > MOST_REPLY_BYTES or len(set(indexes)) < count:
            return MISSED
        if total < min(self._min_bytes, max_bytes) and not self._may_be_empty:
            return MISSED
        counters = self._counters
        counters.total_fetch_requests += 1
        counters.bytes_out += total
        connection.reply(self._template(tuple(indexes)).frame(correlation_id, numbers, found))
        return SERVED

    def _read(
        self,
        entry: Entry,
        left_bytes: int,
        min_one_batch: bool,
        numbers: list[int],
    ) -> Buffer | None:
        """Return the records of one partition and append its offsets to `numbers`; None: use the
        general path.
        """
        index, leader_epoch, offset, _, _, limit = entry
        partition = self._manager.find(self._topic, index)
        if (
            partition is None
            or not partition.hosted
            or partition.check_epoch(leader_epoch, self._leader_only)
            or (self._topic_id != ZERO_UUID and partition.topic_id != self._topic_id)
        ):
            return None
        log = partition.log
        high_watermark = partition.high_watermark
        last_stable_offset = log.last_stable_offset(high_watermark)
        numbers += (high_watermark, last_stable_offset, log.local.log_start_offset)
        committed_only = self._isolation == READ_COMMITTED
        bound = last_stable_offset if committed_only else high_watermark
        max_bytes = limit if limit < left_bytes else left_bytes
        return log.read_small(offset, max_bytes, bound, min_one_batch, committed_only)

    def _template(self, indexes: tuple[int, ...]) -> RecordsTemplate:
        template = self._templates.get(indexes)
        if template is None:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            template = self._templates[indexes] = RecordsTemplate(
                self._api,
                self._version,
                3,
                len(indexes),
                lambda numbers, records: self._response(indexes, numbers, records),
            )
        return template

    def _response(
        self, indexes: tuple[int, ...], numbers: Sequence[int], records: Sequence[bytes]
    ) -> FetchResponse:
        parts = [
            PartitionData(
                partition_index=index,
                high_watermark=numbers[3 * at],
                last_stable_offset=numbers[3 * at + 1],
                log_start_offset=numbers[3 * at + 2],
                aborted_transactions=[] if self._isolation == READ_COMMITTED else None,
                records=records[at],
            )
            for at, index in enumerate(indexes)
        ]
        return FetchResponse(
            responses=[
                FetchableTopicResponse(topic=self._named, topic_id=self._topic_id, partitions=parts)
            ]
        )


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedRequest | None:
    """Prepare for requests like this one, which the general path has served."""
    message: FetchRequest = request.message
    version = request.api_version
    if message.session_epoch != FINAL_EPOCH:  # librdkafka's clients have no sessions
        from pykbroker.broker.prepared.session_fetch import prepare_session

        return prepare_session(services, request, answer)
    if (
        len(message.topics) != 1
        or not 0 < len(message.topics[0].partitions) <= MOST_PARTITIONS
        or message.session_id
        or message.forgotten_topics_data
        or message.rack_id
        or message.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED)
        or (version < FIRST_WITHOUT_REPLICA_ID and message.replica_id != -1)
        or (version >= FIRST_WITHOUT_REPLICA_ID and message.replica_state is not None)
    ):
        return None
    topic = message.topics[0]
    name: str | None = topic.topic
    topic_bytes = len(topic.topic.encode())
    if version >= FIRST_BY_ID:
        name = services.replica_manager.topic_name(topic.topic_id)
        topic_bytes = 16
    elif version >= FIRST_FLEXIBLE:
        topic_bytes += 1
    else:
        topic_bytes += 2
    if name is None or topic_bytes > MOST_TOPIC_BYTES:
        return None
    limits = 4 + 4 + 4 + 1 + (4 if version < FIRST_WITHOUT_REPLICA_ID else 0)
    limits += 8 if version >= FIRST_WITH_SESSIONS else 0
    is_flexible = version >= FIRST_FLEXIBLE
    size = request.body_pos + limits + (1 if is_flexible else 4) + topic_bytes
    behind = size + (1 if is_flexible else 4)
    behind += EntryLayout(version).size * len(topic.partitions)
    frame = request.frame
    suffix = bytes(frame[behind:])
    if suffix != _suffix(version):
        return None  # tags, say
    return PreparedFetch(services, request, bytes(frame[HEAD_BYTES:size]), suffix, name)


def _suffix(version: int) -> bytes:
    """Return what follows the partitions of the only topic: none forgotten, no rack, no tags."""
    if version >= FIRST_FLEXIBLE:
        return b"\0\1\1\0"
    forgotten = bytes(4) if version >= FIRST_WITH_SESSIONS else b""
    return forgotten + (bytes(2) if version >= FIRST_WITH_RACK else b"")

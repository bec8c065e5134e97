"""The checks of a Produce request and its batches, most of them before any batch is appended.

A kilobyte of zstd may be a gigabyte. A compressed batch that is small on the wire is therefore
checked on the event loop up to a decompressed size, at which decompression stops; a larger batch is
checked in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from pykbroker.environment.slices import Breathe, paced_if
from pykbroker.errors import ErrorCode
from pykbroker.log.validation.validation_rules import HEAVY_RECOMPRESSED_BYTES
from pykbroker.protocol.compression import ZSTD
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    LOG_OVERHEAD,
    MAGIC_AT,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    CorruptBatch,
)

if TYPE_CHECKING:
    from pykbroker.broker.requests.validation_pool import Check
    from pykbroker.broker.services import BrokerServices
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest, TopicProduceData

FIRST_WITH_ZSTD = 7
FIRST_BY_ID = 13
MIN_BATCH_LENGTH = 14  # of magic 0

#: This many light batches of one request are checked on the event loop; a thread checks the others.
MOST_LIGHT_BATCHES = 32

batch_head = Struct(">8xi4xb4xh").unpack_from  # length, magic, attributes


def merge_repeats(message: ProduceRequest, *, by_id: bool, breathe: Breathe | None = None) -> None:
    """Keep the last data of each partition, in one entry for its topic.

    `breathe` is called between the parts of a long request (`environment/slices.py`).
    """
    topics: dict[str | bytes, TopicProduceData] = {}
    repeated = False
    for topic in paced_if(message.topic_data, breathe):
        key = topic.topic_id if by_id else topic.name
        first = topics.setdefault(key, topic)
        if first is not topic:
            repeated = True
            first.partition_data.extend(topic.partition_data)
    for topic in paced_if(topics.values(), breathe):
        partitions = topic.partition_data
        last = {each.index: each for each in paced_if(partitions, breathe)}
        if len(last) != len(topic.partition_data):
            topic.partition_data = list(last.values())
    if repeated:
        message.topic_data = list(topics.values())


def needs_check(request: Request, breathe: Breathe | None = None) -> bool:
    """Return whether `check_ahead` is needed: if the request is large or a batch is compressed."""
    is_large = len(request.frame) >= HEAVY_RECOMPRESSED_BYTES
    return is_large or _has_compressed_batch(request.message, breathe)


def _has_compressed_batch(message: ProduceRequest, breathe: Breathe | None) -> bool:
    """Return whether a batch is compressed: even a small request may then hold a gigabyte."""
    for topic in message.topic_data:
        for asked in paced_if(topic.partition_data, breathe):
            records: memoryview | None = asked.records  # type: ignore[assignment]
            if (
                records is not None
                and len(records) >= RECORD_BATCH_OVERHEAD
                and records[ATTRIBUTES_AT + 1] & CODEC_MASK
            ):
                return True
    return False


def check_ahead(
    services: BrokerServices,
    message: ProduceRequest,
    *,
    by_id: bool,
    breathe: Breathe | None = None,
) -> tuple[dict[int, ValidationOutcome], dict[int, Check]]:
    """Return the outcomes of light compressed batches, of which at most MOST_LIGHT_BATCHES are
    checked here, and jobs that check the other compressed batches, and the large ones that have to
    be compressed; both by the id of the entry. Nothing once the pool is stopped.

    `breathe` is called between the partitions of a long request (`environment/slices.py`).
    """
    checked: dict[int, ValidationOutcome] = {}
    heavy: dict[int, Check] = {}
    if services.validation.is_stopped:
        return checked, heavy
    manager = services.replica_manager
    for topic in message.topic_data:
        name = manager.topic_name(topic.topic_id) if by_id else topic.name
        for asked in paced_if(topic.partition_data, breathe):
            records: memoryview | None = asked.records  # type: ignore[assignment]
            if name is None or records is None or len(records) < RECORD_BATCH_OVERHEAD:
                continue
            partition = manager.lookup(name, asked.index)
            if isinstance(partition, int):
                continue
            _, magic, attributes = batch_head(records)
            if magic != 2:
                continue
            appender, wall_ms = partition.log.appender, services.wall_ms()
            outcome = None
            if not appender.is_heavy(attributes, len(records)):
                if not attributes & CODEC_MASK:
                    continue
                if len(checked) < MOST_LIGHT_BATCHES:
                    outcome = appender.validate_light(records, attributes, wall_ms)
            if outcome is None:
                heavy[id(asked)] = partial(appender.validate, records, wall_ms)
            else:
                checked[id(asked)] = outcome
    return checked, heavy


def is_transactional(records: memoryview) -> bool:
    """Return whether the first batch in these bytes, one of `batch_sizes`, is transactional. It
    may be shorter than a header.
    """
    return records[MAGIC_AT] == 2 and bool(records[ATTRIBUTES_AT + 1] & TRANSACTIONAL_BIT)


def batch_sizes(records: memoryview) -> Iterator[int]:
    """Return the size of each complete batch; an incomplete one at the end is ignored.

    Raises CorruptBatch where Kafka's ByteBufferLogInputStream does.
    """
    position = 0
    left = len(records)
    while left >= LOG_OVERHEAD:
        length = int.from_bytes(records[position + 8 : position + 12], "big", signed=True)
        if length < MIN_BATCH_LENGTH:
            raise CorruptBatch(
                f"Record size {length} is less than the minimum record overhead "
                f"({MIN_BATCH_LENGTH})"
            )
        if left <= MAGIC_AT:
            return
        magic = int.from_bytes(
            records[position + MAGIC_AT : position + MAGIC_AT + 1], "big", signed=True
        )
        if not 0 <= magic <= 2:
            raise CorruptBatch(f"Invalid magic found in record: {magic}")
        size = length + LOG_OVERHEAD
        if left < size:
            return
        yield size
        position += size
        left -= size


def code_of_records(records: memoryview | None, version: int) -> int:
    """Return 0 for exactly one complete batch of magic 2 (before version 7 without zstd), else an
    error code (Kafka's validateRecords).
    """
    if records is None:
        return int(ErrorCode.INVALID_RECORD)
    sizes = batch_sizes(records)
    try:
        size = next(sizes, 0)
        if not size or records[MAGIC_AT] != 2:
            return int(ErrorCode.INVALID_RECORD)
        if size < RECORD_BATCH_OVERHEAD:
            return int(ErrorCode.CORRUPT_MESSAGE)
        if version < FIRST_WITH_ZSTD and records[ATTRIBUTES_AT + 1] & CODEC_MASK == ZSTD:
            return int(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        return int(ErrorCode.INVALID_RECORD) if next(sizes, 0) else 0
    except CorruptBatch:
        return int(ErrorCode.CORRUPT_MESSAGE)

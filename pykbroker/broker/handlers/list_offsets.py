"""ListOffsets (2): offsets of partitions by time, and special offsets.

Behaviour: per partition, the offset, the timestamp and (v4) the leader epoch for the requested
timestamp:

    timestamp    answer                                                          from version
    >= 0         the first record with that timestamp or later, as              1
                 `log/partition/lookup.py` finds it; -1, -1 if it finds none
                 below the bound
    -1 latest    the bound of the isolation level                                1
    -2 earliest  the log start                                                   1
    -3           the record with the largest timestamp; -1, -1 if it is not      7
                 below the bound
    -4           the local log start, which is the log start                     8
    -5           latest tiered: -1 with epoch -1, nothing is tiered              9
    -6           earliest pending upload: the same                               11

The bound is the high watermark, with READ_COMMITTED the last stable offset; for whoever has another
replica id than -1, as followers do, the log end. A special timestamp unknown to the version is
UNSUPPORTED_VERSION, a partition requested twice INVALID_REQUEST. A leader whose high watermark has
not reached its own epoch yet answers a client that asks for the latest offset, or for a record by
time and none is found below the bound, with OFFSET_NOT_AVAILABLE (before version 5
LEADER_NOT_AVAILABLE), so that offsets do not go back. An invalid isolation level is
UNKNOWN_SERVER_ERROR.
Versions: 1-11.
Not done: tiered storage; authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykbroker.replication.partition import LOG_END, READ_COMMITTED, READ_UNCOMMITTED

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.list_offsets_request import (
        ListOffsetsPartition,
        ListOffsetsRequest,
    )
    from pykbroker.replication.partition import Partition

API_KEY = 2
CONSUMER_ID = -1
DEBUGGING_CONSUMER_ID = -2

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
FIRST_VERSION_OF = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}

FIRST_WITH_LEADER_EPOCH = 4
FIRST_WITH_NOT_AVAILABLE = 5

NO_OFFSET = (-1, -1, -1)


def handle(services: BrokerServices, request: Request) -> ListOffsetsResponse | Deferred:
    """Look up every partition, without waiting for a disk."""
    message: ListOffsetsRequest = request.message
    if message.topics and message.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    outcome: ListOffsetsResponse | Deferred = services.cold_reads.serve(
        request,
        partial(look_up, services, request),
        lambda topics: ListOffsetsResponse(topics=topics),
    )
    return outcome


def look_up(services: BrokerServices, request: Request) -> list[ListOffsetsTopicResponse]:
    """Return the answers for all partitions, or raise ColdRead."""
    message: ListOffsetsRequest = request.message
    repeated = _repeated(services, message)
    refused: set[tuple[str, int]] = set()
    topics = []
    for topic in message.topics:
        if not topic.partitions:  # there may be very many of these, too
            services.cold_reads.breathe(services.breathe)
        answers = []
        for asked in topic.partitions:
            key = (topic.name, asked.partition_index)
            if key in refused:
                services.cold_reads.breathe(services.breathe)
                continue
            if key in repeated:
                refused.add(key)  # report duplicates once
                answers.append(_refused(asked, int(ErrorCode.INVALID_REQUEST)))
            else:
                answers.append(_answer(services, request, topic.name, asked))
        if answers:
            topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
    return topics


def _repeated(services: BrokerServices, message: ListOffsetsRequest) -> set[tuple[str, int]]:
    breathe = partial(services.cold_reads.breathe, services.breathe)
    seen: set[tuple[str, int]] = set()
    repeated: set[tuple[str, int]] = set()
    for topic in paced(message.topics, breathe):
        for asked in paced(topic.partitions, breathe):
            key = (topic.name, asked.partition_index)
            (repeated if key in seen else seen).add(key)
    return repeated


def _answer(
    services: BrokerServices, request: Request, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    services.cold_reads.breathe(services.breathe)
    version = request.api_version
    if asked.timestamp < 0 and version < FIRST_VERSION_OF.get(asked.timestamp, 0x7FFF):
        return _refused(asked, int(ErrorCode.UNSUPPORTED_VERSION))
    message: ListOffsetsRequest = request.message
    found = services.replica_manager.lookup(topic, asked.partition_index)
    if isinstance(found, int):
        return _refused(asked, found)
    try:
        timestamp, offset, leader_epoch = find_offset(
            found,
            asked.timestamp,
            message.replica_id,
            message.isolation_level,
            asked.current_leader_epoch,
        )
    except KafkaError as error:
        code = error.code
        if code == ErrorCode.OFFSET_NOT_AVAILABLE and version < FIRST_WITH_NOT_AVAILABLE:
            code = int(ErrorCode.LEADER_NOT_AVAILABLE)
        return _refused(asked, code)
    except LogDirFailure as failure:
        services.replica_manager.on_directory_failure(failure)
        return _refused(asked, int(ErrorCode.KAFKA_STORAGE_ERROR))
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=leader_epoch if version >= FIRST_WITH_LEADER_EPOCH else -1,
    )


def find_offset(
    partition: Partition,
    timestamp: int,
    replica_id: int,
    isolation_level: int,
    current_leader_epoch: int,
) -> tuple[int, int, int]:
    """Return (timestamp, offset, leader epoch) for one `timestamp` of the table above. Raises
    KafkaError, ColdRead or LogDirFailure.
    """
    code = partition.check_exact_epoch(
        current_leader_epoch, leader_only=replica_id != DEBUGGING_CONSUMER_ID
    )
    if code:
        raise KafkaError(code)
    is_client = replica_id == CONSUMER_ID
    log = partition.log
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        earliest = log.leader_epochs.earliest
        epoch = -1
        if earliest is not None and earliest[1] <= log.log_start_offset:
            epoch = earliest[0]
        return -1, log.log_start_offset, epoch
    if not is_client:
        isolation = LOG_END
    else:
        isolation = isolation_level
    bound = partition.bound(isolation)
    lagging = is_client and partition.leader_epoch_start_offset > partition.high_watermark
    if timestamp == LATEST:
        if lagging:
            raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return -1, bound, partition.leader_epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NO_OFFSET
    if timestamp == MAX_TIMESTAMP:
        record = log.offset_of_max_timestamp()
    else:
        record = log.offset_for_timestamp(timestamp)
    if record is None or record.offset >= bound:
        if lagging:
            raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return NO_OFFSET
    return record.timestamp, record.offset, record.leader_epoch


def _refused(asked: ListOffsetsPartition, code: int) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)


def error_reply(request: Request, code: int, message: str | None = None) -> ListOffsetsResponse:
    """Return `code` for every partition of the request."""
    asked: ListOffsetsRequest = request.message
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name, partitions=[_refused(p, code) for p in topic.partitions]
            )
            for topic in asked.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=11, error_reply=error_reply
)

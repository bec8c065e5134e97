"""DeleteRecords (21): move the log start of partitions forward.

Behaviour: every record before the offset (-1: before the high watermark) immediately becomes
unreadable on the leader; whole segments before it are deleted by the next retention check. The
reply contains the low watermark, which is the lowest log start of the replicas on live brokers; it
waits until that has reached the offset, or is REQUEST_TIMED_OUT after `timeout_ms`. Per partition:

    internal topic                              INVALID_TOPIC_EXCEPTION
    cleanup.policy is compact only              POLICY_VIOLATION
    offset negative or above the high watermark OFFSET_OUT_OF_RANGE
    not the leader / not there                  NOT_LEADER_OR_FOLLOWER / UNKNOWN_TOPIC_OR_PARTITION
    its directory is offline                    KAFKA_STORAGE_ERROR

Versions: 0-2.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.deferred import Deferred
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.protocol.messages.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from pykbroker.purgatory import DelayedOperation
from pykbroker.replication.record_deletion import delete_records

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.delete_records_request import DeleteRecordsRequest
    from pykbroker.replication.partition import Partition

API_KEY = 21
NO_WATERMARK = -1
FEW = 50  # partitions that are deleted from without a pause


class WaitingDelete(DelayedOperation):
    """A DeleteRecords that waits for followers to move their log start."""

    __slots__ = ("_pending", "deferred", "response")

    KIND = "DeleteRecords"

    def __init__(self) -> None:
        super().__init__()
        self.deferred = Deferred()
        self.response: DeleteRecordsResponse | None = None
        self._pending: list[tuple[Partition, int, DeleteRecordsPartitionResult]] = []

    @property
    def partitions(self) -> list[Partition]:
        """The partitions that it waits for."""
        return [partition for partition, _, _ in self._pending]

    def add(self, partition: Partition, offset: int, answer: DeleteRecordsPartitionResult) -> None:
        """Wait until the low watermark of `partition` has reached `offset`."""
        self._pending.append((partition, offset, answer))

    def try_complete(self) -> bool:
        still = []
        for partition, offset, answer in self._pending:
            if not partition.is_leader:
                answer.error_code = partition.offline_code or int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
                answer.low_watermark = NO_WATERMARK
                continue
            answer.low_watermark = partition.low_watermark
            if answer.low_watermark < offset:
                still.append((partition, offset, answer))
        self._pending = still
        if still:
            return False
        self.deferred.resolve(self.response)
        return True

    def expire(self) -> None:
        for _, _, answer in self._pending:
            answer.error_code = int(ErrorCode.REQUEST_TIMED_OUT)
        self.deferred.resolve(self.response)


def handle(services: BrokerServices, request: Request) -> InSlices | Deferred:
    """Move the log starts of this leader, then wait for its followers."""
    message: DeleteRecordsRequest = request.message
    topics = message.topics
    if len(topics) > FEW or sum(len(topic.partitions) for topic in topics) > FEW:
        return InSlices(partial(delete_all, services, request))
    return delete_all(services, request)


def delete_all(services: BrokerServices, request: Request) -> Deferred:
    """Return a Deferred of the answer: it comes once the followers have also moved their log
    starts, or the time of the request is over.
    """
    message: DeleteRecordsRequest = request.message
    waiting = WaitingDelete()
    topics = []
    for topic in paced(message.topics, services.breathe):
        answers = [
            _delete(services, topic.name, asked.partition_index, asked.offset, waiting)
            for asked in topic.partitions
        ]
        topics.append(DeleteRecordsTopicResult(name=topic.name, partitions=answers))
    waiting.response = DeleteRecordsResponse(topics=topics)
    if not waiting.try_complete():
        keys = [partition.produce_key for partition in waiting.partitions]
        services.purgatory.watch(waiting, keys, request.received_ms + message.timeout_ms)
    return waiting.deferred


def _delete(
    services: BrokerServices, topic: str, index: int, offset: int, waiting: WaitingDelete
) -> DeleteRecordsPartitionResult:
    services.breathe()
    found = services.replica_manager.lookup(topic, index)
    code = 0
    if topic in INTERNAL_TOPICS and found != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        code = int(ErrorCode.INVALID_TOPIC_EXCEPTION)  # from every broker
    elif isinstance(found, int):
        code = found
    else:
        try:
            wanted = delete_records(found, offset)
        except KafkaError as error:
            code = error.code
        except LogDirFailure as failure:
            services.replica_manager.on_directory_failure(failure)
            code = int(ErrorCode.KAFKA_STORAGE_ERROR)
        else:
            answer = DeleteRecordsPartitionResult(
                partition_index=index, low_watermark=found.low_watermark
            )
            waiting.add(found, wanted, answer)
            return answer
    return _refused(index, code)


def _refused(index: int, code: int) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=NO_WATERMARK, error_code=code
    )


def error_reply(request: Request, code: int, message: str | None = None) -> DeleteRecordsResponse:
    """Return `code` for every partition of the request."""
    asked: DeleteRecordsRequest = request.message
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_refused(p.partition_index, code) for p in topic.partitions],
            )
            for topic in asked.topics
        ]
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)

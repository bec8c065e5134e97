"""A Produce request whose batches are queued, and the responses for rejected partitions.

State   the response for each partition of the request, to be sent once its wait is over.
In      batches to append, the ends of waits (`DelayedProduce`). Out: the reply, in `deferred`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykbroker.broker.requests.leader_hints import leader_hint
from pykbroker.broker.requests.produce_checks import (
    FIRST_WITH_ZSTD,
    MIN_BATCH_LENGTH,
    batch_head,
    batch_sizes,
    code_of_records,
    is_transactional,
)
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import Breathe, paced_if
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.compression import ZSTD
from pykbroker.protocol.messages.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    LOG_OVERHEAD,
    RECORD_BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    CorruptBatch,
)
from pykbroker.replication.delayed_produce import DelayedProduce

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.broker.transactions.transaction_verification import Verified
    from pykbroker.log.partition.partition_log import AppendOutcome
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest
    from pykbroker.replication.partition import Partition

ADMIN_CLIENT_ID = "__admin_client"  # KafkaApis.scala: the one client that may write to them

FIRST_WITH_LEADER_HINTS = 10

LOOK_CLOSER = TRANSACTIONAL_BIT | ZSTD  # bits of the attributes that may not be fine

NOT_LEADER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)

# Errors for which Kafka leaves log_start_offset at -1 (ReplicaManager.appendToLocalLog).
WITHOUT_LOG_START = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    )
)


class PendingProduce(DelayedProduce):
    """A Produce request whose batches are queued."""

    __slots__ = ("_acks", "_failed", "_request", "_services", "_verified", "_wall_ms")

    def __init__(
        self,
        services: BrokerServices,
        request: Request,
        acks: int,
        deadline_ms: int,
        verified: Verified | None,
    ) -> None:
        super().__init__(acks == -1, deadline_ms, Deferred())
        self._wall_ms = services.wall_ms()
        self._services = services
        self._request = request
        self._acks = acks
        self._failed = False
        self._verified = verified

    def append(
        self,
        topic: str,
        index: int,
        records: memoryview | None,
        checked: ValidationOutcome | None,
    ) -> PartitionProduceResponse:
        """Queue one partition's batch; return its part of the reply, an error if it is rejected."""
        services = self._services
        manager = services.replica_manager
        partition = manager.lookup(topic, index)
        if isinstance(partition, int):
            return self.refuse(index, partition)
        if records is None or len(records) < RECORD_BATCH_OVERHEAD:
            return self.refuse(index, code_of_records(records, self._request.api_version))
        size = len(records)
        length, magic, attributes = batch_head(records)
        if length + LOG_OVERHEAD != size or magic != 2:
            code = code_of_records(records, self._request.api_version)
            if code:
                return self.refuse(index, code)
            size = length + LOG_OVERHEAD
            records = records[:size]
        guard = None
        if attributes & LOOK_CLOSER or topic in INTERNAL_TOPICS:
            code = self._refusal(topic, attributes)
            if code:
                return self.refuse(index, code)
            if self._verified is not None and attributes & TRANSACTIONAL_BIT:
                code = self._verified.codes.get(partition.topic_partition, 0)
                if code:
                    return self._unverified(index, code)
                guard = self._verified.guard(partition.topic_partition)
        try:
            outcome = manager.append(
                partition, records, self._acks, self._wall_ms, AppendOrigin.CLIENT, checked, guard
            )
        except KafkaError as error:
            return self._refused_by_partition(partition, error.code)
        if outcome.error:
            return self._refused_by_log(partition, outcome)
        reply = PartitionProduceResponse(
            index=index,
            base_offset=outcome.base_offset,
            log_append_time_ms=outcome.log_append_time_ms,
            log_start_offset=partition.log.local.log_start_offset,
        )
        self.add(partition, outcome.last_offset + 1, reply)
        counters = services.counters
        counters.bytes_in += size
        counters.messages_in += outcome.last_offset - outcome.base_offset + 1
        return reply

    def _refusal(self, topic: str, attributes: int) -> int:
        """Return the error code for a batch that is not passed to the log; 0 if it may be."""
        if attributes & CODEC_MASK == ZSTD and self._request.api_version < FIRST_WITH_ZSTD:
            return int(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if attributes & TRANSACTIONAL_BIT and self._request.message.transactional_id is None:
            return int(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if topic in INTERNAL_TOPICS and self._request.client_id != ADMIN_CLIENT_ID:
            return int(ErrorCode.INVALID_TOPIC_EXCEPTION)
        return 0

    def refuse(self, index: int, code: int) -> PartitionProduceResponse:
        """Return the part of the reply for a partition to which nothing was appended."""
        self._failed = True
        self._services.counters.failed_produce_requests += 1
        return PartitionProduceResponse(index=index, error_code=code, base_offset=-1)

    def _unverified(self, index: int, code: int) -> PartitionProduceResponse:
        """Return the part of the reply for a partition that is not verified
        to be in the transaction.
        """
        from pykbroker.broker.transactions.transactional_produce import produce_error

        told, message = produce_error(code, self._request.api_version)
        reply = self.refuse(index, told)
        reply.error_message = message
        return reply

    def _refused_by_partition(self, partition: Partition, code: int) -> PartitionProduceResponse:
        reply = self.refuse(partition.index, code)
        if code not in WITHOUT_LOG_START:
            reply.log_start_offset = partition.log.log_start_offset
        return reply

    def _refused_by_log(
        self, partition: Partition, outcome: AppendOutcome
    ) -> PartitionProduceResponse:
        reply = self._refused_by_partition(partition, outcome.error)
        if outcome.record_errors:
            # Kafka includes the text of a rejection only if it lists records.
            reply.error_message = outcome.error_message
            reply.record_errors = [
                BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=text)
                for at, text in outcome.record_errors
            ]
        return reply

    # ---- afterwards

    def fail_part(self, reply: PartitionProduceResponse, code: int) -> None:
        self._failed = True
        reply.error_code = code
        if code == ErrorCode.KAFKA_STORAGE_ERROR:
            reply.base_offset = reply.log_append_time_ms = reply.log_start_offset = -1

    def finished(self) -> Any:
        """Return what to send: the reply with its hints, nothing, or closing the connection."""
        if not self._failed:
            return None if self._acks == 0 else self.reply
        refusal = refused_as_a_whole(self._request)
        if refusal is not None:
            return refusal
        if self._acks == 0:
            return CloseConnection("a produce with acks=0 failed")
        if self._request.api_version >= FIRST_WITH_LEADER_HINTS:
            self._add_leader_hints()
        return self.reply

    def _add_leader_hints(self) -> None:
        manager = self._services.replica_manager
        endpoints: dict[int, NodeEndpoint] = {}
        for topic in self.reply.responses:
            for reply in topic.partition_responses:
                if reply.error_code != NOT_LEADER:
                    continue
                name = topic.name or manager.topic_name(topic.topic_id) or ""
                hint = leader_hint(manager, name, reply.index, self._request.listener_name)
                reply.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader, leader_epoch=hint.leader_epoch
                )
                if hint.endpoint is not None:
                    host, port, rack = hint.endpoint
                    endpoints[hint.leader] = NodeEndpoint(
                        node_id=hint.leader, host=host, port=port, rack=rack
                    )
        self.reply.node_endpoints = list(endpoints.values())


def refused_as_a_whole(
    request: Request, breathe: Breathe | None = None
) -> ProduceResponse | CloseConnection | None:
    """Return the answer if some first batch makes the whole request invalid
    (checked in KafkaApis).
    """
    message: ProduceRequest = request.message
    for topic in paced_if(message.topic_data, breathe):
        for asked in paced_if(topic.partition_data, breathe):
            records: memoryview | None = asked.records  # type: ignore[assignment]
            if records is None:
                continue
            if len(records) >= RECORD_BATCH_OVERHEAD:
                length, magic, attributes = batch_head(records)
                if length >= MIN_BATCH_LENGTH and magic == 2 and not attributes & TRANSACTIONAL_BIT:
                    continue
            try:
                first = next(batch_sizes(records), 0)
            except CorruptBatch as fault:
                return error_reply(request, ErrorCode.CORRUPT_MESSAGE, str(fault))
            if first and message.transactional_id is None and is_transactional(records):
                return error_reply(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return None


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ProduceResponse | CloseConnection:
    """Return `code` for every partition of the request; with acks=0 close the connection."""
    asked: ProduceRequest = request.message
    if asked.acks == 0:
        return CloseConnection(f"a produce with acks=0 failed with error {code}")
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(
                        index=p.index, error_code=code, base_offset=-1, error_message=message
                    )
                    for p in topic.partition_data
                ],
            )
            for topic in asked.topic_data
            if topic.partition_data
        ]
    )

"""Produce (0): append record batches to partitions that this broker leads.

Behaviour: each partition of the request gets exactly one batch of magic 2. The batches are queued
in the order of the request; the reply follows when they are written (acks=1) or below the high
watermark (acks=-1), or says REQUEST_TIMED_OUT after `timeout_ms`. acks=0 has no reply; an error
closes the connection instead, so that the client looks for a new leader.

A request is refused as a whole, and appends nothing, when the first batch of any partition

    has an impossible length or magic     CORRUPT_MESSAGE, with the reason
    is transactional, and no id is given  TRANSACTIONAL_ID_AUTHORIZATION_FAILED

The other errors are per partition:

    no such topic id (v13) / topic or partition    UNKNOWN_TOPIC_ID / UNKNOWN_TOPIC_OR_PARTITION
    null records, no batch, more than one batch,   INVALID_RECORD
    another magic
    shorter than a header, or what follows the     CORRUPT_MESSAGE
    batch is no batch
    zstd before version 7                          UNSUPPORTED_COMPRESSION_TYPE
    acks not -1, 0 or 1                            INVALID_REQUIRED_ACKS
    an internal topic                              INVALID_TOPIC_EXCEPTION (unless the client calls
                                                   itself __admin_client, as Kafka has it)
    not the leader                                 NOT_LEADER_OR_FOLLOWER, and who is (v10, KIP-951)
    what the log refuses                           its code; record errors from version 8

A partition that the request names more than once gets the data that it names last, and one answer
(Kafka gathers the data in a map).

With a transactional id the batches are verified first
(`broker/transactions/transactional_produce.py`): the partition has to be in the producer's
transaction, or joins it with the request (version 12+).

Batches that hold much once decompressed, or are compressed anew, are checked in a thread; the
request as a whole is appended when that is done.

Versions: 3-13; ApiVersions lists 0 to 2 as well (KAFKA-18659), they close the connection. Null
records get INVALID_RECORD where Kafka 4.4 never answers.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import Handler, InSlices, Outcome
from pykbroker.broker.requests.leader_hints import leader_hint
from pykbroker.broker.requests.long_produce import PIECE, append_in_pieces, is_long
from pykbroker.broker.requests.produce_checks import (
    FIRST_WITH_ZSTD,
    MIN_BATCH_LENGTH,
    batch_head,
    batch_sizes,
    check_ahead,
    code_of_records,
    has_compressed_batch,
    is_transactional,
    merge_repeats,
)
from pykbroker.deferred import Deferred, chain
from pykbroker.environment.slices import Breathe, paced_if
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.log.validation.validation_rules import HEAVY_RECOMPRESSED_BYTES
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
    from pykbroker.broker.requests.validation_pool import Check
    from pykbroker.broker.services import BrokerServices
    from pykbroker.broker.transactions.transaction_verification import Verified
    from pykbroker.log.partition.partition_log import AppendOutcome
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest
    from pykbroker.replication.partition import Partition

API_KEY = 0
ADMIN_CLIENT_ID = "__admin_client"  # KafkaApis.scala: the one client that may write to them

FIRST_WITH_LEADER_HINTS = 10
FIRST_BY_ID = 13

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


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Queue the batches; answer once they are written, or at once when there are none."""
    message: ProduceRequest = request.message
    services.counters.total_produce_requests += 1
    by_id = request.api_version >= FIRST_BY_ID
    topics = message.topic_data
    long = False
    if len(topics) != 1 or len(topics[0].partition_data) != 1:
        long = is_long(message)
        breathe = services.breathe if long or len(topics) > PIECE else None
        refusal = refused_as_a_whole(request, breathe)  # a lone partition: when it is refused
        if refusal is not None:
            return refusal
        merge_repeats(message, by_id=by_id, breathe=breathe)
    if not -1 <= message.acks <= 1:
        return refused_acks(services, request)
    if message.transactional_id is not None:
        return verify_and_append(services, request, long)
    if long or is_heavy(request):
        return check_and_append(services, request, long)
    return append_all(services, request, {})


def is_heavy(request: Request) -> bool:
    """Whether its batches have to be looked at before they are appended: see `check_ahead`."""
    return len(request.frame) >= HEAVY_RECOMPRESSED_BYTES or has_compressed_batch(request.message)


def verify_and_append(services: BrokerServices, request: Request, long: bool) -> Outcome:
    """Append what belongs to a transaction once that is verified."""
    from pykbroker.broker.transactions.transactional_produce import verify_batches

    verified = verify_batches(services, request)
    if not isinstance(verified, Deferred):
        return check_and_append(services, request, long, verified)

    def append_later(verified: Verified) -> Outcome:
        services.wake()  # the end of the turn writes what is queued now
        return check_and_append(services, request, long, verified)

    return chain(verified, append_later)


def check_and_append(
    services: BrokerServices, request: Request, long: bool, verified: Verified | None = None
) -> Outcome:
    """Append every batch, once those that hold much are checked."""
    checked: dict[int, ValidationOutcome] = {}
    if is_heavy(request):
        by_id = request.api_version >= FIRST_BY_ID
        heavy = check_ahead(services, request.message, checked, by_id=by_id)
        if heavy:
            return check_in_thread(services, request, heavy, checked, long, verified)
    return append(services, request, checked, long, verified)


def append(
    services: BrokerServices,
    request: Request,
    checked: dict[int, ValidationOutcome],
    long: bool,
    verified: Verified | None,
) -> Outcome:
    """Queue every batch, those of a long request bit by bit; see `append_all`."""
    if not long:
        return append_all(services, request, checked, verified)
    return InSlices(
        partial(
            append_in_pieces,
            services,
            request,
            lambda piece: append_all(services, piece, checked, verified),
        )
    )


def refused_as_a_whole(
    request: Request, breathe: Breathe | None = None
) -> ProduceResponse | CloseConnection | None:
    """The answer when some first batch rules out all of the request (KafkaApis looks first)."""
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


def refused_acks(services: BrokerServices, request: Request) -> ProduceResponse | CloseConnection:
    """Invalid acks are the error of each partition that would have been appended to."""
    refusal = refused_as_a_whole(request)
    if refusal is not None:
        return refusal
    manager = services.replica_manager
    reply = error_reply(request, ErrorCode.INVALID_REQUIRED_ACKS)
    topics = [topic for topic in request.message.topic_data if topic.partition_data]
    if isinstance(reply, ProduceResponse):
        for topic, answer in zip(topics, reply.responses, strict=True):
            by_id = request.api_version >= FIRST_BY_ID
            name = manager.topic_name(topic.topic_id) if by_id else topic.name
            for asked, part in zip(topic.partition_data, answer.partition_responses, strict=True):
                if name is None:
                    part.error_code = int(ErrorCode.UNKNOWN_TOPIC_ID)
                elif manager.lookup(name, asked.index) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    part.error_code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                else:
                    part.error_code = (
                        code_of_records(asked.records, request.api_version) or part.error_code
                    )
    return reply


def check_in_thread(
    services: BrokerServices,
    request: Request,
    heavy: dict[int, Check],
    checked: dict[int, ValidationOutcome],
    long: bool,
    verified: Verified | None,
) -> Deferred:
    """Have them checked; append everything of the request when that is done."""
    deferred = Deferred()

    def finish(outcomes: list[ValidationOutcome]) -> None:
        checked.update(zip(heavy, outcomes, strict=True))
        outcome = append(services, request, checked, long, verified)
        if isinstance(outcome, Deferred):
            outcome.on_resolved(deferred.resolve)
        else:
            deferred.resolve(outcome)
        services.wake()  # the end of the turn writes what was queued

    services.validation.check(list(heavy.values()), finish)
    return deferred


def append_all(
    services: BrokerServices,
    request: Request,
    checked: dict[int, ValidationOutcome],
    verified: Verified | None = None,
) -> Deferred | ProduceResponse | CloseConnection:
    """Queue every batch; `checked` holds what was validated before, `verified` the transaction."""
    message: ProduceRequest = request.message
    manager = services.replica_manager
    by_id = request.api_version >= FIRST_BY_ID
    deadline_ms = request.received_ms + message.timeout_ms
    pending = PendingProduce(services, request, message.acks, deadline_ms, verified)
    responses = []
    for topic in message.topic_data:
        if by_id:
            name = manager.topic_name(topic.topic_id)
        else:
            name = topic.name
        replies = []
        for asked in topic.partition_data:
            if name is None:
                reply = pending.refuse(asked.index, int(ErrorCode.UNKNOWN_TOPIC_ID))
            else:
                reply = pending.append(
                    name,
                    asked.index,
                    asked.records,  # type: ignore[arg-type]
                    checked.get(id(asked)) if checked else None,
                )
            replies.append(reply)
        if replies:
            responses.append(
                TopicProduceResponse(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=replies
                )
            )
    pending.reply = ProduceResponse(responses=responses)
    if not pending.pending:
        pending.deferred.resolve(pending.finished())
        return pending.deferred
    manager.await_turn(pending)
    return pending.deferred


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
        """Queue one partition's batch; its part of the reply, an error's if it is refused."""
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
            log_start_offset=partition.log.log_start_offset,
        )
        self.add(partition, outcome.last_offset + 1, reply)
        counters = services.counters
        counters.bytes_in += size
        counters.messages_in += outcome.last_offset - outcome.base_offset + 1
        return reply

    def _refusal(self, topic: str, attributes: int) -> int:
        """The code for a batch that is not even given to the log; 0 when it may go there."""
        if attributes & CODEC_MASK == ZSTD and self._request.api_version < FIRST_WITH_ZSTD:
            return int(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if attributes & TRANSACTIONAL_BIT and self._request.message.transactional_id is None:
            return int(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if topic in INTERNAL_TOPICS and self._request.client_id != ADMIN_CLIENT_ID:
            return int(ErrorCode.INVALID_TOPIC_EXCEPTION)
        return 0

    def refuse(self, index: int, code: int) -> PartitionProduceResponse:
        """The part of the reply for a partition that got nothing."""
        self._failed = True
        self._services.counters.failed_produce_requests += 1
        return PartitionProduceResponse(index=index, error_code=code, base_offset=-1)

    def _unverified(self, index: int, code: int) -> PartitionProduceResponse:
        """The part of the reply for a partition that is not known to be in the transaction."""
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
            # Kafka shows the text of a refusal only when it names records.
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
        """What goes out: the reply with its hints, nothing, or the end of the connection."""
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


def error_reply(
    request: Request, code: int, message: str | None = None
) -> ProduceResponse | CloseConnection:
    """Every partition of the request gets `code`; nothing but the end when acks is 0."""
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


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=3, max_version=13, error_reply=error_reply
)

"""Produce (0): append record batches to partitions that this broker leads.

Behaviour: each partition of the request gets exactly one batch of magic 2. The batches are queued
in the order of the request; the reply follows when they are written (acks=1) or below the high
watermark (acks=-1), or is REQUEST_TIMED_OUT after `timeout_ms`. acks=0 has no reply; an error
closes the connection instead, so that the client looks for a new leader.

A request is rejected as a whole, and appends nothing, if the first batch of any partition

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
    what the log rejects                           its code; record errors from version 8

For a partition that occurs more than once in the request, the last data is stored and one answer
returned (Kafka collects the data in a map).

With a transactional id the batches are verified first
(`broker/transactions/transactional_produce.py`): the partition has to be in the producer's
transaction, or joins it with the request (version 12+).

Batches that are large once decompressed, or have to be recompressed, are checked in a thread; the
request as a whole is appended afterwards.

Versions: 3-13; ApiVersions lists 0 to 2 as well (KAFKA-18659), they close the connection. Null
records are INVALID_RECORD, whereas Kafka 4.4 never answers.
Not done: authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices, Outcome
from pykbroker.broker.prepared.produce import prepare
from pykbroker.broker.requests.long_produce import PIECE, append_in_pieces, is_long
from pykbroker.broker.requests.pending_produce import (
    PendingProduce,
    error_reply,
    refused_as_a_whole,
)
from pykbroker.broker.requests.produce_checks import (
    check_ahead,
    code_of_records,
    has_compressed_batch,
    merge_repeats,
)
from pykbroker.deferred import Deferred, chain
from pykbroker.errors import ErrorCode
from pykbroker.log.validation.validation_rules import HEAVY_RECOMPRESSED_BYTES
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.produce_response import (
    ProduceResponse,
    TopicProduceResponse,
)

if TYPE_CHECKING:
    from pykbroker.broker.requests.validation_pool import Check
    from pykbroker.broker.services import BrokerServices
    from pykbroker.broker.transactions.transaction_verification import Verified
    from pykbroker.environment.slices import Breathe
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest

API_KEY = 0
FIRST_BY_ID = 13


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Queue the batches; answer once they are written, or immediately if there are none."""
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


def is_heavy(request: Request, breathe: Breathe | None = None) -> bool:
    """Return whether its batches have to be checked before they are appended: see `check_ahead`."""
    is_large = len(request.frame) >= HEAVY_RECOMPRESSED_BYTES
    return is_large or has_compressed_batch(request.message, breathe)


def verify_and_append(services: BrokerServices, request: Request, long: bool) -> Outcome:
    """Append transactional batches once the transaction is verified."""
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
    """Append every batch, once the large ones are checked."""
    checked: dict[int, ValidationOutcome] = {}
    breathe = services.breathe if long else None
    if is_heavy(request, breathe):
        by_id = request.api_version >= FIRST_BY_ID
        heavy = check_ahead(services, request.message, checked, by_id=by_id, breathe=breathe)
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
    """Queue every batch, those of a long request in slices; see `append_all`."""
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


def refused_acks(services: BrokerServices, request: Request) -> ProduceResponse | CloseConnection:
    """Return the error of invalid acks for each partition that would have been appended to."""
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
    """Check batches in a thread, then append the whole request."""
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


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=3,
    max_version=13,
    error_reply=error_reply,
    prepare=prepare,
)

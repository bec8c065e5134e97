"""Produce (0): append record batches to partitions that this broker leads.

Behaviour: each partition of the request must have exactly one batch of magic 2. The batches are
queued in the order of the request; the reply follows when they are written (acks=1) or below the
high watermark (acks=-1; REQUEST_TIMED_OUT for those that are not after `timeout_ms`). acks=0 has no
reply; an error closes the connection instead, so that the client looks for a new leader.

A request is rejected as a whole, and appends nothing, if the first batch of any partition has an
impossible length or magic (CORRUPT_MESSAGE, with the reason) or is transactional without a
transactional id in the request (TRANSACTIONAL_ID_AUTHORIZATION_FAILED), or if with such an id its
transactional batches are of several producers or epochs (INVALID_PRODUCER_ID_MAPPING).

Other errors are per partition, among them:

    no such topic id (v13) / topic or partition    UNKNOWN_TOPIC_ID / UNKNOWN_TOPIC_OR_PARTITION
    null records, no complete batch, more than     INVALID_RECORD
    one, another magic
    a batch shorter than its header, or followed   CORRUPT_MESSAGE
    by an impossible length or magic
    zstd before version 7                          UNSUPPORTED_COMPRESSION_TYPE
    acks not -1, 0 or 1                            INVALID_REQUIRED_ACKS
    an internal topic                              INVALID_TOPIC_EXCEPTION (unless the client calls
                                                   itself __admin_client, as Kafka has it)
    not the leader                                 NOT_LEADER_OR_FOLLOWER, and who is (v10, KIP-951)
    what the log rejects                           its code; record errors from version 8

For a partition that occurs more than once in the request, the last data is stored and one answer
returned (Kafka collects the data in a map).

Most requests are appended at once. `broker/requests/produce_steps.py` has what others need before:
transactional batches are verified (`broker/transactions/transactional_produce.py`); batches that
would hold up the event loop are checked in a thread.

Versions: 3-13; ApiVersions lists 0 to 2 as well (KAFKA-18659), they close the connection. Null
records are INVALID_RECORD, whereas Kafka 4.4 never answers.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, Outcome
from pykbroker.broker.prepared.produce import prepare
from pykbroker.broker.requests.long_produce import is_long
from pykbroker.broker.requests.pending_produce import error_reply, refused_as_a_whole
from pykbroker.broker.requests.produce_checks import (
    FIRST_BY_ID,
    code_of_records,
    merge_repeats,
    needs_check,
)
from pykbroker.broker.requests.produce_steps import ProduceSteps, append_batches
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_response import ProduceResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import CloseConnection, Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest

API_KEY = 0


def handle(services: BrokerServices, request: Request) -> Outcome:
    """Queue the batches; answer once they are written (with acks=all: replicated), immediately if
    none is queued, and with acks=0 not at all, or by closing the connection.
    """
    message: ProduceRequest = request.message
    services.counters.total_produce_requests += 1
    by_id = request.api_version >= FIRST_BY_ID
    topics = message.topic_data
    is_request_long = False
    if len(topics) != 1 or len(topics[0].partition_data) != 1:
        is_request_long = is_long(message)
        breathe = services.breathe if is_request_long else None
        refusal = refused_as_a_whole(request, breathe)  # for a lone partition see `finished`
        if refusal is not None:
            return refusal
        merge_repeats(message, by_id=by_id, breathe=breathe)
    if not -1 <= message.acks <= 1:
        return refused_acks(services, request)
    if message.transactional_id is not None:
        return ProduceSteps(services, request, is_request_long).verify_and_append()
    if is_request_long or needs_check(request):
        return ProduceSteps(services, request, is_request_long).check_and_append()
    return append_batches(services, request)


def refused_acks(services: BrokerServices, request: Request) -> ProduceResponse | CloseConnection:
    """Return the answer to a request with invalid acks: that error for each partition that exists
    and whose records pass `code_of_records`.
    """
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


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=3,
    max_version=13,
    error_reply=error_reply,
    prepare=prepare,
)

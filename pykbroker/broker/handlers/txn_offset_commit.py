"""TxnOffsetCommit (28): store the offsets that a transaction has consumed, until its end.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID per
partition). That the group's partition of `__consumer_offsets` is in the transaction, or joins it
with the request (version 5+), is verified: see `broker/transactions/transaction_verification.py`.
Who may commit is in `coordinator/group/txn_offsets.py`. The reply follows once the records are
committed, and lists every partition.
Versions: 0-6. 0-1 COORDINATOR_NOT_AVAILABLE in place of COORDINATOR_LOAD_IN_PROGRESS; 2+ leader
epoch; 3+ member, generation and group.instance.id (KIP-447); 4+ TRANSACTION_ABORTABLE; 6 topic ids,
and a generation of a group that does not exist is GROUP_ID_NOT_FOUND, not ILLEGAL_GENERATION.
Not done: member epochs of KIP-848 groups, authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.broker.requests.commit_topics import CommitTopics, Forms
from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.broker.transactions.transaction_verification import Verified, verify
from pykbroker.coordinator.coordinator_log import coordinator_error
from pykbroker.coordinator.group.txn_offsets import commit_error
from pykbroker.deferred import Deferred, chain, then
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from pykbroker.protocol.record_batch import NO_SEQUENCE
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request

API_KEY = 28
TOPIC_IDS_FROM = 6
LOADING_KNOWN_FROM = 2

FORMS = Forms(
    TxnOffsetCommitRequestTopic, TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition
)


def handle(services: BrokerServices, request: Request) -> TxnOffsetCommitResponse | Deferred:
    """Check the topics, verify the transaction, commit what exists."""
    message: TxnOffsetCommitRequest = request.message
    version = request.api_version
    by_id = version >= TOPIC_IDS_FROM
    topics = CommitTopics(services, FORMS, message.topics, by_id=by_id)
    if not topics.known:
        return TxnOffsetCommitResponse(topics=topics.answers(()))
    message.topics = topics.known

    def answer(decided: TxnOffsetCommitResponse) -> TxnOffsetCommitResponse:
        if version < LOADING_KNOWN_FROM:
            _hide_loading(decided)
        return TxnOffsetCommitResponse(topics=topics.answers(decided.topics))

    return then(_verify_and_commit(services, message, version), answer)


def _verify_and_commit(
    services: BrokerServices, message: TxnOffsetCommitRequest, version: int
) -> TxnOffsetCommitResponse | Deferred:
    if not message.group_id:
        return commit_error(message, ErrorCode.INVALID_GROUP_ID)
    groups = services.groups
    at = TopicPartition(GROUP_METADATA_TOPIC, groups.partition_for(message.group_id))
    verified = verify(
        services,
        message.transactional_id,
        message.producer_id,
        message.producer_epoch,
        {at: NO_SEQUENCE},
        TransactionSupport.of_offset_commit(version),
    )

    def commit(verified: Verified) -> TxnOffsetCommitResponse | Deferred:
        code = verified.codes.get(at, 0)
        if code:
            return commit_error(message, coordinator_error(code))
        return groups.commit_transactional_offsets(message, version, verified.guard(at))

    if not isinstance(verified, Deferred):
        return commit(verified)

    def commit_later(verified: Verified) -> TxnOffsetCommitResponse | Deferred:
        services.wake()  # the end of a round writes what is queued now
        return commit(verified)

    return chain(verified, commit_later)


def _hide_loading(response: TxnOffsetCommitResponse) -> None:
    """Replace COORDINATOR_LOAD_IN_PROGRESS, on which producers before KAFKA-7296 fail."""
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                partition.error_code = int(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def error_reply(request: Request, code: int, message: str | None) -> TxnOffsetCommitResponse:
    """Return the same error for every partition."""
    return commit_error(request.message, code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=6, error_reply=error_reply
)

"""OffsetCommit (8): store the offsets a group has consumed up to.

Behaviour: topics and partitions must exist (UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID per
partition); the rest is decided by the coordinator, see `coordinator/group/offsets.py`. The reply
follows once the offsets are committed, and lists every partition. A topic without partitions is
omitted, an unknown one is not.
Versions: 2-10. 2-4 a retention set by the client; 6+ leader epoch; 7+ group.instance.id; 9+ a
generation of a group that does not exist is GROUP_ID_NOT_FOUND, not ILLEGAL_GENERATION; 10 topic
ids.
Not done: member epochs of KIP-848 groups; authorization.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.broker.prepared import Answer
from pykbroker.broker.prepared.offset_commit import PreparedOffsetCommit, prepare_with
from pykbroker.broker.requests.commit_topics import CommitTopics, Forms
from pykbroker.coordinator.group.offsets import commit_error
from pykbroker.deferred import then
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request

API_KEY = 8
TOPIC_IDS_FROM = 10

FORMS = Forms(OffsetCommitRequestTopic, OffsetCommitResponseTopic, OffsetCommitResponsePartition)


def handle(services: BrokerServices, request: Request) -> OffsetCommitResponse | Deferred:
    """Check the topics, commit what exists."""
    message: OffsetCommitRequest = request.message
    by_id = request.api_version >= TOPIC_IDS_FROM
    topics = CommitTopics(services, FORMS, message.topics, by_id=by_id)
    if not topics.known:
        return OffsetCommitResponse(topics=topics.answers(()))
    if topics.all_known and len(topics.known) == len(message.topics):
        return services.groups.commit_offsets(message, request.api_version)
    valid = OffsetCommitRequest(
        group_id=message.group_id,
        generation_id_or_member_epoch=message.generation_id_or_member_epoch,
        member_id=message.member_id,
        group_instance_id=message.group_instance_id,
        retention_time_ms=message.retention_time_ms,
        topics=topics.known,
    )
    outcome = services.groups.commit_offsets(valid, request.api_version)
    return then(outcome, lambda reply: OffsetCommitResponse(topics=topics.answers(reply.topics)))


def error_reply(request: Request, code: int, message: str | None) -> OffsetCommitResponse:
    """Return the same error for every partition."""
    return commit_error(request.message, code)


def prepare(
    services: BrokerServices, request: Request, answer: Answer
) -> PreparedOffsetCommit | None:
    """Prepare for more requests like this one."""
    return prepare_with(partial(handle, services), request, answer)


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=2,
    max_version=10,
    error_reply=error_reply,
    prepare=prepare,
)

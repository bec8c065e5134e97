"""Deleting topics, by name or by id.

In:  a DeleteTopics request.
Out: a decision with the response; each topic succeeds or fails by itself, and all successes are
written in one atomic batch. A request for too many topics, or with `delete.topic.enable` false,
fails as a whole.
Source: Kafka's `ReplicationControlManager.java`, `ControllerApis.scala` (duplicates).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.batch_size import check_batch_size
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.protocol.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.primitives import ZERO_UUID


def delete_topics(state: ControllerState, request: Any, version: int) -> Decision[MetadataRecord]:
    """Decide a DeleteTopicsRequest; the reply is a DeleteTopicsResponse. Raises KafkaError if
    delete.topic.enable is false, or for too many topics.
    """
    if not state.static_config.delete_topic_enable:
        if version < 3:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "This version does not support topic deletion."
            )
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED)
    response = DeleteTopicsResponse()
    found: dict[bytes, DeletableTopicResult] = {}
    doomed: dict[bytes, TopicImage] = {}
    for name, topic_id in paced(_asked_topics(state, request, response), state.breathe):
        if name is None:
            topic = state.image.topics_by_id.get(topic_id)
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
        else:
            topic = state.image.topics_by_name.get(name)
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic is None:
            response.responses.append(_not_deleted(name, topic_id, KafkaError(unknown)))
        elif topic.id in found:
            message = "The provided topic name maps to an ID that was already supplied."
            fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
            result = found[topic.id]
            result.error_code, result.error_message = fault.code, fault.message
            doomed.pop(topic.id, None)
        else:
            found[topic.id] = DeletableTopicResult(name=topic.name, topic_id=topic.id)
            doomed[topic.id] = topic
            response.responses.append(found[topic.id])
    check_batch_size(len(doomed))
    records = [
        MetadataRecord(RemoveTopicRecord(topic_id=topic_id))
        for topic_id in paced(doomed, state.breathe)
    ]
    return Decision(records=records, reply=response)


def _asked_topics(
    state: ControllerState, request: Any, response: DeleteTopicsResponse
) -> list[tuple[str | None, bytes]]:
    """Return names (id zero) and ids (name None) to delete; invalid entries
    are answered immediately.
    """
    breathe = state.breathe
    asked: list[tuple[str | None, bytes]] = [
        (name, ZERO_UUID) for name in paced(request.topic_names, breathe)
    ]
    for topic in paced(request.topics, breathe):
        if topic.name is not None and topic.topic_id != ZERO_UUID:
            message = "You may not specify both topic name and topic id."
        elif topic.name is None and topic.topic_id == ZERO_UUID:
            message = "Neither topic name nor id were specified."
        else:
            asked.append((topic.name, topic.topic_id))
            continue
        fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
        response.responses.append(_not_deleted(topic.name, topic.topic_id, fault))
    counts = Counter(paced(asked, breathe))
    by_id: list[tuple[str | None, bytes]] = []
    by_name: list[tuple[str | None, bytes]] = []
    for key, count in paced(counts.items(), breathe):
        name, topic_id = key
        if count > 1:
            message = "Duplicate topic id." if name is None else "Duplicate topic name."
            fault = KafkaError(ErrorCode.INVALID_REQUEST, message)
            response.responses.append(_not_deleted(name, topic_id, fault))
        else:
            (by_id if name is None else by_name).append(key)
    # Names after ids, so that a name that was also given by id is the one that is rejected.
    by_id += by_name
    return by_id


def _not_deleted(name: str | None, topic_id: bytes, fault: KafkaError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=fault.code, error_message=fault.message
    )

"""Metadata (3): the brokers, and the topics with their partitions and leaders.

Behaviour: topics by name, or from version 12 on by id; null (in version 0 an empty list) is all.

    unknown name                         UNKNOWN_TOPIC_OR_PARTITION; it is made meanwhile, if the
                                         client and auto.create.topics.enable allow it (never
                                         __share_group_state)
    invalid name                         INVALID_TOPIC_EXCEPTION
    unknown id                           UNKNOWN_TOPIC_ID
    null name, or an id, before 12       INVALID_REQUEST

If a request contains ids, its names are ignored. The controller named is a live broker that
forwards requests, as in Kafka (which picks any): this one; if it is fenced, another, or -1.
If authorized operations of topics are requested, all except unknown ids have them.

Versions: 0-13. 4+ auto-creation can be refused; 5+ offline replicas; 7+ leader epochs; 8+
authorized operations (8-10 also of the cluster); 10+ topic ids, in requests 12+; 13+ an error of
the whole answer.
Not done: authorization: every client sees all topics.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.broker.metadata.metadata_view import kind_of
from pykbroker.broker.prepared import Answer
from pykbroker.broker.prepared.metadata import PreparedMetadata, prepare_with
from pykbroker.broker.requests.authorized_operations import (
    CLUSTER_OPERATIONS,
    NOT_ASKED,
    TOPIC_OPERATIONS,
)
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import SHARE_GROUP_STATE_TOPIC, is_internal, topic_name_fault
from pykbroker.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseTopic,
)
from pykbroker.protocol.primitives import ZERO_UUID

if TYPE_CHECKING:
    from pykbroker.broker.metadata.metadata_view import ListenerView
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

API_KEY = 3
TOPIC_IDS_FROM = 12
FEW = 10  # topics that are answered without a pause
UNKNOWN_ID = int(ErrorCode.UNKNOWN_TOPIC_ID)


def handle(services: BrokerServices, request: Request) -> MetadataResponse | InSlices:
    """Answer from the view; a request of many topics in slices."""
    message: MetadataRequest = request.message
    version = request.api_version
    asked = message.topics
    wants_all = asked is None or (version == 0 and not asked)
    count = len(services.metadata.image.topics_by_name) if wants_all else len(asked or ())
    if count > FEW:
        return InSlices(partial(answer, services, request, wants_all))
    return answer(services, request, wants_all)


def answer(services: BrokerServices, request: Request, wants_all: bool) -> MetadataResponse:
    """Return the answer to the request, from one image."""
    message: MetadataRequest = request.message
    version = request.api_version
    view = services.metadata.on_listener(request.listener_name)
    brokers = view.brokers()
    controller_id = services.metadata.controller_id()
    topics: list[MetadataResponseTopic]
    if wants_all:
        kind = kind_of(version)
        topics = []
        for name in view.image.topics_by_name:
            view = _breathe(services, view)
            topic = view.topic(name, kind)
            if topic is not None:
                topics.append(topic)
    else:
        topics = _asked_topics(services, view, message, message.topics or [], version)
    if message.include_topic_authorized_operations and version >= 8:
        topics = [
            topic if topic.error_code == UNKNOWN_ID else _with_operations(topic) for topic in topics
        ]
    operations = NOT_ASKED
    if message.include_cluster_authorized_operations and 8 <= version <= 10:
        operations = CLUSTER_OPERATIONS
    return MetadataResponse(
        brokers=brokers,
        cluster_id=services.cluster_id,
        controller_id=controller_id,
        topics=topics,
        cluster_authorized_operations=operations,
    )


def _breathe(services: BrokerServices, view: ListenerView) -> ListenerView:
    """Breathe between two topics; return a view of the same image, even if
    another is published meanwhile.
    """
    image = view.image
    services.breathe()
    return view if view.image is image else view.of(image)


def _asked_topics(
    services: BrokerServices,
    view: ListenerView,
    message: MetadataRequest,
    asked: list[MetadataRequestTopic],
    version: int,
) -> list[MetadataResponseTopic]:
    kind = kind_of(version)
    if len(asked) == 1 and asked[0].topic_id == ZERO_UUID and asked[0].name is not None:
        # What nearly every request is.
        topic = view.topic(asked[0].name, kind)
        return [topic] if topic is not None else _unknown(services, message, [asked[0].name])
    ids: dict[bytes, None] = {}
    names: dict[str, None] = {}
    for wanted in asked:
        view = _breathe(services, view)
        if wanted.topic_id != ZERO_UUID:
            if version < TOPIC_IDS_FROM:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    f"Topic IDs are not supported in requests for version {version}",
                )
            ids[wanted.topic_id] = None
        elif wanted.name is not None:
            names[wanted.name] = None
        elif version < TOPIC_IDS_FROM:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Topic name can not be null for version {version}"
            )
    if ids:
        return _by_id(services, view, ids, kind)
    topics: list[MetadataResponseTopic] = []
    unknown: list[str] = []
    for name in names:
        view = _breathe(services, view)
        topic = view.topic(name, kind)
        if topic is None:
            unknown.append(name)
        else:
            topics.append(topic)
    return topics + _unknown(services, message, unknown) if unknown else topics


def _by_id(
    services: BrokerServices, view: ListenerView, ids: dict[bytes, None], kind: int
) -> list[MetadataResponseTopic]:
    topics = []
    for topic_id in ids:
        view = _breathe(services, view)
        known = view.image.topics_by_id.get(topic_id)
        topic = None if known is None else view.topic(known.name, kind)
        if topic is None:
            topic = MetadataResponseTopic(error_code=UNKNOWN_ID, name=None, topic_id=topic_id)
        topics.append(topic)
    return topics


def _unknown(
    services: BrokerServices, message: MetadataRequest, names: list[str]
) -> list[MetadataResponseTopic]:
    """Return the entries for topics that do not exist; create those that may be created."""
    topics, creatable = [], []
    for name in names:
        services.breathe()
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_name_fault(name) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        elif name != SHARE_GROUP_STATE_TOPIC:  # there is no share coordinator to own it
            creatable.append(name)
        topics.append(
            MetadataResponseTopic(error_code=int(code), name=name, is_internal=is_internal(name))
        )
    if (
        creatable
        and message.allow_auto_topic_creation
        and services.config.auto_create_topics_enable
    ):
        services.topic_creation.create_all(creatable)
    return topics


def _with_operations(topic: MetadataResponseTopic) -> MetadataResponseTopic:
    """Return a separate struct, because those of the view are shared."""
    return MetadataResponseTopic(
        error_code=topic.error_code,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=topic.partitions,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def error_reply(request: Request, code: int, message: str | None = None) -> MetadataResponse:
    """Return `code` for every requested topic; from version 13 on also at the top level."""
    asked: MetadataRequest = request.message
    topics = [
        MetadataResponseTopic(error_code=code, name=topic.name or "", topic_id=topic.topic_id)
        for topic in asked.topics or []
    ]
    return MetadataResponse(topics=topics, error_code=code)


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedMetadata | None:
    """Prepare for more requests like this one."""
    return prepare_with(partial(handle, services), services.metadata, request)


HANDLER = Handler(
    api_key=API_KEY,
    handle=handle,
    min_version=0,
    max_version=13,
    error_reply=error_reply,
    prepare=prepare,
)

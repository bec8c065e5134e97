"""Topics the broker makes by itself: on a client's first Metadata request, and internal topics.

One creation per name is in flight at a time; whoever asks meanwhile waits for the same answer.
Internal topics have their own numbers of partitions and replicas and their own configuration, user
topics the broker's defaults.
Source: Kafka's `DefaultAutoTopicCreationManager.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer

TIMEOUT_MS = 30_000


class TopicCreation:
    """The creations in flight of one node.

    submit(request, deadline_ms): hands a CreateTopicsRequest to the active controller; a Deferred
    resolved with the CreateTopicsResponse or a KafkaError.
    """

    def __init__(self, submit: Callable[[CreateTopicsRequest, int], Deferred]) -> None:
        self._submit = submit
        self._waiting: dict[str, list[Callable[[int], None]]] = {}

    def create(self, topic: CreatableTopic, now_ms: int, done: Callable[[int], None]) -> None:
        """Create a topic; `done(code)`: 0 also when it exists already."""
        waiting = self._waiting.get(topic.name)
        if waiting is not None:
            waiting.append(done)
            return
        self._waiting[topic.name] = [done]
        request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=False)
        deferred = self._submit(request, now_ms + TIMEOUT_MS)
        deferred.on_resolved(lambda outcome: self._finish(topic.name, outcome))

    def _finish(self, name: str, outcome: Any) -> None:
        if isinstance(outcome, KafkaError):
            code = outcome.code
        else:
            code = next(
                (result.error_code for result in outcome.topics if result.name == name),
                int(ErrorCode.UNKNOWN_SERVER_ERROR),
            )
        if code == ErrorCode.TOPIC_ALREADY_EXISTS:
            code = 0
        for done in self._waiting.pop(name):
            done(code)


def topic_to_create(broker: BrokerServer, name: str) -> CreatableTopic:
    """What the broker creates under this name."""
    if name == GROUP_METADATA_TOPIC:
        settings = GroupSettings.from_config(broker.config)
        return CreatableTopic(
            name=name,
            num_partitions=settings.num_partitions,
            replication_factor=settings.replication_factor,
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in settings.topic_configs().items()
            ],
        )
    config = broker.config
    return CreatableTopic(
        name=name,
        num_partitions=config.num_partitions,
        replication_factor=config.default_replication_factor,
    )


def auto_create_topics(broker: BrokerServer, names: Iterable[str]) -> Deferred:
    """Create the topics; resolved with the error code of each name (0: it is there)."""
    wanted = list(dict.fromkeys(names))
    codes: dict[str, int] = {}
    deferred = Deferred()
    if not wanted:
        deferred.resolve(codes)
        return deferred
    now_ms = broker.now_ms()

    def done(name: str, code: int) -> None:
        codes[name] = code
        if len(codes) == len(wanted):
            deferred.resolve(codes)

    for name in wanted:
        topic = topic_to_create(broker, name)
        broker.topic_creation.create(topic, now_ms, partial(done, name))
    return deferred

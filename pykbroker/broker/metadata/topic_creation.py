"""Automatic topic creation: of topics that a Metadata request names, and internal topics.

The missing topics of a caller go to the controller in one request; if they have too many partitions
together, it is not sent. One creation per name is in flight at a time; a caller that needs the same
name waits for the same answer.
Internal topics have their own partition count, replication factor and configuration; user topics
have the broker's defaults.
Source: Kafka's `DefaultAutoTopicCreationManager.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.config import BrokerConfig
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.deferred import Deferred, Waiters, gather, resolved
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.batch_size import MAX_PARTITIONS_PER_REQUEST
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

if TYPE_CHECKING:
    from pykbroker.coordinator.transaction.settings import TransactionSettings

TIMEOUT_MS = 30_000


class TopicCreation:
    """The creations in flight of one node.

    submit(request, deadline_ms): sends a CreateTopicsRequest to the active controller; returns a
    Deferred of the CreateTopicsResponse or a KafkaError.
    """

    def __init__(
        self,
        submit: Callable[[CreateTopicsRequest, int], Deferred],
        *,
        config: Callable[[], BrokerConfig],
        now_ms: Callable[[], int],
    ) -> None:
        self._submit = submit
        self._config = config
        self._now_ms = now_ms
        self._creating: dict[str, Waiters] = {}

    def create_all(self, names: Iterable[str]) -> Deferred:
        """Create topics; return a Deferred of the error code by name (0: the topic exists)."""
        wanted = list(dict.fromkeys(names))

        def by_name(codes: list[int]) -> dict[str, int]:
            return dict(zip(wanted, codes, strict=True))

        new = [name for name in wanted if name not in self._creating]
        for name in new:
            self._creating[name] = Waiters()
        outcome = gather([self._creating[name].wait() for name in wanted], by_name)
        if new:
            self._send(new)
        return outcome if isinstance(outcome, Deferred) else resolved(outcome)

    def _send(self, names: list[str]) -> None:
        config = self._config()
        if len(names) * config.num_partitions > MAX_PARTITIONS_PER_REQUEST:
            # The controller would answer the same to a request that may be megabytes.
            self._finish(names, KafkaError(ErrorCode.POLICY_VIOLATION))
            return
        topics = [topic_to_create(config, name) for name in names]
        request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS, validate_only=False)
        deferred = self._submit(request, self._now_ms() + TIMEOUT_MS)
        deferred.on_resolved(partial(self._finish, names))

    def _finish(self, names: list[str], outcome: Any) -> None:
        if isinstance(outcome, KafkaError):
            codes = dict.fromkeys(names, int(outcome.code))
        else:
            codes = {result.name: result.error_code for result in outcome.topics}
        for name in names:
            code = codes.get(name, int(ErrorCode.UNKNOWN_SERVER_ERROR))
            if code == ErrorCode.TOPIC_ALREADY_EXISTS:
                code = 0
            self._creating.pop(name).resolve_all(code)


def topic_to_create(config: BrokerConfig, name: str) -> CreatableTopic:
    """Return the topic to create under this name."""
    if name in (GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC):
        settings = _settings_of(config, name)
        return CreatableTopic(
            name=name,
            num_partitions=settings.num_partitions,
            replication_factor=settings.replication_factor,
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in settings.topic_configs().items()
            ],
        )
    return CreatableTopic(
        name=name,
        num_partitions=config.num_partitions,
        replication_factor=config.default_replication_factor,
    )


def _settings_of(config: BrokerConfig, name: str) -> GroupSettings | TransactionSettings:
    """Return the settings of an internal topic."""
    if name == GROUP_METADATA_TOPIC:
        return GroupSettings.from_config(config)
    from pykbroker.coordinator.transaction.settings import TransactionSettings

    return TransactionSettings.from_config(config)

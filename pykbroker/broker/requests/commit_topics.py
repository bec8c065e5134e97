"""The topics of an offset commit: which of them exist, and the response for those that do not.

OffsetCommit and TxnOffsetCommit have the same fields in separate classes (`Forms`).

In:  the topics of a request, by name or by id. Out: those to give to the group coordinator, with
     names and ids filled in; the topics of the response, the refused ones first, as Kafka orders
     them. A topic without partitions is left out, an unknown one is not.
Source: `KafkaApis.handleOffsetCommitRequest`, `handleTxnOffsetCommitRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices


class Forms(NamedTuple):
    """The classes of one API: a topic of its request; a topic and a partition of its response."""

    asked_topic: Any
    answered_topic: Any
    answered_partition: Any


class CommitTopics:
    """The topics of one request."""

    __slots__ = ("_breathe", "_by_id", "_forms", "_refused", "known")

    def __init__(
        self, services: BrokerServices, forms: Forms, topics: Sequence[Any], *, by_id: bool
    ) -> None:
        image = services.metadata.image
        breathe = self._breathe = services.breathe
        self._forms = forms
        self._by_id = by_id
        self._refused: dict[str | bytes, Any] = {}
        self.known: list[Any] = []
        for topic in paced(topics, breathe):
            found = image.topic_by_id(topic.topic_id) if by_id else image.topic(topic.name)
            if found is None:
                code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                self._refuse(topic, topic.partitions, code)
                continue
            topic.name = found.name
            topic.topic_id = found.id
            there: list[Any] = []
            gone: list[Any] = []
            for partition in paced(topic.partitions, breathe):
                known = partition.partition_index in found.partitions
                (there if known else gone).append(partition)
            if gone:
                self._refuse(topic, gone, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                topic = forms.asked_topic(name=found.name, topic_id=found.id, partitions=there)
            if there:
                self.known.append(topic)

    @property
    def all_known(self) -> bool:
        """Whether nothing was rejected."""
        return not self._refused

    def _refuse(self, topic: Any, partitions: Sequence[Any], code: int) -> None:
        answer = self._refused.setdefault(
            topic.topic_id if self._by_id else topic.name,
            self._forms.answered_topic(name=topic.name, topic_id=topic.topic_id),
        )
        answer.partitions += [
            self._forms.answered_partition(
                partition_index=partition.partition_index, error_code=int(code)
            )
            for partition in paced(partitions, self._breathe)
        ]

    def answers(self, decided: Sequence[Any]) -> list[Any]:
        """Return the rejected topics first, then the results of the coordinator.

        A topic that occurs twice in a request is answered twice, unless something was rejected.
        """
        if not self._refused:
            return list(decided)
        for topic in paced(decided, self._breathe):
            present = self._refused.setdefault(topic.topic_id if self._by_id else topic.name, topic)
            if present is not topic:
                present.partitions.extend(topic.partitions)
        return list(self._refused.values())

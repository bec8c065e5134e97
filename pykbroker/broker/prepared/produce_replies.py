"""The answers without errors to the Produce requests of a connection.

State   the names and ids of their topics, and a template for each sequence of partitions
        that was answered lately.
In      which partitions were appended to, and two numbers of each: its base offset and its log
        start offset.
Out     a frame, or the message that the general path would encode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.broker.prepared.reply_template import ReplyTemplate
from pykbroker.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

if TYPE_CHECKING:
    from pykbroker.protocol.api import Api

MOST_TEMPLATES = 64

Place: TypeAlias = tuple[int, int]
"""A partition in the answer: the number of its topic among the request's, and its index."""


class ProduceReplies:
    """The answers without errors; see the module."""

    __slots__ = ("_api", "_templates", "_topics", "_version")

    def __init__(self, api: Api, version: int, topics: Sequence[tuple[str, bytes]]) -> None:
        """topics: the name and the id of each, as in the requests."""
        self._api = api
        self._version = version
        self._topics = topics
        self._templates: dict[tuple[Place, ...], ReplyTemplate] = {}

    def frame(
        self, correlation_id: int, places: Sequence[Place], numbers: Sequence[int]
    ) -> bytearray:
        """Return the framed answer; numbers: two of each place, one place after the other."""
        key = tuple(places)
        template = self._templates.get(key)
        if template is None:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            template = self._templates[key] = ReplyTemplate(
                self._api, self._version, len(numbers), lambda marks: self.message(key, marks)
            )
        return template.frame(correlation_id, numbers)

    def message(self, places: Sequence[Place], numbers: Sequence[int]) -> ProduceResponse:
        """Return the same answer as a message."""
        topics = [
            TopicProduceResponse(name=name, topic_id=topic_id, partition_responses=[])
            for name, topic_id in self._topics
        ]
        following = iter(numbers)
        for number, index in places:
            part = PartitionProduceResponse(
                index=index, base_offset=next(following), log_start_offset=next(following)
            )
            topics[number].partition_responses.append(part)
        return ProduceResponse(responses=topics)

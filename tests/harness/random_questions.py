"""Random Metadata, Heartbeat and OffsetCommit requests for `random_clients`.

A client asks the same again and again, as real ones do: what it asks is drawn once, with its
habits; offsets, and now and then something else, change from one request to the next.
"""

from __future__ import annotations

import random
from typing import Any

from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.harness.asked_node import GROUP

METADATA, OFFSET_COMMIT, HEARTBEAT = 3, 8, 12
FIRST_BY_ID = {METADATA: 10, OFFSET_COMMIT: 10}


class Question:
    """What one client asks; `topics` gives the id of a topic by its name."""

    def __init__(self, chance: random.Random, api: int, topics: dict[str, bytes]) -> None:
        self.chance = chance
        self.api = api
        self._ids = topics
        names = (*topics, "plain", "plain", "missing")
        self._names = chance.choices(names, k=chance.choice((1, 2)))
        self._counts = [chance.choice((1, 1, 2, 3)) for _ in self._names]
        self._by_id = chance.random() < 0.3
        self._group = chance.choice((GROUP, GROUP, "simple", "other", "", "ü"))
        self._is_member = self._group == GROUP and chance.random() < 0.8
        self._metadata = chance.choice(("", "", None, "mine", "x" * 5000))
        self._retention_ms = chance.choice((-1, -1, 1000))
        self._with_operations = chance.random() < 0.2
        self._makes_topics = chance.random() < 0.2

    def message(self, version: int, member: tuple[str, int]) -> Any:
        """The next request; `member`: id and generation of the member of GROUP by now."""
        if self.api == METADATA:
            return self._metadata_request(version)
        member_id, generation = member if self._is_member else ("", -1)
        if self.chance.random() < 0.02:
            generation += 1
        if self.api == HEARTBEAT:
            return HeartbeatRequest(
                group_id=self._group, generation_id=generation, member_id=member_id
            )
        topics = [
            OffsetCommitRequestTopic(
                name=name, topic_id=self._id_of(name), partitions=self._partitions(count)
            )
            for name, count in zip(self._names, self._counts, strict=True)
        ]
        return OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            retention_time_ms=self._retention_ms if version <= 4 else -1,
            topics=topics if self.chance.random() < 0.98 else topics[:1],
        )

    def _id_of(self, name: str) -> bytes:
        return self._ids.get(name, b"missing".rjust(16))

    def _partitions(self, count: int) -> list[OffsetCommitRequestPartition]:
        chance = self.chance
        return [
            OffsetCommitRequestPartition(
                partition_index=index if chance.random() < 0.98 else index + 17,
                committed_offset=chance.choice((0, 5, 1 << 40, -1, chance.randrange(1000))),
                committed_leader_epoch=chance.choice((-1, -1, 0, 7)),
                committed_metadata=self._metadata if chance.random() < 0.98 else "other",
            )
            for index in range(count)
        ]

    def _metadata_request(self, version: int) -> MetadataRequest:
        by_id = self._by_id and version >= FIRST_BY_ID[METADATA]
        topics: list[MetadataRequestTopic] | None = [
            MetadataRequestTopic(name=None, topic_id=self._id_of(name))
            if by_id
            else MetadataRequestTopic(name=name)
            for name in self._names
        ]
        if self.chance.random() < 0.05:
            topics = None if version >= 1 else []
        return MetadataRequest(
            topics=topics,
            allow_auto_topic_creation=self._makes_topics or version < 4,
            include_topic_authorized_operations=self._with_operations and version >= 8,
        )

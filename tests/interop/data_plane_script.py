"""A long conversation about records: pykbroker must answer each line as Apache Kafka does.

`play` speaks every line to a fresh broker and returns what came back, line by line, with what may
differ between two brokers taken out: topic ids become names, session ids "session", times of now
"now". Lines are in the order of a story: later ones see what earlier ones wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from pykbroker.protocol.messages import (
    create_topics_request,
    list_offsets_request,
    metadata_request,
)
from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for
from tests.interop.conversation import Line
from tests.interop.data_plane_fetch import deleted_topic_lines, fetch_lines, session_lines
from tests.interop.data_plane_offsets import (
    delete_lines,
    epoch_lines,
    list_offsets_lines,
    producer_lines,
)
from tests.interop.data_plane_produce import T0, idempotent_lines, produce_lines

PARTITIONS = 3
TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "compacted": {"cleanup.policy": "compact"},
    "both": {"cleanup.policy": "compact,delete"},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "small": {"max.message.bytes": "300"},
    "gzipped": {"compression.type": "gzip"},
    "strict": {"min.insync.replicas": "2"},
}


class Play:
    """One conversation with one broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.client = RawClient(bootstrap_servers)
        self.ids: dict[str, bytes] = {}
        self.session_id = 0
        self._names: dict[bytes, str] = {}

    def prepare(self) -> None:
        """Make the topics, learn their ids."""
        made = self.client.ask("CreateTopics", 7, _create_topics(), 30)
        assert [t.error_code for t in made.topics] == [0] * len(TOPICS)
        self.learn(made)
        self.await_leaders()

    def await_leaders(self) -> None:
        """Until every partition serves."""
        every = range(PARTITIONS)
        wait_for(lambda: self._serve(TOPICS, every), "the leaders of the topics")

    def await_topic(self, name: str, is_there: bool) -> None:
        """Apache answers before its broker has seen what its controller committed."""
        wait_for(lambda: self._serve([name], [0]) is is_there, f"the broker to see {name}")

    def learn(self, made: Any) -> None:
        """Remember the ids of new topics; an id of before keeps its name too."""
        self.ids |= {topic.name: topic.topic_id for topic in made.topics}
        self._names |= {topic.topic_id: topic.name for topic in made.topics}

    def _serve(self, topics: Iterable[str], partitions: Iterable[int]) -> bool:
        """Not what Metadata says, but what the partitions do: Apache's lag behind it."""
        asked = list_offsets_request.ListOffsetsRequest(
            replica_id=-1,
            topics=[
                list_offsets_request.ListOffsetsTopic(
                    name=name,
                    partitions=[
                        list_offsets_request.ListOffsetsPartition(partition_index=p, timestamp=-1)
                        for p in partitions
                    ],
                )
                for name in topics
            ],
        )
        answer = self.client.ask("ListOffsets", 7, asked)
        return all(p.error_code == 0 for t in answer.topics for p in t.partitions)

    def say(self, line: Line) -> tuple[str, Any]:
        """Label and normalised answer."""
        answer = self.client.ask(line.api, line.version, line.message, line.timeout_s)
        deadline = time.monotonic() + 120
        while line.api == "InitProducerId" and answer.error_code == 14:
            # Apache has the first producers try again until it has a block of ids; we make them
            # wait for it.
            assert time.monotonic() < deadline
            time.sleep(0.02)
            answer = self.client.ask(line.api, line.version, line.message)
        if line.api == "CreateTopics":
            self.learn(answer)
        if line.api == "Fetch" and not isinstance(answer, str) and answer.session_id:
            self.session_id = answer.session_id
        return f"{line.api} v{line.version} {line.label}", self.plain(answer)

    def plain(self, value: Any, name: str = "") -> Any:
        """Dicts, lists and numbers, without what differs from broker to broker."""
        if isinstance(value, Message):
            fields = {
                slot: self.plain(getattr(value, slot), slot)
                for slot in type(value).__slots__
                if slot != "unknown_tags"
            }
            return {"": type(value).__name__} | fields
        if isinstance(value, list):
            items = [self.plain(item) for item in value]
            # Kafka answers from hash maps in many places: the order of topics and partitions is
            # not the request's.
            return sorted(items, key=repr) if items and isinstance(items[0], dict) else items
        if name == "topic_id":
            return self._names.get(value, value)
        if name == "port":
            return value > 0
        if name == "session_id":
            return "session" if value else 0
        if name in ("log_append_time_ms", "timestamp", "last_timestamp"):
            return "now" if value > T0 + 50_000 else value
        if name in ("log_dir", "total_bytes", "usable_bytes"):
            return value is not None
        if name == "batch_index_error_message":
            return value is not None
        if isinstance(value, (bytes, bytearray, memoryview)):
            return _records_as_they_matter(bytes(value))
        return value


def _records_as_they_matter(raw: bytes) -> str:
    """Record batches without the timestamps that the broker chose, and so without the CRC."""
    batches = bytearray(raw)
    position = 0
    while position + 61 <= len(batches):
        if batches[position + 22] & 0x08:  # log append time
            batches[position + 35 : position + 43] = bytes(8)
            batches[position + 17 : position + 21] = bytes(4)
        position += 12 + int.from_bytes(batches[position + 8 : position + 12], "big")
    return batches.hex()


def play(bootstrap_servers: str, only: str = "") -> list[tuple[str, Any]]:
    """Speak every line; what came back."""
    story = Play(bootstrap_servers)
    story.prepare()
    heard = []
    for line in lines(story):
        if only in line.api:
            heard.append(story.say(line))
    story.client.close()
    return heard


def play_again(bootstrap_servers: str) -> list[tuple[str, Any]]:
    """After a restart: what is still there, and goes on."""
    story = Play(bootstrap_servers)
    asked = metadata_request.MetadataRequest(
        topics=[metadata_request.MetadataRequestTopic(name=name) for name in TOPICS]
    )
    answer = story.client.ask("Metadata", 12, asked)
    story.learn(answer)
    story.await_leaders()
    heard = []
    for part in (
        fetch_lines(story),
        list_offsets_lines(),
        epoch_lines(),
        producer_lines(),
        idempotent_lines(story),
    ):
        heard += [story.say(line) for line in part]
    story.client.close()
    return heard


def lines(story: Play) -> Iterator[Line]:
    """The whole story."""
    yield from produce_lines(story)
    yield from idempotent_lines(story)
    yield from fetch_lines(story)
    yield from session_lines(story)
    yield from deleted_topic_lines(story)
    yield from list_offsets_lines()
    yield from epoch_lines()
    yield from producer_lines()
    yield from delete_lines()


def _create_topics() -> Message:
    return create_topics_request.CreateTopicsRequest(
        timeout_ms=30_000,
        topics=[
            create_topics_request.CreatableTopic(
                name=name,
                num_partitions=PARTITIONS,
                replication_factor=1,
                configs=[
                    create_topics_request.CreatableTopicConfig(name=key, value=value)
                    for key, value in configs.items()
                ],
            )
            for name, configs in TOPICS.items()
        ],
    )

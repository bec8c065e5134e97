"""A long conversation about records: what Apache Kafka answers to each line, pykbroker must too.

`play` speaks every line to a fresh broker and returns what came back, line by line, with what may
differ between two brokers taken out: topic ids become names, session ids "session", times of now
"now". Lines are in the order of a story: later ones see what earlier ones wrote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.messages import (
    create_topics_request,
    delete_records_request,
    describe_log_dirs_request,
    describe_producers_request,
    init_producer_id_request,
    list_offsets_request,
    metadata_request,
    offset_for_leader_epoch_request,
    produce_request,
)
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for
from tests.interop.data_plane_fetch import (
    UNKNOWN_ID,
    Line,
    deleted_topic_lines,
    fetch_lines,
    session_lines,
)

T0 = int(time.time() * 1000) // 1000 * 1000 - 60_000
PARTITIONS = 3
FAR_MS = 10 * 86_400_000  # beyond message.timestamp.after.max.ms whenever the test runs
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
                for slot in type(value).__slots__  # type: ignore[attr-defined]
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
        _list_offsets_lines(),
        _epoch_lines(),
        _producer_lines(),
        _idempotent_lines(story),
    ):
        heard += [story.say(line) for line in part]
    story.client.close()
    return heard


def lines(story: Play) -> Iterator[Line]:
    """The whole story."""
    yield from _produce_lines(story)
    yield from _idempotent_lines(story)
    yield from fetch_lines(story)
    yield from session_lines(story)
    yield from deleted_topic_lines(story)
    yield from _list_offsets_lines()
    yield from _epoch_lines()
    yield from _producer_lines()
    yield from _delete_lines()


# ---- Produce


def batch(
    *values: bytes | None, key: bytes | None = None, at: int | None = None, **options: Any
) -> bytes:
    at = T0 if at is None else at
    records = [(key, value, at + i, ()) for i, value in enumerate(values or (b"v",))]
    return bytes(build_batch(records, **options))


def patched(raw: bytes, position: int, *changed: int) -> bytes:
    """Bytes changed, checksum made right again."""
    raw = raw[:position] + bytes(changed) + raw[position + len(changed) :]
    return raw[:17] + crc32c(raw[21:]).to_bytes(4, "big") + raw[21:]


def produce(
    story: Play, topic: str, records: bytes | None, acks: int = -1, partition: int = 0, **more: Any
) -> produce_request.ProduceRequest:
    return produce_request.ProduceRequest(
        acks=acks,
        timeout_ms=5000,
        transactional_id=more.get("transactional_id"),
        topic_data=[
            produce_request.TopicProduceData(
                name=topic,
                topic_id=story.ids.get(topic, UNKNOWN_ID),
                partition_data=[
                    produce_request.PartitionProduceData(index=partition, records=records)
                ],
            )
        ],
    )


def _produce_lines(story: Play) -> Iterator[Line]:
    one = batch()
    bad: dict[str, tuple[str, bytes]] = {
        "one record": ("plain", one),
        "three records": ("plain", batch(b"a", b"b", b"c")),
        "no bytes": ("plain", b""),
        "eleven bytes": ("plain", one[:11]),
        "sixty bytes": ("plain", one[:60]),
        "cut by one": ("plain", one[:-1]),
        "one byte more": ("plain", one + b"\0"),
        "two batches": ("plain", one + one),
        "magic 0": ("plain", one[:16] + b"\0" + one[17:]),
        "magic 1": ("plain", one[:16] + b"\1" + one[17:]),
        "magic 3": ("plain", one[:16] + b"\3" + one[17:]),
        "wrong checksum": ("plain", one[:-1] + b"\1"),
        "length 13": ("plain", one[:8] + bytes((0, 0, 0, 13)) + one[12:]),
        "length -1": ("plain", one[:8] + b"\xff\xff\xff\xff" + one[12:]),
        "count 0": ("plain", patched(one, 57, 0, 0, 0, 0)),
        "count 2": ("plain", patched(one, 57, 0, 0, 0, 2)),
        "count -1": ("plain", patched(one, 57, 255, 255, 255, 255)),
        "last offset delta 5": ("plain", patched(one, 23, 0, 0, 0, 5)),
        "control batch": ("plain", patched(one, 21, 0, 0x20)),
        "log append time bit": ("plain", patched(one, 21, 0, 0x08)),
        "delete horizon bit": ("plain", patched(one, 21, 0, 0x40)),
        "transactional": ("plain", batch(is_transactional=True)),
        "null key, compacted": ("compacted", batch(b"a", b"b")),
        "with key, compacted": ("compacted", batch(b"a", key=b"k")),
        "tombstone": ("compacted", batch(None, key=b"k")),
        "null key, compact,delete": ("both", one),
        "log append time": ("stamped", batch(b"a", b"b")),
        "too large": ("small", batch(bytes(400))),
        "just fits": ("small", batch(bytes(200))),
        "recompressed": ("gzipped", batch(bytes(400))),
        "far future": ("plain", batch(at=T0 + FAR_MS)),
        "far past": ("plain", batch(at=1)),
        "no timestamp": ("plain", batch(at=-1)),
        "unknown topic": ("missing", one),
        "too few replicas": ("strict", one),
        "a null value": ("plain", batch(None)),
    }
    bad |= {f"codec {c}": ("plain", batch(bytes(300), codec=c)) for c in (1, 2, 3, 4)}
    for version in (3, 5, 6, 7, 8, 9, 10, 12, 13):
        for label, (topic, records) in bad.items():
            yield Line(label, "Produce", version, produce(story, topic, records))
        yield Line("acks 1", "Produce", version, produce(story, "plain", one, acks=1))
        yield Line("acks 2", "Produce", version, produce(story, "plain", one, acks=2))
        yield Line("acks -2", "Produce", version, produce(story, "plain", one, acks=-2))
        yield Line("partition 9", "Produce", version, produce(story, "plain", one, partition=9))
        yield Line(
            "a transactional id without a transaction",
            "Produce",
            version,
            produce(story, "plain", one, transactional_id="t"),
        )
        yield Line(
            "transactional, with an id that nobody knows",
            "Produce",
            version,
            produce(
                story,
                "plain",
                batch(is_transactional=True, producer_id=5, producer_epoch=0, base_sequence=0),
                transactional_id="t",
            ),
        )
        for label, records in (
            ("a transactional batch", batch(is_transactional=True)),
            ("a length of 13", patched(one, 8, 0, 0, 0, 13)),
            ("a length of 14", patched(one, 8, 0, 0, 0, 14)),
            ("magic 3", patched(one, 16, 3)),
            ("zeros behind", one + bytes(12)),
            ("two of zstd", batch(codec=4) * 2),
        ):
            for acks in (-1, 2):
                message = produce(story, "plain", one, acks=acks)
                message.topic_data += produce(story, "stamped", records).topic_data
                message.topic_data += produce(story, "missing", one).topic_data
                yield Line(f"{label} behind a good one, acks {acks}", "Produce", version, message)
        yield Line(
            "nothing", "Produce", version, produce_request.ProduceRequest(acks=-1, timeout_ms=100)
        )
    yield Line("acks 0", "Produce", 9, produce(story, "plain", one, acks=0), 0.3)
    yield Line("acks 0, error", "Produce", 9, produce(story, "missing", one, acks=0))


def _idempotent_lines(story: Play) -> Iterator[Line]:
    def send(label: str, sequence: int, epoch: int = 0, count: int = 1, producer: int = 77) -> Line:
        records = batch(
            *[b"v"] * count,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        return Line(label, "Produce", 9, produce(story, "plain", records, partition=1))

    yield send("first", 0)
    yield send("second, of three", 1, count=3)
    for sequence in range(4, 9):
        yield send(f"sequence {sequence}", sequence)
    yield send("the last again", 8)
    yield send("one of the last five again", 5)
    yield send("older than the last five", 0)
    yield send("part of a batch again", 2)
    yield send("a gap", 20)
    yield send("a new epoch not at 0", 5, epoch=1)
    yield send("a new epoch at 0", 0, epoch=1)
    yield send("the old epoch", 9, epoch=0)
    yield send("an unknown producer in the middle", 33, producer=78)
    yield send("no sequence", -1, producer=79)
    yield send("a negative epoch", 0, epoch=-1, producer=80)
    yield send("the largest sequence", 0x7FFFFFFF, producer=81)
    yield send("and around", 0, producer=81)


# ---- offsets, epochs, producers, deletion


def _list_offsets_lines() -> Iterator[Line]:
    def ask(*asked: dict[str, Any], topic: str = "plain", **more: Any) -> Message:
        return list_offsets_request.ListOffsetsRequest(
            **{"replica_id": -1} | more,
            topics=[
                list_offsets_request.ListOffsetsTopic(
                    name=topic,
                    partitions=[list_offsets_request.ListOffsetsPartition(**p) for p in asked],
                )
            ],
        )

    stamps = (-1, -2, -3, -4, -5, -6, -7, 0, 2, T0, T0 + 1, T0 + 2, T0 + 3, T0 + FAR_MS)
    for version in range(1, 12):
        for stamp in stamps:
            for topic in ("plain", "strict", "stamped"):
                at = f"T0+{stamp - T0}" if stamp > 10 else str(stamp)
                label = f"{topic} at {at}"
                yield Line(label, "ListOffsets", version, ask({"timestamp": stamp}, topic=topic))
        yield Line("twice", "ListOffsets", version, ask({"timestamp": -1}, {"timestamp": -2}))
        yield Line("unknown", "ListOffsets", version, ask({"timestamp": -1}, topic="missing"))
        yield Line(
            "partition 9", "ListOffsets", version, ask({"partition_index": 9, "timestamp": -1})
        )
        yield Line("a follower", "ListOffsets", version, ask({"timestamp": -1}, replica_id=5))
        yield Line("debugging", "ListOffsets", version, ask({"timestamp": -1}, replica_id=-2))
        if version >= 2:
            yield Line(
                "committed", "ListOffsets", version, ask({"timestamp": -1}, isolation_level=1)
            )
            yield Line(
                "isolation 2", "ListOffsets", version, ask({"timestamp": -1}, isolation_level=2)
            )
        yield Line("no partition", "ListOffsets", version, ask())
        if version >= 4:
            for epoch in (0, 3, -2):
                asked = {"timestamp": -1, "current_leader_epoch": epoch}
                yield Line(f"leader epoch {epoch}", "ListOffsets", version, ask(asked))


def _epoch_lines() -> Iterator[Line]:
    for version in (2, 3, 4):
        for topic, partition, current, epoch in (
            ("plain", 0, -1, 0),
            ("plain", 0, 0, 0),
            ("plain", 0, 2, 0),
            ("plain", 0, -2, 0),
            ("plain", 0, -1, 5),
            ("plain", 0, -1, -1),
            ("strict", 0, -1, 0),
            ("plain", 9, -1, 0),
            ("missing", 0, -1, 0),
        ):
            asked = offset_for_leader_epoch_request.OffsetForLeaderPartition(
                partition=partition, current_leader_epoch=current, leader_epoch=epoch
            )
            message = offset_for_leader_epoch_request.OffsetForLeaderEpochRequest(
                replica_id=-1 if version >= 3 else -2,
                topics=[
                    offset_for_leader_epoch_request.OffsetForLeaderTopic(
                        topic=topic, partitions=[asked]
                    )
                ],
            )
            label = f"{topic}-{partition} epoch {epoch} in {current}"
            yield Line(label, "OffsetForLeaderEpoch", version, message)


def _producer_lines() -> Iterator[Line]:
    for topic, partition in (("plain", 1), ("plain", 2), ("plain", 9), ("missing", 0), ("a b", 0)):
        message = describe_producers_request.DescribeProducersRequest(
            topics=[
                describe_producers_request.TopicRequest(name=topic, partition_indexes=[partition])
            ]
        )
        yield Line(f"{topic}-{partition}", "DescribeProducers", 0, message)
    for version in range(6):
        first: dict[str, Any] = {"transactional_id": None, "transaction_timeout_ms": 1000}
        told: list[tuple[str, dict[str, Any]]] = [
            ("fresh", first),
            ("empty id", {"transactional_id": "", "transaction_timeout_ms": 1000}),
            ("transactional", {"transactional_id": "x", "transaction_timeout_ms": 1000}),
            ("too long", {"transactional_id": "x", "transaction_timeout_ms": 900_001}),
            ("no time", {"transactional_id": "x", "transaction_timeout_ms": 0}),
        ]
        if version >= 3:
            told.append(("only an id", first | {"producer_id": 5}))
            told.append(("only an epoch", first | {"producer_epoch": 5}))
            told.append(("both", first | {"producer_id": 5, "producer_epoch": 5}))
        for label, fields in told:
            message = init_producer_id_request.InitProducerIdRequest(**fields)
            yield Line(label, "InitProducerId", version, message)
    for version in range(1, 6):
        for label, topics in (
            ("all plain", ("plain", [0, 1, 2, 9])),
            ("missing", ("missing", [0])),
        ):
            asked = describe_log_dirs_request.DescribableLogDirTopic(
                topic=topics[0], partitions=topics[1]
            )
            message = describe_log_dirs_request.DescribeLogDirsRequest(topics=[asked])
            yield Line(label, "DescribeLogDirs", version, message)


def _delete_lines() -> Iterator[Line]:
    def ask(offset: int, topic: str = "plain", partition: int = 0) -> Message:
        return delete_records_request.DeleteRecordsRequest(
            timeout_ms=5000,
            topics=[
                delete_records_request.DeleteRecordsTopic(
                    name=topic,
                    partitions=[
                        delete_records_request.DeleteRecordsPartition(
                            partition_index=partition, offset=offset
                        )
                    ],
                )
            ],
        )

    make: Callable[..., Line] = lambda label, version, message: Line(  # noqa: E731
        label, "DeleteRecords", version, message
    )
    for version in (0, 1, 2):
        yield make("to 2", version, ask(2 + version))
        yield make("backwards", version, ask(1))
        yield make("beyond the end", version, ask(1 << 40))
        yield make("to -2", version, ask(-2))
        yield make("compacted", version, ask(1, topic="compacted"))
        yield make("compact,delete", version, ask(0, topic="both"))
        yield make("unknown topic", version, ask(1, topic="missing"))
        yield make("unknown partition", version, ask(1, partition=9))
    yield make("to the high watermark", 2, ask(-1))
    for version in (1, 11):
        for stamp in (-1, -2, -3, 0):
            message = list_offsets_request.ListOffsetsRequest(
                replica_id=-1,
                topics=[
                    list_offsets_request.ListOffsetsTopic(
                        name="plain",
                        partitions=[list_offsets_request.ListOffsetsPartition(timestamp=stamp)],
                    )
                ],
            )
            yield Line(f"after deletion, at {stamp}", "ListOffsets", version, message)


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

"""Random clients for two nodes that get the same: habits, requests, and what happens meanwhile.

A client has habits, as real ones have: one API and version, one topic, the same settings again and
again; now and then it changes them, or sends something that nobody else would.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Container
from typing import Any

from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.protocol.api import APIS
from pykbroker.protocol.compression import GZIP, LZ4
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from pykbroker.protocol.messages.fetch_response import FetchResponse
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import DecodeError
from pykbroker.protocol.record_batch import NewRecord, build_batch
from pykbroker.replication import record_deletion
from tests.broker.handlers.group_broker import OFFSETS_PARTITIONS, OFFSETS_TOPIC_NUMBER
from tests.harness.asked_node import AskedNode
from tests.harness.random_questions import HEARTBEAT, METADATA, OFFSET_COMMIT, Question
from tests.replication.node import NOW_MS, Node, topic_id_of

PRODUCE = 0
FETCH = 1
FIRST_WITH_SESSIONS = 7
FIRST_WITH_LAST_EPOCH = 12
FIRST_WITH_REPLICA_STATE = 15
VERSIONS = {
    PRODUCE: range(3, 14),
    FETCH: range(4, 19),
    METADATA: range(14),
    OFFSET_COMMIT: range(2, 11),
    HEARTBEAT: range(5),
}
TOPICS = {"plain": 1, "compact": 2, "stamped": 3, "zipped": 4, "replicated": 5, "tight": 6}
PARTITIONS = 3


class Habit:
    """What a client does again and again."""

    def __init__(self, chance: random.Random, number: int) -> None:
        self.api = chance.choice(
            (PRODUCE,) * 8 + (FETCH,) * 6 + (OFFSET_COMMIT,) * 2 + (METADATA, HEARTBEAT)
        )
        self.topic = chance.choice(("plain",) * 8 + ("replicated",) * 3 + (*TOPICS, "missing"))
        self.second_topic = chance.choice((None,) * 6 + ("plain", "compact"))
        self.version = chance.choice(VERSIONS[self.api])
        self.acks = chance.choice((-1, -1, -1, -1, 1, 1, 1, 0, 0, 2))
        self.count = chance.choice((1, 1, 1, 2, 3))
        self.records = chance.choice((1, 1, 1, 3, 40))
        self.size = chance.choice((10, 100, 100, 3000))
        self.codec = chance.choice((0, 0, 0, 0, GZIP, LZ4))
        self.producer = number + 1 if chance.random() < 0.5 else -1
        self.client_id = chance.choice(("app", "", None, "ü" * 5))
        self.isolation = chance.choice((0, 0, 1))
        self.session = chance.choice((-1, -1, 0, 0))
        if self.version < FIRST_WITH_SESSIONS:
            self.session = -1
        self.replica = 2 if self.session == 0 and chance.random() < 0.4 else -1
        if self.api == FETCH and self.replica >= 0:
            self.topic = "replicated"
        self.max_bytes = chance.choice((1, 200, 200, 1000, 5000, 1 << 20))
        self.min_bytes = chance.choice((0, 1, 1, 1, 1, 500))
        self.max_wait_ms = chance.choice((0, 0, 100))
        ids = {name: topic_id_of(number) for name, number in TOPICS.items()}
        self.question = Question(chance, self.api, ids)


class Clients:
    """All clients of a life."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = chance.randrange(1, 6)
        self.sent = 0
        self.habits = [Habit(chance, number) for number in range(self.count)]
        self.sequences: dict[tuple[int, str, int], int] = {}
        self.sessions = [(0, 0)] * self.count
        self.offsets: dict[tuple[str, int], int] = {}
        self.member = ("", -1)
        """Id and generation of the one member of GROUP, as they are by now."""

    def prepare_node(self, node: Node) -> None:
        """Topics of all kinds."""
        kinds: dict[str, dict[str, Any]] = {
            "plain": {},
            "compact": {"cleanup_policy": "compact"},
            "stamped": {"message_timestamp_type": "LogAppendTime"},
            "zipped": {"compression_type": "gzip"},
            "replicated": {"replicas": (1, 2), "isr": (1, 2)},
            "tight": {"segment_bytes": "1048576", "max_message_bytes": "1000"},
        }
        node.register(2)
        for name, config in kinds.items():
            node.create_topic(name, PARTITIONS, TOPICS[name], **config)

    def requests(self, is_quiet: bool, waiting: Container[int]) -> list[tuple[int, bytes]]:
        """What some clients send in this step: (client, the bytes of one or more frames).

        None of those that are `waiting` for an answer: two pipelines could pile up behind two of
        them.

        Either one client sends many frames, or many clients send one: which frame of a pipeline is
        served before which one of another connection is nobody's promise, nor how much of a
        pipeline a waiting fetch sees, or is served when a disk fails: so there are none while
        something waits, or on a broken disk.
        """
        chance = self.chance
        sent = []
        lone = chance.randrange(self.count) if chance.random() < 0.5 else -1
        for number in range(self.count):
            if number != lone if lone >= 0 else chance.random() < 0.2:
                continue
            if number in waiting:
                continue
            if chance.random() < 0.02:
                self.habits[number] = Habit(chance, number)
            habit = self.habits[number]
            frames = []
            pipelined = chance.choice((1, 2, 6, 50))
            for _ in range(pipelined if lone >= 0 and is_quiet else 1):
                if habit.api == PRODUCE:
                    frames.append(self.produce(number, habit))
                elif habit.api == FETCH:
                    frames.append(self.fetch(number, habit))
                else:
                    message = habit.question.message(habit.version, self.member)
                    frames.append(self.frame(habit, message, habit.api))
            self.sent += len(frames)
            content = b"".join(frames)
            if lone >= 0 and chance.random() < 0.2:
                at = chance.randrange(len(content) + 1)
                sent += [(number, content[:at]), (number, content[at:])] if at else []
                self.sent -= 0 if at else len(frames)
            else:
                sent.append((number, content))
        return [(number, content) for number, content in sent if content]

    def frame(self, habit: Habit, message: Any, key: int) -> bytes:
        """One frame; a few are not what anybody would send."""
        out: Parts = []
        correlation_id = self.chance.randrange(-5, 1 << 31)
        encode_request(APIS[key], habit.version, correlation_id, habit.client_id, message, out)
        frame = bytearray(join_parts(out))
        if self.chance.random() < 0.004:
            frame[self.chance.randrange(4, len(frame))] ^= 1 << self.chance.randrange(8)
        if self.chance.random() < 0.004:
            frame += b"\0" * self.chance.randrange(1, 4)
            struct.pack_into(">i", frame, 0, len(frame) - 4)
        return bytes(frame)

    # ---- Produce

    def batch(self, habit: Habit, number: int, index: int, topic: str) -> bytes:
        """One batch, most of them sound."""
        chance = self.chance
        times = [NOW_MS + chance.choice((0, 0, 0, 1, -500)) for _ in range(habit.records)]
        if chance.random() < 0.02:
            times[-1] += chance.choice((-1, 1)) * (1 << 40)
        fields: dict[str, Any] = {}
        if habit.producer >= 0:
            where = (habit.producer, topic, index)
            sequence = self.sequences.get(where, 0)
            step = chance.choice((0,) * 40 + (-1, 1, -habit.records))
            if not step:
                self.sequences[where] = sequence + habit.records
            fields = {
                "producer_id": habit.producer,
                "producer_epoch": 0 if chance.random() < 0.98 else 1,
                "base_sequence": sequence + step,
                "is_transactional": chance.random() < 0.01,
            }
        key = b"key" if topic == "compact" or chance.random() < 0.3 else None
        records: list[NewRecord] = [(key, b"v" * habit.size, at, ()) for at in times]
        batch = build_batch(records, codec=habit.codec, **fields)
        if chance.random() < 0.01:
            batch[chance.randrange(len(batch))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.01:
            batch += bytes(batch)
        return bytes(batch)

    def produce(self, number: int, habit: Habit) -> bytes:
        chance = self.chance
        indexes = [chance.randrange(PARTITIONS) for _ in range(habit.count)]
        if chance.random() < 0.9:
            indexes = sorted(set(indexes))
        if chance.random() < 0.02:
            indexes[0] = 17
        parts = [
            PartitionProduceData(
                index=index,
                records=None
                if chance.random() < 0.005
                else memoryview(self.batch(habit, number, index, habit.topic)),
            )
            for index in indexes
        ]
        topics = [
            TopicProduceData(
                name=habit.topic,
                topic_id=topic_id_of(TOPICS.get(habit.topic, 99)),
                partition_data=parts,
            )
        ]
        if habit.second_topic is not None:
            topics.append(self.second_topic(number, habit, habit.second_topic))
        message = ProduceRequest(
            transactional_id="t" if chance.random() < 0.002 else None,
            acks=habit.acks,
            timeout_ms=1000,
            topic_data=topics,
        )
        return self.frame(habit, message, PRODUCE)

    def second_topic(self, number: int, habit: Habit, name: str) -> TopicProduceData:
        """What goes to another topic, or nothing, or to the same one again."""
        chance = self.chance
        topic = TopicProduceData(name=name, topic_id=topic_id_of(TOPICS[name]))
        if chance.random() < 0.95:
            index = chance.randrange(PARTITIONS)
            records = memoryview(self.batch(habit, number, index, name))
            topic.partition_data = [PartitionProduceData(index=index, records=records)]
        return topic

    # ---- Fetch

    def fetch(self, number: int, habit: Habit) -> bytes:
        chance = self.chance
        session_id, epoch = self.sessions[number]
        names: list[int] = list(range(habit.count))
        if habit.session < 0:
            session_id, epoch = 0, -1
        elif epoch > 0 and chance.random() < 0.8:
            names = chance.choice(([], [0], [1], [2], [0, 2]))
        topics = [self.fetch_topic(habit, habit.topic, names)] if names else []
        if habit.session == 0 and chance.random() < 0.03:
            other = habit.second_topic or chance.choice(("plain", "compact", "missing"))
            topics.append(self.fetch_topic(habit, other, [chance.randrange(PARTITIONS)]))
        forgotten = []
        if epoch > 0 and chance.random() < 0.02:
            name = chance.choice((habit.topic, habit.topic, "plain", "missing"))
            indexes = list(range(chance.randrange(PARTITIONS + 1)))
            topic_id = topic_id_of(TOPICS.get(name, 99))
            forgotten = [ForgottenTopic(topic=name, topic_id=topic_id, partitions=indexes)]
        state = None
        if habit.replica >= 0 and habit.version >= FIRST_WITH_REPLICA_STATE:
            state = ReplicaState(replica_id=2, replica_epoch=chance.choice((10,) * 30 + (-1, 9)))
        message = FetchRequest(
            replica_id=habit.replica if habit.version < FIRST_WITH_REPLICA_STATE else -1,
            replica_state=state,
            max_wait_ms=habit.max_wait_ms,
            min_bytes=habit.min_bytes,
            max_bytes=habit.max_bytes,
            isolation_level=habit.isolation,
            session_id=session_id + (epoch > 0 and chance.random() < 0.01),
            session_epoch=epoch + (epoch > 0 and chance.random() < 0.01),
            topics=topics,
            forgotten_topics_data=forgotten,
            rack_id="r" if chance.random() < 0.005 else "",
        )
        if epoch > 0:
            self.sessions[number] = (session_id, epoch + 1)
        return self.frame(habit, message, FETCH)

    def fetch_topic(self, habit: Habit, name: str, indexes: list[int]) -> FetchTopic:
        """What is asked of a topic, a little further than before."""
        chance = self.chance
        parts = []
        for index in indexes:
            at = self.offsets.get((name, index), 0)
            self.offsets[name, index] = at + chance.choice((0,) * 9 + (1, 1, 3, -2))
            parts.append(
                FetchPartition(
                    partition=index,
                    current_leader_epoch=chance.choice((-1, -1, 0, 1)),
                    fetch_offset=max(at, 0) if chance.random() < 0.95 else 1 << 40,
                    last_fetched_epoch=chance.choice((-1,) * 12 + (0, 0, 1))
                    if habit.version >= FIRST_WITH_LAST_EPOCH
                    else -1,
                    log_start_offset=-1 if habit.replica < 0 else chance.choice((0, 0, 0, 1)),
                    partition_max_bytes=habit.max_bytes,
                )
            )
        return FetchTopic(topic=name, topic_id=topic_id_of(TOPICS.get(name, 99)), partitions=parts)

    def note(self, number: int, sent: bytes) -> None:
        """What a client was answered: the id of its new session."""
        habit = self.habits[number]
        if habit.api != FETCH or habit.session < 0:
            self.sessions[number] = (0, 0)
            return
        position = 0
        while position < len(sent):
            (size,) = struct.unpack_from(">i", sent, position)
            frame = memoryview(sent)[position + 4 : position + 4 + size]
            position += 4 + size
            try:
                _, at = decode_response_header(frame, APIS[FETCH], habit.version)
                reply = FetchResponse.decode(frame, at, habit.version)[0]
            except DecodeError:  # it answers what was asked before the habits changed
                continue
            if reply.error_code:
                self.sessions[number] = (0, 0)
            elif reply.session_id != self.sessions[number][0]:
                self.sessions[number] = (reply.session_id, 1)


# ---- what happens on a node


def happen(chance: random.Random) -> Callable[[AskedNode], None]:
    """Something that changes the answers of many requests, or none."""
    topic = chance.choice((*TOPICS, "plain", "plain", "plain", "plain", "replicated"))
    index = chance.randrange(PARTITIONS)
    number = chance.randrange(1 << 30)

    def set_config(name: str, value: str | None) -> Callable[[AskedNode], None]:
        record = ConfigRecord(
            resource_type=TOPIC_RESOURCE, resource_name=topic, name=name, value=value
        )
        return lambda broker: broker.node.apply(record)

    def change(leader: int, isr: list[int] | None = None) -> Callable[[AskedNode], None]:
        record = PartitionChangeRecord(
            topic_id=topic_id_of(TOPICS[topic]), partition_id=index, leader=leader, isr=isr
        )
        return lambda broker: change_if_there(broker, record)

    return chance.choice(
        (
            lambda broker: pass_time(broker, 10 + number % 200),
            lambda broker: pass_time(broker, 10 + number % 200),
            lambda broker: pass_time(broker, 2000),
            lambda broker: pass_time(broker, 130_000 if number % 8 == 0 else 50),
            lambda broker: follow(broker),
            lambda broker: follow(broker),
            set_config("max.message.bytes", chance.choice(("150", "5000", None))),
            set_config("message.timestamp.type", chance.choice(("LogAppendTime", None))),
            set_config("cleanup.policy", chance.choice(("compact", "delete"))),
            set_config("min.insync.replicas", chance.choice(("1", "2", None))),
            set_config("segment.ms", chance.choice(("1", None, None))),
            set_config("compression.type", chance.choice(("lz4", "producer"))),
            change(1),
            change(1),
            change(-1),
            change(2),
            change(1, [1]),
            change(1, [1, 2]),
            lambda broker: recreate(broker, topic, same_id=number % 2 == 0),
            lambda broker: roll(broker, topic, index),
            lambda broker: delete_records(broker, topic, index),
            lambda broker: abort_transaction(broker, topic, index, number),
            lambda broker: broker.let_join(),
            lambda broker: lead_groups(broker, leader=1 + number % 2),
            lambda broker: lead_groups(broker, leader=1),
            lambda broker: break_disk(broker) if number % 8 == 0 else None,
        )
    )


def change_if_there(broker: AskedNode, record: PartitionChangeRecord) -> None:
    """A topic may have been made anew with another id."""
    if record.topic_id in broker.node.image.topics_by_id:
        broker.node.apply(record)


def pass_time(broker: AskedNode, ms: int) -> None:
    broker.advance(ms)
    broker.node.purgatory.advance(broker.node.now_ms)
    broker.wake()


def lead_groups(broker: AskedNode, leader: int) -> None:
    """The partitions of `__consumer_offsets` get another leader, or a new epoch."""
    topic_id = topic_id_of(OFFSETS_TOPIC_NUMBER)
    if broker.node.files.fail is None:
        broker.apply(
            *(
                PartitionChangeRecord(topic_id=topic_id, partition_id=index, leader=leader)
                for index in range(OFFSETS_PARTITIONS)
            )
        )


def follow(broker: AskedNode) -> None:
    """The follower fetches all that there is."""
    for index in range(PARTITIONS):
        partition = broker.replica_manager.find("replicated", index)
        if partition is not None and partition.is_leader and 2 in partition.followers:
            broker.node.follower_fetch(partition, partition.log.log_end_offset)
    broker.wake()


def recreate(broker: AskedNode, name: str, same_id: bool) -> None:
    node = broker.node
    topic = node.image.topic(name)
    if topic is not None and node.files.fail is None:
        number = int.from_bytes(topic.id, "big")
        node.delete_topic(number)
        node.create_topic(name, PARTITIONS, number if same_id else number + 10)


def roll(broker: AskedNode, name: str, index: int) -> None:
    partition = broker.replica_manager.find(name, index)
    if partition is not None and partition.hosted:
        partition.log.roll(broker.node.now_ms)


def delete_records(broker: AskedNode, name: str, index: int) -> None:
    partition = broker.replica_manager.find(name, index)
    if partition is not None and partition.is_leader and not partition.log.config.compact:
        record_deletion.delete_records(partition, -1)


def abort_transaction(broker: AskedNode, name: str, index: int, producer_id: int) -> None:
    """Somebody writes one record and takes it back."""
    node, manager = broker.node, broker.replica_manager
    partition = manager.find(name, index)
    if partition is None or not partition.is_leader or node.files.fail is not None:
        return
    marker = build_marker_batch(
        EndTxnMarker(ABORT, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=node.now_ms
    )
    fields: dict[str, Any] = {
        "producer_id": producer_id,
        "producer_epoch": 0,
        "base_sequence": 0,
    }
    record = build_batch([(b"key", b"v", node.now_ms, [])], is_transactional=True, **fields)
    for content, origin in ((record, AppendOrigin.CLIENT), (marker, AppendOrigin.COORDINATOR)):
        manager.append(partition, memoryview(content), 1, node.now_ms, origin)
    broker.wake()


def break_disk(broker: AskedNode) -> None:
    broker.node.fail_writes()

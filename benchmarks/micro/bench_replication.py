"""The cost of replicas: follower fetches and produce on the leader, appends on a follower.

    python -m benchmarks.micro.bench_replication [--directory DIR] [--partitions N] [--rounds N]
                                                 [--scale X] [--profile ROW]

No sockets: frames are in memory, the leader's replies to followers are joined as they would be
sent. Logs are real files. Produce has two followers, each with one incremental session. Figures are
processor time: the median and the best of several rounds, with the garbage collector set as in a
node. Turns of the leader with and without followers alternate, so that "on top of one" is the
difference of rounds under the same conditions. Budgets: a produce request on the leader with 20
requests a turn, <= 8 us on top of one replica; a small batch on a follower <= 12 us; an idle
session of 1,000 partitions <= 300 us a fetch. The last row counts how often the polls of consumers
that wait on a partition are looked at for a turn of appends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.command_line import add_effort, count, parser_for
from benchmarks.micro.bench_handlers import GATHERED, NOW_MS, Broker, encoded, served
from benchmarks.micro.follower_connection import API as FETCH_API
from benchmarks.micro.follower_connection import VERSION as FETCH_VERSION
from benchmarks.micro.follower_connection import FollowerConnection
from benchmarks.micro.turn_report import Report, Stopwatch
from pykbroker.broker.handlers.fetch import HANDLER as FETCH
from pykbroker.broker.handlers.produce import HANDLER as PRODUCE
from pykbroker.broker.process_settings import settle_collector
from pykbroker.broker.requests.fetching import WaitingFetch
from pykbroker.deferred import Deferred, spawn
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import Provenance
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import (
    decode_response_header,
    encode_request,
    encode_response,
)
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import assign_offset, build_batch
from pykbroker.replication.fetch_plan import FetchLimits, FetchPlan, Followed
from pykbroker.replication.fetcher import Fetcher, FetcherWorld
from pykbroker.replication.partition import Partition
from pykbroker.types import Peer

ROUNDS = 7
FOLLOWERS = (2, 3)
BROKER_EPOCH = 10
BUSY_PARTITIONS = 10
POLLS = 10
LIMITS = FetchLimits(
    wait_max_ms=500,
    min_bytes=1,
    response_max_bytes=10 << 20,
    max_bytes=1 << 20,
    backoff_ms=1000,
)
FRAME_LENGTH_BYTES = 4
PRODUCE_VERSION = 13
PRODUCE_API = API_BY_NAME["Produce"]


class Topic:
    """The values of a topic that a row needs."""

    def __init__(self, name: str, replicas: list[int], partitions: int) -> None:
        self.name = name
        self.id = name.encode().rjust(16)
        self.replicas = replicas
        self.partitions = partitions


class Node(Broker):
    """Node 1, which leads partitions or follows others; `clock_ms` moves as a row says."""

    def __init__(self, directory: str, topics: Sequence[Topic]) -> None:
        os.makedirs(directory)
        super().__init__(directory)
        self.clock_ms = NOW_MS
        self.breathe = _ignore
        self.watch = Stopwatch()
        delta = MetadataDelta(self.replica_manager.image)
        for broker_id in FOLLOWERS:
            delta.replay(
                RegisterBrokerRecord(broker_id=broker_id, broker_epoch=BROKER_EPOCH, fenced=False)
            )
        for topic in topics:
            delta.replay(TopicRecord(name=topic.name, topic_id=topic.id))
            for number in range(topic.partitions):
                delta.replay(_assignment(topic, number))
        image = delta.apply(Provenance(1, 0, NOW_MS))
        self.replica_manager.apply(delta, image, NOW_MS)

    def now_ms(self) -> int:
        return self.clock_ms

    def partition(self, topic: Topic, number: int) -> Partition:
        found = self.replica_manager.find(topic.name, number)
        assert found is not None
        return found

    def handle(self, handler: Any, message_class: Any, frame: bytearray, version: int) -> Any:
        """Decode and handle a request; return its outcome."""
        request = SimpleNamespace(
            frame=frame,
            message=message_class.decode(memoryview(frame), 0, version)[0],
            api_version=version,
            client_id="c",
            received_ms=self.clock_ms,
            listener_name="PLAINTEXT",
            connection=SimpleNamespace(
                closed=False,
                call_on_close=_ignore,
                listener=SimpleNamespace(name="PLAINTEXT"),
            ),
        )
        return handler.handle(self, request)


def _assignment(topic: Topic, number: int) -> PartitionRecord:
    return PartitionRecord(
        topic_id=topic.id,
        partition_id=number,
        replicas=topic.replicas,
        isr=topic.replicas,
        leader=topic.replicas[0],
        leader_epoch=0,
        partition_epoch=0,
    )


def _ignore(*arguments: object) -> None:
    pass


class Session:
    """One follower's fetches from a leader: only the leader's work is timed."""

    def __init__(self, leader: Node, replica_id: int, topic: Topic) -> None:
        self._leader = leader
        self._topic = topic
        self._plan = FetchPlan(replica_id, LIMITS)
        self._connection = FollowerConnection(leader)
        for number in range(topic.partitions):
            self._plan.add(Followed((topic.id, number), 0, 0, -1, 0))
        for _ in range(4):  # creates the session and reports every partition
            self.ask()
            self.expire()
            self.take()

    def ask(self) -> None:
        """Send the next fetch to the leader."""
        leader = self._leader
        message = self._plan.next_request(BROKER_EPOCH, leader.clock_ms)
        assert message is not None
        parts: Parts = []
        encode_request(FETCH_API, FETCH_VERSION, 1, f"follower-{id(self)}", message, parts)
        frame = join_parts(parts)[FRAME_LENGTH_BYTES:]
        with leader.watch:
            self._connection.receive(frame)

    def expire(self) -> None:
        """Let the longest wait of a fetch end."""
        leader = self._leader
        leader.clock_ms += LIMITS.wait_max_ms
        with leader.watch:
            leader.purgatory.advance(leader.clock_ms)

    @property
    def is_answered(self) -> bool:
        return self._connection.replied is not None

    def take(self) -> int:
        """Process the response to the last fetch as appended; return the number of its entries."""
        parts = self._connection.replied
        assert parts is not None
        with self._leader.watch:
            joined = join_parts(parts)
        frame = memoryview(joined)[FRAME_LENGTH_BYTES:]
        _, position = decode_response_header(frame, FETCH_API, FETCH_VERSION)
        response = FetchResponse.decode(frame, position, FETCH_VERSION)[0]
        served("a follower's fetch", [response])
        answered = 0
        for followed, entry in self._plan.answered(response, self._leader.clock_ms):
            answered += 1
            if entry.records:
                partition = self._leader.partition(self._topic, followed.key[1])
                self._plan.move(followed, partition.log.log_end_offset, 0, 0)
        return answered


# ---- the leader


def bench_idle(directory: str, partitions: int, report: Report) -> None:
    topic = Topic("idle", [1, *FOLLOWERS], partitions)
    leader = Node(directory, [topic])
    session = Session(leader, FOLLOWERS[0], topic)

    def turn() -> int:
        session.ask()
        session.expire()
        assert session.take() == 0
        return 1

    report.row(f"an idle session of {partitions} partitions, a fetch", leader.watch, turn, 50)


def produce_frame(topic: Topic, number: int, acks: int) -> bytearray:
    batch = build_batch([(None, b"v" * 100, NOW_MS, ())])
    parts = [PartitionProduceData(index=number, records=batch)]
    message = ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(topic_id=topic.id, partition_data=parts)],
    )
    return encoded(message, PRODUCE_VERSION)


def bench_produce(directory: str, partitions: int, report: Report) -> None:
    lone = Topic("lone", [1], partitions)
    replicated = Topic("busy", [1, *FOLLOWERS], partitions)
    leader = Node(directory, [lone, replicated])
    sessions = [Session(leader, replica_id, replicated) for replica_id in FOLLOWERS]
    for acks in (1, -1):
        alone = Producing(leader, lone, [], acks)
        followed = Producing(leader, replicated, sessions, acks)
        name = f"produce acks={acks}, partitions {partitions}, replicas"
        names = f"{name} {len(lone.replicas)}", f"{name} {len(replicated.replicas)}"
        report.pair(names, leader.watch, (alone.turn, followed.turn), 50)
        followed.stop()


class Producing:
    """Turns of many producers' requests, with the fetches of the followers between them."""

    def __init__(self, leader: Node, topic: Topic, followers: Sequence[Session], acks: int) -> None:
        self._leader = leader
        self._followers = followers
        self._acks = acks
        self._frames = [
            produce_frame(topic, number % topic.partitions, acks) for number in range(GATHERED)
        ]
        for session in followers:
            session.ask()

    def stop(self) -> None:
        """End the waiting fetches."""
        for session in self._followers:
            session.expire()
            session.take()

    def turn(self) -> int:
        leader = self._leader
        frames = [frame.copy() for frame in self._frames]
        with leader.watch:
            outcomes = [
                leader.handle(PRODUCE, ProduceRequest, frame, PRODUCE_VERSION) for frame in frames
            ]
            leader.replica_manager.end_turn(leader.clock_ms)
        for session in self._followers:
            assert session.is_answered
            session.take()
            session.ask()  # tells that it has them, and waits for more
        replies: list[Message] = []
        for outcome in outcomes:
            assert not isinstance(outcome, Deferred) or outcome.done, "not acknowledged"
            replies.append(outcome.value if isinstance(outcome, Deferred) else outcome)
        with leader.watch:
            for reply in replies:
                encode_response(PRODUCE_API, PRODUCE_VERSION, 1, reply, [])
        served("produce", replies)
        return len(frames)


# ---- the follower


class Following:
    """Node 1 follows what node 2 leads: each turn brings an answer with new batches."""

    def __init__(self, directory: str, partitions: int, batches: int) -> None:
        self.topic = topic = Topic("followed", [2, 1], partitions)
        self.node = Node(directory, [topic])
        self._batches = batches
        self._batch = build_batch([(None, b"v" * 100, NOW_MS, ())])
        self._next_offset = 0
        self._session_id = 7
        self._asked = Deferred()
        world = FetcherWorld(
            manager=self.node.replica_manager,
            scheduler=SimpleNamespace(),
            now_ms=lambda: NOW_MS,
            peer_of=lambda node_id: Peer(node_id, "127.0.0.1", 9092),
            broker_epoch=lambda: BROKER_EPOCH,
            on_progress=lambda: None,
            limits=LIMITS,
            request_timeout_ms=30_000,
        )
        fetcher = Fetcher(2, world, self._send)
        for number in range(partitions):
            fetcher.follow(self.node.partition(topic, number))
        spawn(fetcher.run())
        self._answer(b"")

    def _send(self, peer: Peer, message: Message, deadline_ms: int) -> Deferred:
        encoded(message, FETCH_VERSION)
        self._asked = Deferred()
        return self._asked

    def turn(self) -> int:
        """Process one response with the next batches of every partition; return their number."""
        records = bytearray()
        for offset in range(self._next_offset, self._next_offset + self._batches):
            batch = self._batch.copy()
            assign_offset(batch, offset, 0)
            records += batch
        self._next_offset += self._batches
        self._answer(bytes(records))
        log = self.node.partition(self.topic, self.topic.partitions - 1).log
        assert log.log_end_offset == self._next_offset
        return self.topic.partitions * self._batches

    def _answer(self, records: bytes) -> None:
        entries = [
            PartitionData(
                partition_index=number,
                high_watermark=max(self._next_offset - self._batches, 0),
                last_stable_offset=-1,
                log_start_offset=0,
                records=records,
            )
            for number in range(self.topic.partitions)
        ]
        response = FetchResponse(
            session_id=self._session_id,
            responses=[FetchableTopicResponse(topic_id=self.topic.id, partitions=entries)],
        )
        frame = encoded(response, FETCH_VERSION)
        with self.node.watch:
            self._asked.resolve(FetchResponse.decode(memoryview(frame), 0, FETCH_VERSION)[0])


def bench_follower(directory: str, report: Report) -> None:
    for partitions, batches in ((1, 1), (1, GATHERED), (BUSY_PARTITIONS, 2)):
        following = Following(f"{directory}-{partitions}-{batches}", partitions, batches)
        name = f"a batch on a follower, {batches} of {partitions} partitions an answer"
        report.row(name, following.node.watch, following.turn, 400 // batches)


# ---- consumers' polls


class Looks:
    """Counts how often a waiting fetch is checked."""

    def __init__(self) -> None:
        self.count = 0
        self._look = WaitingFetch.is_enough

    def __enter__(self) -> Looks:
        look = self._look

        def counted(waiting: WaitingFetch) -> bool:
            self.count += 1
            return look(waiting)

        WaitingFetch.is_enough = counted  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *error: object) -> None:
        WaitingFetch.is_enough = self._look  # type: ignore[method-assign]


def bench_polls(directory: str) -> None:
    """Polls that wait for more bytes than come, until what was appended is on all replicas."""
    topic = Topic("polled", [1, *FOLLOWERS], 1)
    leader = Node(directory, [topic])
    sessions = [Session(leader, replica_id, topic) for replica_id in FOLLOWERS]
    producing = Producing(leader, topic, sessions, -1)
    for _ in range(POLLS):
        assert not leader.handle(FETCH, FetchRequest, poll_frame(topic), FETCH_VERSION).done
    with Looks() as looks:
        producing.turn()
    print(f"looks at {POLLS} polls, {GATHERED} requests a turn {looks.count:29}", flush=True)


def poll_frame(topic: Topic) -> bytearray:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 30)
    message = FetchRequest(
        max_wait_ms=100 * LIMITS.wait_max_ms,
        min_bytes=1 << 29,
        max_bytes=1 << 30,
        session_epoch=-1,
        topics=[FetchTopic(topic_id=topic.id, partitions=[asked])],
    )
    return encoded(message, FETCH_VERSION)


def main(words: Sequence[str] | None = None) -> None:
    """Print all rows."""
    parser = parser_for("benchmarks.micro.bench_replication", __doc__)
    parser.add_argument("--directory", help="directory of the logs (default: a temporary one)")
    parser.add_argument(
        "--partitions",
        type=count,
        default=1000,
        help="partitions of the idle session (default %(default)s)",
    )
    parser.add_argument(
        "--profile",
        metavar="ROW",
        help="profile by function the rows whose names contain this text",
    )
    add_effort(parser, ROUNDS)
    arguments = parser.parse_args(words)
    settle_collector()
    report = Report(arguments.rounds, arguments.scale, arguments.profile)
    directory = tempfile.mkdtemp(prefix="bench-replication-", dir=arguments.directory)
    try:
        bench_idle(f"{directory}/idle", arguments.partitions, report)
        for partitions in (1, BUSY_PARTITIONS):
            bench_produce(f"{directory}/produce-{partitions}", partitions, report)
        bench_follower(f"{directory}/follower", report)
        bench_polls(f"{directory}/polls")
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()

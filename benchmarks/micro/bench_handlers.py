"""The cost of Produce and Fetch between the frame and the reply: decode, handle, write, encode.

    python -m benchmarks.micro.bench_handlers [--directory DIR] [--profile produce|fetch]
                                              [--rounds N] [--scale X]

No sockets: the frame is in memory, the reply's parts are dropped. Logs are real files. Budgets: a
one-record produce under load <= 25 us in all, a small fetch <= 25 us, a fetch of one partition
<= 40 us before its bytes. "gathered": 20 requests a turn, as under load; "alone": one. Figures are
the median of several rounds, per request, with the share of each step.
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from benchmarks.command_line import add_effort, parser_for, times
from pykbroker.broker.handlers.fetch import HANDLER as FETCH
from pykbroker.broker.handlers.produce import HANDLER as PRODUCE
from pykbroker.broker.requests.cold_reads import ColdReads
from pykbroker.broker.requests.fetch_sessions import FetchSessions
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.environment.real.background import RealBackground
from pykbroker.environment.real.files import RealFiles
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.metrics import Counters
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.messages import fetch_request, produce_request
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from pykbroker.purgatory import Purgatory
from pykbroker.replication.replica_manager import ReplicaManager

NOW_MS = int(time.time() * 1000)
TOPIC_ID = b"benchmark topic!"
PARTITIONS = 10
ROUNDS = 7
GATHERED = 20


def lone_replica(topic_id: bytes, number: int) -> PartitionRecord:
    """Return a new partition that this node leads, with no other replica."""
    return PartitionRecord(
        topic_id=topic_id,
        partition_id=number,
        replicas=[1],
        isr=[1],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


class Broker:
    """A node's data plane."""

    def __init__(self, directory: str) -> None:
        self.config = BrokerConfig.from_properties(standalone_properties(directory, port=0))
        self.counters = Counters()
        self.wall_ms = lambda: NOW_MS
        self.purgatory = Purgatory(NOW_MS)
        self.log_manager = LogManager(self.config.log_directories, self.config, RealFiles())
        self.log_manager.load(NOW_MS)
        self.replica_manager = ReplicaManager(1, self.log_manager, self.purgatory, self.config)
        ids = iter(range(1, 1 << 30))
        self.fetch_sessions = FetchSessions(
            1000, lambda first, end: first + next(ids), self.replica_manager.follower_session
        )
        files = self.log_manager.files
        loop = asyncio.new_event_loop()
        self.cold_reads = ColdReads(RealBackground(loop).threads("disk"), files, lambda: None)
        empty = MetadataImage()
        self.replica_manager.apply(MetadataDelta(empty), empty, NOW_MS)  # what it starts with
        delta = MetadataDelta(empty)
        delta.replay(TopicRecord(name="t", topic_id=TOPIC_ID))
        for number in range(PARTITIONS):
            delta.replay(lone_replica(TOPIC_ID, number))
        image = delta.apply(Provenance(0, 0, NOW_MS))
        self.replica_manager.apply(delta, image, NOW_MS)


class Steps:
    """One API: frames through decode, handle, end of turn, encode, each with its time."""

    def __init__(self, broker: Broker, handler: Any, decode: Any, version: int) -> None:
        self.broker = broker
        self.handler = handler
        self.decode = decode
        self.version = version
        self.api = API_BY_NAME["Produce" if handler is PRODUCE else "Fetch"]
        self.seconds = [0.0] * 4
        self.replies: list[Message] = []

    def turn(self, frames: list[bytearray]) -> None:
        clock = time.perf_counter
        broker, version = self.broker, self.version
        started = clock()
        messages = [self.decode(memoryview(frame), 0, version)[0] for frame in frames]
        decoded = clock()
        outcomes = [
            self.handler.handle(
                broker,
                SimpleNamespace(
                    frame=frame,
                    message=message,
                    api_version=version,
                    client_id="c",
                    received_ms=NOW_MS,
                    listener_name="PLAINTEXT",
                    connection=None,
                ),
            )
            for frame, message in zip(frames, messages, strict=True)
        ]
        handled = clock()
        broker.replica_manager.end_turn(NOW_MS)
        written = clock()
        self.replies = [
            outcome.value if isinstance(outcome, Deferred) else outcome for outcome in outcomes
        ]
        for reply in self.replies:
            encode_response(self.api, version, 1, reply, [])
        ended = clock()
        for step, spent in enumerate(
            (decoded - started, handled - decoded, written - handled, ended - written)
        ):
            self.seconds[step] += spent


class Report:
    """Measures and prints rows."""

    def __init__(self, rounds: int, scale: float) -> None:
        self._rounds = rounds
        self._scale = scale

    def row(
        self, name: str, steps: Steps, make_frames: Callable[[], list[bytearray]], turns: int
    ) -> None:
        rounds = []
        for _ in range(self._rounds):
            steps.seconds = [0.0] * 4
            count = 0
            for _ in range(times(turns, self._scale)):
                frames = make_frames()
                count += len(frames)
                steps.turn(frames)
            served(name, steps.replies)
            rounds.append([spent / count * 1e6 for spent in steps.seconds])
        best, *_ = rounds = sorted(rounds, key=sum)
        decode, handle, write, encode = median = rounds[self._rounds // 2]
        spread = statistics.pstdev(sum(steps) for steps in rounds)
        print(
            f"{name:34} {sum(median):7.2f} us (best {sum(best):.2f}, +-{spread:.2f}): decode "
            f"{decode:.2f}, handle {handle:.2f}, end of turn {write:.2f}, encode {encode:.2f}"
        )


def served(name: str, replies: Sequence[Message]) -> None:
    """Check that what was measured was served: an error response costs little."""
    assert replies
    for reply in replies:
        assert set(error_codes(reply)) == {0}, (name, reply)


def error_codes(value: Any) -> Iterator[int]:
    """Return the error codes of a reply and of all its parts."""
    if isinstance(value, list):
        for each in value:
            yield from error_codes(each)
    elif isinstance(value, Message):
        for field in type(value).__slots__:
            if field == "error_code":
                yield value.error_code  # type: ignore[attr-defined]
            else:
                yield from error_codes(getattr(value, field))


def produce_frame(acks: int, partitions: int = 1, value_bytes: int = 100) -> bytearray:
    batch = build_batch([(None, b"v" * value_bytes, NOW_MS, ())])
    message = produce_request.ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            produce_request.TopicProduceData(
                name="t",
                partition_data=[
                    produce_request.PartitionProduceData(index=index, records=batch)
                    for index in range(partitions)
                ],
            )
        ],
    )
    return encoded(message, 9)


def fetch_frame(
    offset: int, partitions: int, session: tuple[int, int] = (0, -1), version: int = 12
) -> bytearray:
    asked = [
        fetch_request.FetchPartition(
            partition=index, fetch_offset=offset, partition_max_bytes=1 << 20
        )
        for index in range(partitions)
    ]
    topics = [fetch_request.FetchTopic(topic="t", topic_id=TOPIC_ID, partitions=asked)]
    message = fetch_request.FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics if partitions else [],
    )
    return encoded(message, version)


def copies(frame: bytearray, count: int) -> list[bytearray]:
    return [frame.copy() for _ in range(count)]


def encoded(message: Any, version: int) -> bytearray:
    parts: list[Any] = []
    message.encode(parts, version)
    return bytearray(b"".join(bytes(part) for part in parts))


def bench_produce(broker: Broker, report: Report) -> None:
    steps = Steps(broker, PRODUCE, produce_request.ProduceRequest.decode, 9)
    for acks in (1, -1):
        frame = produce_frame(acks)
        alone = partial(copies, frame, 1)
        report.row(f"produce acks={acks} alone", steps, alone, 2000)
        gathered = partial(copies, frame, GATHERED)
        report.row(f"produce acks={acks} gathered", steps, gathered, 200)
    ten = produce_frame(1, PARTITIONS)
    report.row("produce 10 partitions alone", steps, lambda: [ten.copy()], 500)


def bench_fetch(broker: Broker, report: Report) -> None:
    write = Steps(broker, PRODUCE, produce_request.ProduceRequest.decode, 9)
    write.turn(copies(produce_frame(1, PARTITIONS), GATHERED))  # whatever else was written
    steps = Steps(broker, FETCH, fetch_request.FetchRequest.decode, 12)
    one = fetch_frame(5, 1)
    report.row("fetch 1 partition, no session", steps, lambda: [one], 2000)
    ten = fetch_frame(5, PARTITIONS)
    report.row("fetch 10 partitions, no session", steps, lambda: [ten], 500)
    for partitions in (1, PARTITIONS):
        report.row(
            f"fetch {partitions} at the end, in a session",
            steps,
            session_frames(broker, partitions),
            1000,
        )


def session_frames(broker: Broker, partitions: int) -> Callable[[], list[bytearray]]:
    """Return incremental requests of one session over partitions without new records."""
    end = broker.replica_manager.find("t", 0).log.log_end_offset  # type: ignore[union-attr]
    for index in range(1, partitions):
        end = min(end, broker.replica_manager.find("t", index).log.log_end_offset)  # type: ignore[union-attr]
    frame = fetch_frame(end, partitions, (0, 0))
    request = SimpleNamespace(
        frame=frame,
        message=fetch_request.FetchRequest.decode(memoryview(frame), 0, 12)[0],
        api_version=12,
        received_ms=NOW_MS,
        listener_name="PLAINTEXT",
        connection=None,
    )
    session_id = FETCH.handle(broker, request).session_id  # type: ignore[arg-type, union-attr]
    epoch = 0

    def frames() -> list[bytearray]:
        nonlocal epoch
        epoch += 1
        return [fetch_frame(0, 0, (session_id, epoch))]

    return frames


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each kind of request."""
    parser = parser_for("benchmarks.micro.bench_handlers", __doc__)
    parser.add_argument("--directory", help="directory of the logs (default: a temporary one)")
    parser.add_argument(
        "--profile", choices=("produce", "fetch"), help="profile this API by function instead"
    )
    add_effort(parser, ROUNDS)
    arguments = parser.parse_args(words)
    report = Report(arguments.rounds, arguments.scale)
    directory = tempfile.mkdtemp(prefix="bench-handlers-", dir=arguments.directory)
    try:
        broker = Broker(directory)
        profiler = cProfile.Profile()
        for name, bench in (("produce", bench_produce), ("fetch", bench_fetch)):
            if arguments.profile == name:
                profiler.runcall(bench, broker, report)
                pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
            else:
                bench(broker, report)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()

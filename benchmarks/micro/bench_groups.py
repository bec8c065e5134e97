"""The cost of the group coordinator: heartbeats, commits, fetches, rebalances, loading.

    python -m benchmarks.micro.bench_groups [--directory DIR] [--rounds N] [--scale X]

No sockets: decode, handle, end of turn and encode of each request; logs are real files. Budget: a
heartbeat <= 30 us. Heartbeats, commits and fetches: the median and the best of several rounds.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from benchmarks.command_line import add_effort, parser_for, times
from benchmarks.micro.bench_handlers import NOW_MS, Broker, encoded, lone_replica, served
from pykbroker.broker.handlers import (
    Handler,
    heartbeat,
    join_group,
    offset_commit,
    offset_fetch,
    sync_group,
)
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.deferred import Deferred
from pykbroker.environment.real.randomness import Entropy
from pykbroker.environment.slices import InOneGo
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import Provenance
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.primitives import Message

ROUNDS = 7
GATHERED = 20
OFFSETS_ID = b"offsets topic id"
SUBSCRIPTION = b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"  # version 0, topic t


class Loop:
    """A scheduler that runs due calls on request."""

    def __init__(self) -> None:
        self.soon: list[Callable[..., object]] = []

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> SimpleNamespace:
        self.soon.append(partial(callback, *arguments))
        return SimpleNamespace(cancel=lambda: None)

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> SimpleNamespace:
        if delay_ms <= 0:
            self.soon.append(partial(callback, *arguments))
        return SimpleNamespace(cancel=lambda: None)

    def run(self) -> None:
        while self.soon:
            self.soon.pop(0)()


class GroupBroker(Broker):
    """A node's data plane and its group coordinator."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.loop = Loop()
        self.start()

    def start(self) -> None:
        clock = SimpleNamespace(now_ms=lambda: NOW_MS, monotonic_ns=time.monotonic_ns)
        environment: Any = SimpleNamespace(
            scheduler=self.loop, clock=clock, random=Entropy(), slices=InOneGo()
        )
        self.groups = GroupCoordinator.create(
            node_id=1,
            config=self.config,
            replica_manager=self.replica_manager,
            environment=environment,
            wake=self.end_turns,
        )

    def breathe(self) -> None:
        """Handle each request of a benchmark without interruption."""

    def end_turns(self) -> None:
        while self.replica_manager.end_turn(NOW_MS):
            pass

    @property
    def metadata(self) -> Any:
        """Return where a handler finds the image."""
        return self.replica_manager

    def make_offsets_topic(self) -> None:
        delta = MetadataDelta(self.replica_manager.image)
        delta.replay(TopicRecord(name="__consumer_offsets", topic_id=OFFSETS_ID))
        delta.replay(lone_replica(OFFSETS_ID, 0))
        image = delta.apply(Provenance(1, 0, NOW_MS))
        self.replica_manager.apply(delta, image, NOW_MS)
        self.groups.apply(delta, image)

    def ask(self, handler: Handler, version: int, frames: list[bytearray], kind: Any) -> list[Any]:
        """Run one turn with these requests; return the replies (a Deferred for one that waits)."""
        outcomes = []
        for frame in frames:
            request = SimpleNamespace(
                message=kind.decode(memoryview(frame), 0, version)[0],
                api_version=version,
                client_id="c",
                client_address="127.0.0.1",
            )
            outcomes.append(handler.handle(self, request))  # type: ignore[arg-type]
        self.replica_manager.end_turn(NOW_MS)
        replies = []
        for outcome in outcomes:
            reply = outcome.value if isinstance(outcome, Deferred) and outcome.done else outcome
            if isinstance(reply, Message):
                reply.encode([], version)
            replies.append(reply)
        return replies


def report(
    name: str, turn: Callable[[], list[Any]], requests: int, rounds: int, turns: int
) -> None:
    served(name, turn())
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(turns):
            turn()
        taken.append((time.perf_counter() - started) / turns / requests * 1e6)
    taken.sort()
    print(f"{name:44} {taken[rounds // 2]:8.2f} us a request (best {taken[0]:.2f})")


def bench_small_requests(broker: GroupBroker, rounds: int, scale: float) -> None:
    member_id = rebalance(broker, "small", 1)
    frames = {
        "heartbeat": encoded(
            HeartbeatRequest(group_id="small", generation_id=1, member_id=member_id), 4
        ),
        "commit": encoded(commit_request("small", 1, member_id, 1), 9),
        "commit 10 partitions": encoded(commit_request("small", 10, member_id, 1), 9),
        "fetch": encoded(fetch_request("small", 1), 9),
        "fetch 10 partitions": encoded(fetch_request("small", 10), 9),
    }
    for name, frame in frames.items():
        handler, version, kind = KINDS[name.split()[0]]
        for count, how in ((1, "alone"), (GATHERED, "gathered")):
            turn = partial(broker.ask, handler, version, [frame] * count, kind)
            report(f"{name}, {how}", turn, count, rounds, times(2000 // count, scale))


KINDS: dict[str, tuple[Handler, int, Any]] = {
    "heartbeat": (heartbeat.HANDLER, 4, HeartbeatRequest),
    "commit": (offset_commit.HANDLER, 9, OffsetCommitRequest),
    "fetch": (offset_fetch.HANDLER, 9, OffsetFetchRequest),
}


def commit_request(group: str, count: int, member: str = "", generation: int = -1) -> Message:
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=5)
        for index in range(count)
    ]
    return OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name="t", topic_id=bytes(16), partitions=partitions)],
    )


def fetch_request(group: str, count: int) -> Message:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=list(range(count)))]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)])


def rebalance(broker: GroupBroker, group: str, size: int) -> str:
    """Run a new group of `size` members from the first join to the last assignment; return the
    leader.
    """
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)],
    )
    frame = encoded(request, 3)
    waiting = broker.ask(join_group.HANDLER, 3, [frame] * size, JoinGroupRequest)
    broker.loop.run()  # group.initial.rebalance.delay.ms=0
    served("join", [deferred.value for deferred in waiting])
    members = [deferred.value.member_id for deferred in waiting]
    leader = waiting[0].value.leader
    assigned = []
    for member in [*(m for m in members if m != leader), leader]:
        sync = SyncGroupRequest(group_id=group, generation_id=1, member_id=member)
        if member == leader:
            sync.assignments = [
                SyncGroupRequestAssignment(member_id=one, assignment=b"x" * 20) for one in members
            ]
        frame = encoded(sync, 3)
        assigned += broker.ask(sync_group.HANDLER, 3, [frame], SyncGroupRequest)
    served("sync", [each.value if isinstance(each, Deferred) else each for each in assigned])
    return str(leader)


def bench_rebalances(broker: GroupBroker, scale: float) -> None:
    for size in (1, 10, 100, 1000):
        started = time.perf_counter()
        count = times(100 // size, scale)
        for number in range(count):
            rebalance(broker, f"of {size}, {number}", size)
        spent = (time.perf_counter() - started) / count * 1000
        print(f"{f'a new group of {size} members':44} {spent:8.2f} ms")


def bench_load(broker: GroupBroker, scale: float) -> None:
    for number in range(times(1000, scale)):
        frame = encoded(commit_request(f"loaded {number % 100}", 10), 9)
        broker.ask(offset_commit.HANDLER, 9, [frame] * 10, OffsetCommitRequest)
    broker.groups.stop()
    broker.start()
    started = time.perf_counter()
    broker.groups.runtime.on_elected(0, 0)
    turns, longest = 0, 0.0
    while broker.loop.soon:
        turns += 1
        at = time.thread_time()  # other processes do not count
        broker.loop.soon.pop(0)()
        longest = max(longest, time.thread_time() - at)
    spent = time.perf_counter() - started
    log = broker.replica_manager.find("__consumer_offsets", 0).log  # type: ignore[union-attr]
    print(
        f"{'loading a log':44} {spent / log.log_end_offset * 1e6:8.2f} us a record "
        f"({log.log_end_offset} records, {turns} turns of the loop, longest {longest * 1e3:.1f} ms)"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each kind of request, size of group, and for loading."""
    parser = parser_for("benchmarks.micro.bench_groups", __doc__)
    parser.add_argument("--directory", help="directory of the logs (default: a temporary one)")
    add_effort(parser, ROUNDS)
    arguments = parser.parse_args(words)
    rounds, scale = arguments.rounds, arguments.scale
    logging.disable(logging.INFO)
    directory = tempfile.mkdtemp(prefix="bench-groups-", dir=arguments.directory)
    try:
        broker = GroupBroker(directory)
        object.__setattr__(broker.groups.settings, "initial_rebalance_delay_ms", 0)
        broker.make_offsets_topic()
        bench_small_requests(broker, rounds, scale)
        bench_rebalances(broker, scale)
        bench_load(broker, scale)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()

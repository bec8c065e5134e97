"""Replica managers of several nodes that follow each other, under virtual time and one seed.

Real: handlers, sessions, replica managers, fetchers, AlterPartition, logs on disks in memory. Every
request and response between them is encoded and decoded. Played here: the controller of one topic,
the network (delays, one-way cuts), and producers with acks=all.

State: the members, the controller's view, what producers were promised.
In:  `advance`, `crash`, `start`, `cut`, `produce`. Out: `check`, which raises when a promise is
broken: see `Invariants`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from pykbroker.broker.handlers.fetch import HANDLER as FETCH
from pykbroker.broker.handlers.list_offsets import HANDLER as LIST_OFFSETS
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import iter_records
from pykbroker.replication.alter_partition_driver import AlterPartitionDriver
from pykbroker.replication.delayed_produce import DelayedProduce
from pykbroker.replication.fetch_plan import FetchLimits
from pykbroker.replication.fetcher import FetcherWorld
from pykbroker.replication.fetcher_driver import FetcherDriver
from pykbroker.replication.isr_check_driver import IsrCheckDriver
from pykbroker.replication.partition import Partition
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import Peer
from tests.broker.handlers.data_plane import Broker, Call
from tests.kraft.node_world import ManualScheduler
from tests.replication.node import NOW_MS, batch
from tests.replication.scripted_controller import TOPIC, Controller

LAG_MS = 3000
LIMITS = FetchLimits(
    wait_max_ms=500,
    min_bytes=1,
    response_max_bytes=10 << 20,
    max_bytes=1 << 20,
    backoff_ms=200,
)
TIMEOUT_MS = 2000


class Produce(DelayedProduce):
    """One batch of one record with acks=all; `codes` is the outcome."""

    def __init__(self, deadline_ms: int) -> None:
        super().__init__(True, deadline_ms, Deferred())
        self.code = 0

    def fail_part(self, reply: Any, code: int) -> None:
        self.code = code


class Member:
    """One node: up or down, with a disk that stays."""

    def __init__(self, cluster: Cluster, node_id: int) -> None:
        self.cluster = cluster
        self.node_id = node_id
        self.files = MemoryFiles()
        self.broker: Broker
        self.is_up = False
        self.run = 0  # of its lives
        self.applied = 0  # records of the controller's log
        self.broker_epoch = -1
        self.registered_at = 0  # in the controller's log

    @property
    def partitions(self) -> list[Partition]:
        return list(self.broker.node.manager.partitions())

    def partition(self, number: int = 0) -> Partition | None:
        return self.broker.node.manager.find(TOPIC, number)

    def start(self) -> None:
        """Load what the disk holds, then follow the controller."""
        cluster = self.cluster
        files = self.files
        self.broker = Broker({"min.insync.replicas": "2"}, self.node_id)
        node = self.broker.node
        node.files = files
        node.now_ms = cluster.scheduler.now_ms
        node.open()
        self.broker.purgatory = node.purgatory
        self.broker.replica_manager = node.manager
        self.broker.log_manager = node.log_manager
        self.broker.cold_reads._files = files
        node.manager.hosting._lag_max_ms = LAG_MS
        self.run += 1
        self.is_up = True
        self.applied = 0
        alive = partial(self._is_in, self.run)
        self.proposals = AlterPartitionDriver(
            manager=node.manager,
            send_to_controller=cluster.controller.channel(alive),
            scheduler=cluster.scheduler,
            now_ms=lambda: cluster.scheduler.now_ms,
            broker_epoch=lambda: self.broker_epoch,
            on_progress=lambda: None,
        )
        world = FetcherWorld(
            manager=node.manager,
            scheduler=cluster.scheduler,
            now_ms=lambda: cluster.scheduler.now_ms,
            peer_of=lambda node_id: Peer(node_id, "127.0.0.1", node_id),
            broker_epoch=lambda: self.broker_epoch,
            on_progress=lambda: None,
            limits=LIMITS,
            request_timeout_ms=TIMEOUT_MS,
        )
        self.following = FetcherDriver(
            world, lambda purpose: partial(cluster.send, self, alive), fetchers_per_leader=2
        )
        node.manager.connect(self.proposals, self.following)
        self.check = IsrCheckDriver(
            node.manager, cluster.scheduler, lambda: cluster.scheduler.now_ms, LAG_MS
        )
        self.check.start()

    def stop(self) -> None:
        """The process is killed: what it wrote stays, what it held in memory is gone."""
        self.is_up = False
        self.proposals.close()
        self.following.close()
        self.check.close()
        self.files.kill()

    def learn(self, log: list[Any], end: int) -> None:
        """The records of the metadata log up to `end`, from its registration on."""
        if self.is_up and max(self.applied, self.registered_at) < end:
            records = log[self.applied : end]
            self.applied = end
            self.broker.node.now_ms = self.cluster.scheduler.now_ms
            self.broker.node.apply(*records)

    def _is_in(self, run: int) -> bool:
        return self.is_up and self.run == run

    def handle(self, message: Message) -> Call:
        """Serve a request, which was decoded from its bytes, in its latest version."""
        self.broker.node.now_ms = self.cluster.scheduler.now_ms
        handler = FETCH if message.API_KEY == 1 else LIST_OFFSETS
        return Call(self.broker, handler, message, message.LATEST_VERSION)

    def turn(self) -> None:
        """End the turn, let time pass for what waits."""
        now_ms = self.cluster.scheduler.now_ms
        self.broker.node.now_ms = now_ms
        self.broker.node.manager.end_turn(now_ms)
        self.broker.purgatory.advance(now_ms)


class Cluster:
    """See the module's text."""

    def __init__(self, seed: int, nodes: int = 3, partitions: int = 2) -> None:
        self.seed = seed
        self.dice = random.Random(seed)
        self.scheduler = ManualScheduler(NOW_MS, MemoryFiles())
        self.members: dict[int, Member] = {}
        self.cuts: set[tuple[int, int]] = set()
        self.promised: list[dict[int, bytes]] = [{} for _ in range(partitions)]
        self._marks: dict[tuple[int, int], tuple[Partition, int]] = {}
        self.produced = 0
        self.acknowledged = 0
        replicas = tuple(range(1, nodes + 1))
        self.controller = Controller(self.dice, self.scheduler.call_later, replicas, partitions)
        for node_id in replicas:
            self.members[node_id] = Member(self, node_id)
            self.controller.subscribe(self.members[node_id].learn)
        for node_id in replicas:
            self.start(node_id)

    # ---- faults

    def start(self, node_id: int) -> None:
        self.members[node_id].start()
        member = self.members[node_id]
        member.registered_at = len(self.controller.log)
        member.broker_epoch = self.controller.register(node_id)

    def crash(self, node_id: int) -> None:
        """The process is killed; the controller notices it a moment later."""
        self.members[node_id].stop()
        self.controller.fence(node_id)

    # ---- the network

    def later(self, call: Callable[[], object]) -> None:
        self.scheduler.call_later(self.dice.randint(1, 20), call)

    def send(
        self,
        source: Member,
        is_in: Callable[[], bool],
        peer: Peer,
        message: Message,
        deadline_ms: int,
    ) -> Deferred:
        """Carry a request there and its response back; NETWORK_EXCEPTION when one is lost."""
        answer = Deferred()
        target = self.members[peer.node_id]

        def fail(code: ErrorCode) -> None:
            if is_in() and not answer.done:
                answer.resolve(KafkaError(code))

        def back(call: Call) -> None:
            if (peer.node_id, source.node_id) not in self.cuts and is_in() and not answer.done:
                answer.resolve(call.answer)

        def there() -> None:
            if (source.node_id, peer.node_id) in self.cuts:
                return
            if not target.is_up:
                fail(ErrorCode.NETWORK_EXCEPTION)
                return
            call = target.handle(message)
            if isinstance(call.outcome, Deferred) and not call.outcome.done:
                call.outcome.on_resolved(lambda _: self.later(lambda: back(call)))
            else:
                self.later(lambda: back(call))

        self.later(there)
        delay_ms = deadline_ms - self.scheduler.now_ms
        self.scheduler.call_later(delay_ms, fail, ErrorCode.REQUEST_TIMED_OUT)
        return answer

    # ---- time, and clients

    def produce(self, number: int = 0, node_id: int | None = None) -> Produce | None:
        """One record to the node that leads as the controller has it, or to `node_id`."""
        member = self.members.get(node_id or self.controller.leader[number])
        if member is None or not member.is_up:
            return None
        found = member.partition(number)
        if found is None or not found.is_leader:
            return None
        self.produced += 1
        value = b"%d" % self.produced
        now_ms = self.scheduler.now_ms
        try:
            outcome = member.broker.node.manager.append(found, batch(value), -1, now_ms)
        except KafkaError:
            return None
        produce = Produce(now_ms + 5000)
        produce.add(found, outcome.last_offset + 1, None)
        produce.deferred.on_resolved(
            lambda _: self._acknowledged(produce, number, outcome.base_offset, value)
        )
        member.broker.node.manager.await_turn(produce)
        return produce

    def _acknowledged(self, produce: Produce, number: int, offset: int, value: bytes) -> None:
        if produce.code == 0:
            self.acknowledged += 1
            assert self.promised[number].setdefault(offset, value) == value, (
                "two records, one place"
            )

    def advance(self, duration_ms: int, step_ms: int = 5) -> None:
        """Let time pass; a turn of every node, and a check, every few milliseconds."""
        end_ms = self.scheduler.now_ms + duration_ms
        while self.scheduler.now_ms < end_ms:
            self.scheduler.advance(min(step_ms, end_ms - self.scheduler.now_ms))
            for member in self.members.values():
                if member.is_up:
                    member.turn()
            self.check()

    def heal(self) -> None:
        """Everything works again."""
        self.cuts.clear()
        for node_id, member in self.members.items():
            if not member.is_up:
                self.start(node_id)

    def settle(self) -> None:
        """Wait until every replica is in sync and knows it."""
        for _ in range(100):
            self.advance(500)
            if all(self._is_settled(number) for number in range(len(self.promised))):
                return
        raise AssertionError(f"seed {self.seed}: not settled: {self.describe()}")

    def _is_settled(self, number: int) -> bool:
        found = [member.partition(number) for member in self.members.values()]
        ends = {p.log.log_end_offset for p in found if p is not None}
        marks = {p.high_watermark for p in found if p is not None}
        return (
            len(found) == len(self.members)
            and len(self.controller.isr[number]) == len(self.members)
            and len(ends) == 1
            and ends == marks
        )

    def describe(self) -> list[str]:
        return [
            f"{node_id}: {p} isr={sorted(p.isr.members)} end={p.log.log_end_offset}"
            f" hw={p.high_watermark}"
            for node_id, member in self.members.items()
            if member.is_up
            for p in member.partitions
        ]

    # ---- invariants

    def check(self) -> None:
        """Raise when a rule of replication is broken."""
        for number in range(len(self.promised)):
            replicas = [
                found
                for member in self.members.values()
                if member.is_up and (found := member.partition(number)) is not None
            ]
            self._check_marks(number, replicas)
            self._check_agreement(number, replicas)
            self._check_promises(number, replicas)

    def _check_marks(self, number: int, replicas: list[Partition]) -> None:
        """One leader an epoch; its high watermark never goes back."""
        marks = self._marks
        for replica in replicas:
            assert replica.high_watermark <= replica.log.log_end_offset
            if replica.is_leader:
                key = (number, replica.leader_epoch)
                leader, mark = marks.get(key, (replica, 0))
                assert leader is replica, f"seed {self.seed}: two leaders in epoch {key}"
                assert replica.high_watermark >= mark, f"seed {self.seed}: {key} went back"
                marks[key] = (replica, replica.high_watermark)

    def _check_agreement(self, number: int, replicas: list[Partition]) -> None:
        """Replicas have the same records below the lowest of two high watermarks."""
        contents = [values_of(replica) for replica in replicas]
        for position, one in enumerate(replicas):
            for other in range(position):
                bound = min(one.high_watermark, replicas[other].high_watermark)
                mine = contents[position][:bound]
                assert mine == contents[other][:bound], f"seed {self.seed}: {self.describe()}"

    def _check_promises(self, number: int, replicas: list[Partition]) -> None:
        """The leader of the controller has all that was acknowledged, once it knows to lead."""
        for replica in replicas:
            if replica.is_leader and replica.leader_epoch == self.controller.leader_epoch[number]:
                found = values_of(replica)
                for offset, value in self.promised[number].items():
                    assert found[offset : offset + 1] == [value], (
                        f"seed {self.seed}: lost {value!r} at {offset}: {self.describe()}"
                    )


_contents: dict[int, tuple[Partition, Any, list[bytes]]] = {}


def values_of(partition: Partition) -> list[bytes]:
    """The record at each offset; read again only when the log changed."""
    log = partition.log
    state = (log, log.log_end_offset, log.truncations)
    known = _contents.get(id(partition))  # which is no other's: it is kept with its values
    if known is not None and known[1] == state:
        return known[2]
    values: list[bytes] = []
    offset = 0
    while offset < log.log_end_offset:
        found = log.read(offset, 1 << 30, log.log_end_offset)
        assert found.slice is not None
        view = memoryview(found.slice.read())
        while view:
            size = int.from_bytes(view[8:12], "big") + 12
            values += [bytes(record.value or b"") for record in iter_records(view[:size])]
            view = view[size:]
        offset = len(values)
    if len(_contents) > 100:
        _contents.clear()
    _contents[id(partition)] = (partition, state, values)
    return values

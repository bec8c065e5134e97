"""A transaction coordinator on a log in memory, and partitions that take its markers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.coordinator.transaction.ending import Ending
from pykbroker.coordinator.transaction.initialising import Initialisation
from pykbroker.coordinator.transaction.marker_driver import MarkerResults
from pykbroker.coordinator.transaction.settings import TransactionSettings
from pykbroker.coordinator.transaction.shard import Addition, Reply
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.coordinator.transaction.transaction_coordinator_driver import (
    TransactionCoordinator,
)
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import InOneGo, Slices, go_on
from pykbroker.errors import KafkaError
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
)
from pykbroker.types import TopicPartition
from tests.coordinator.memory_log import MemoryLog, VirtualLoop

NODE = 1
A = TopicPartition("a", 0)
B = TopicPartition("b", 0)
ID = "id"


class LateSlices(InOneGo):
    """Jobs that a test runs when it likes."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, Callable[[], object]]] = []

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        """See `Slices`."""
        self.jobs.append((name, job))
        return Deferred()


class TransactionWorld:
    """One node that leads both partitions of the topic; `leaders` lead the data."""

    def __init__(
        self, server_version: int = 2, slices: Slices | None = None, **settings: Any
    ) -> None:
        self.slices = slices
        self.loop = VirtualLoop()
        self.log = MemoryLog()
        self.log.topic = "__transaction_state"
        self.server_version = server_version
        self.leaders: dict[TopicPartition, int] = {A: 1, B: 2}
        self.written: list[tuple[TopicPartition, int, int, bool]] = []
        self.asked: list[tuple[int, list[WritableTxnMarker]]] = []
        self.codes: dict[TopicPartition, list[int]] = {}
        self.hold: list[tuple[Deferred, Any]] | None = None
        self.put_off: list[Callable[[], None]] | None = None
        self.unreachable: set[int] = set()
        self.next_producer_id: int | Deferred = 100
        self.settings = TransactionSettings(num_partitions=2, **settings)
        self.coordinator: TransactionCoordinator
        self.start()

    def start(self, leader_epoch: int = 5) -> None:
        """A coordinator that has nothing in memory."""
        self.coordinator = TransactionCoordinator(
            node_id=NODE,
            settings=self.settings,
            log=self.log,
            scheduler=self.loop,
            clock=self.loop,
            take_producer_id=self._take_producer_id,
            image=self._image,
            write_markers=self._write_markers,
            after_replies=self._after_replies,
            slices=self.slices,
        )
        for partition in range(2):
            self.log.host(partition)
            self.coordinator.on_elected(partition, leader_epoch)
        self.run()

    def fail_over(self, leader_epoch: int) -> None:
        """The coordinator dies; the next one loads the log."""
        self.coordinator.stop()
        self.start(leader_epoch)

    # ---- what it asks

    def _after_replies(self, work: Callable[[], None]) -> None:
        if self.put_off is None:
            work()
        else:
            self.put_off.append(work)

    def _take_producer_id(self) -> int | Deferred:
        found = self.next_producer_id
        if isinstance(found, int):
            self.next_producer_id = found + 1
        return found

    def _image(self) -> Any:
        def topic(name: str) -> Any:
            partitions = {
                index: SimpleNamespace(leader=leader)
                for (of, index), leader in self.leaders.items()
                if of == name
            }
            return SimpleNamespace(partitions=partitions) if partitions else None

        return SimpleNamespace(
            topic=topic,
            partition=lambda name, index: self.leaders.get(TopicPartition(name, index)),
            features={"transaction.version": self.server_version},
        )

    def _write_markers(self, leader: int, markers: list[WritableTxnMarker]) -> Any:
        self.asked.append((leader, markers))
        if leader in self.unreachable:
            return KafkaError(8)
        results: MarkerResults = {}
        for marker in markers:
            results |= self._write(marker)
        if self.hold is None:
            return results
        deferred = Deferred()
        self.hold.append((deferred, results))
        return deferred

    def _write(self, marker: WritableTxnMarker) -> MarkerResults:
        results: MarkerResults = {}
        for topic in marker.topics:
            for index in topic.partition_indexes:
                partition = TopicPartition(topic.name, index)
                codes = self.codes.get(partition, [])
                code = codes.pop(0) if codes else 0
                if not code:
                    self.written.append(
                        (
                            partition,
                            marker.producer_id,
                            marker.producer_epoch,
                            marker.transaction_result,
                        )
                    )
                results[marker.producer_id, topic.name, index] = WritableTxnMarkerPartitionResult(
                    partition_index=index, error_code=code
                )
        return results

    # ---- clients

    def run(self, by_ms: int = 0) -> None:
        """Let time pass; whatever is queued is written and committed, unless held."""
        self.log.end_turn()
        self.loop.advance(by_ms, self.log.end_turn)
        self.log.end_turn()

    def settled(self, outcome: Any) -> Any:
        """The reply, once it is there."""
        self.run()
        if isinstance(outcome, Deferred):
            assert outcome.done
            return outcome.value
        return outcome

    def initialise(
        self, name: str = ID, producer_id: int = -1, epoch: int = -1, timeout_ms: int = 60_000
    ) -> Reply:
        request = Initialisation(name, timeout_ms, producer_id, epoch)
        reply: Reply = self.settled(self.coordinator.initialise(request))
        return reply

    def add(self, who: Transaction, *partitions: TopicPartition, name: str = ID) -> int:
        addition = Addition(
            name, who.producer_id, who.epoch, dict.fromkeys(partitions), self.client_version
        )
        code: int = self.settled(self.coordinator.add_partitions(addition)).code
        return code

    def end(self, who: Transaction, commit: bool = True, name: str = ID) -> Reply:
        request = Ending(name, who.producer_id, who.epoch, commit, self.client_version)
        reply: Reply = self.settled(self.coordinator.end(request))
        return reply

    @property
    def client_version(self) -> int:
        return 2 if self.server_version >= 2 else 0

    def state(self, name: str = ID) -> str:
        found = self.settled(self.coordinator.one_transaction(name))
        return str(found.state.shown if isinstance(found, Transaction) else found.name)

    def partitions(self, name: str = ID) -> list[TopicPartition]:
        """The partitions of the transaction, as its description shows them."""
        return list(self.settled(self.coordinator.one_transaction(name)).partitions)

    def began(self, name: str = ID) -> Transaction:
        """A producer that has initialised."""
        reply = self.initialise(name)
        assert reply.code == 0
        assert reply.transaction is not None
        return reply.transaction

"""Moves of replicas between log directories in a world: who requests them, what interrupts them.

In a world whose nodes have several log directories there are operators, the rules of moves, and
faults at the worst moment: when a copy is complete, now and then the node crashes, or one of the
two directories fails, within the next calls of the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pykbroker.testing.world.broken_directories import KINDS, STIFF
from pykbroker.testing.world.clients.replica_mover import DirectoryAuditor, ReplicaMover
from pykbroker.testing.world.directory_ledger import DirectoryLedger
from pykbroker.testing.world.directory_rules import DirectoryRules
from pykbroker.testing.world.faults import Faults
from pykbroker.testing.world.node import DATA_DIRECTORY, Node, add_rule
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer

ONE_IN_INTERRUPTIONS = 4
MOST_CALLS = 14
MOST_RENAMES = 2
ANSWER_US = 30_000_000
PROPERTIES = {"log.segment.delete.delay.ms": "500"}


def directories_of(seed: int) -> dict[str, str]:
    """Return the properties that nodes with several log directories need, for odd seeds; {} for
    even ones, so that those lives stay the same.
    """
    if seed % 2 == 0:
        return {}
    count = Dice(seed, "directories").choice((2, 3))
    paths = [DATA_DIRECTORY, *(f"{DATA_DIRECTORY}-{number}" for number in range(2, count + 1))]
    return {**PROPERTIES, "log.dirs": ",".join(paths)}


class DirectoryMoves:
    """The moves between directories of a world."""

    def __init__(
        self,
        world: World,
        nodes: Sequence[Node],
        partitions: Callable[[], Mapping[TopicPartition, bytes]],
    ) -> None:
        self._world = world
        self._nodes = list(nodes)
        self._partitions = partitions
        self.ledger = DirectoryLedger()
        self.rules = DirectoryRules(nodes, self.ledger)
        self.interruptions: MovesInterrupted | None = None
        self._audits = 0
        add_rule(nodes, self.rules)
        self.clients: list[ReplicaMover] = []

    def add_clients(self) -> None:
        """Add one or two operators."""
        count = self._world.dice("moves").randint(1, 2)
        self.clients = [self._make(ReplicaMover, f"mover-{number}") for number in range(count)]

    def _make(self, kind: type[ReplicaMover], name: str) -> ReplicaMover:
        return kind(self._world, name, self._nodes, self.ledger, self._partitions)

    def add_faults(self, faults: Faults) -> None:
        """Add faults at the end of moves."""
        self.interruptions = MovesInterrupted(self._world, faults)
        add_rule(self._nodes, self.interruptions)

    def stop(self) -> None:
        """Request no more moves."""
        for client in self.clients:
            client.stop()

    def settle(self) -> None:
        """Let all moves end, and compare promises, disks, metadata and DescribeLogDirs."""
        self.rules.settle(self._world)
        self._audits += 1
        auditor = self._make(DirectoryAuditor, f"auditor-{self._audits}")
        assert isinstance(auditor, DirectoryAuditor)
        auditor.start()
        if not self._world.run_until(lambda: auditor.is_done, self._world.now_us + ANSWER_US):
            raise Violation("DescribeLogDirs is not answered although no faults are active")
        self.rules.compare(auditor.contents)


class MovesInterrupted:
    """Sometimes crashes a node, or breaks one of its directories, at the end of a move, if the life
    has such faults.
    """

    def __init__(self, world: World, faults: Faults) -> None:
        self._dice = world.dice("interrupted moves")
        self._faults = faults
        self._seen: set[tuple[int, int, str]] = set()
        self.count = 0

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is None:
            return
        manager = server.log_manager
        for key in manager.future_partitions():
            log, copy = manager.get(key), manager.future(key)
            if log is None or copy is None or copy.log_end_offset < log.log_end_offset:
                continue
            move = (node.node_id, node.starts, copy.directory)
            if move not in self._seen:
                self._seen.add(move)
                if self._dice.one_in(ONE_IN_INTERRUPTIONS):
                    self._interrupt(node, log.log_directory, copy.log_directory)

    def _interrupt(self, node: Node, source: str, target: str) -> None:
        self.count += 1
        dice, faults = self._dice, self._faults
        calls = dice.randint(0, MOST_CALLS)
        if "crash" in faults.weights and dice.one_in(2):
            faults.crash_at_call(node, calls + 1)
        elif "broken_directory" in faults.weights:
            path, kind = dice.choice((source, target)), dice.choice((*KINDS, STIFF, STIFF))
            if kind == STIFF:
                calls = dice.randint(0, MOST_RENAMES)
            faults.break_directory(node, path, kind, calls)

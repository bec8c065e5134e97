"""Inspects nodes after events for the sake of transactions.

A rule: a last stable offset never passes an open transaction. A fault: sometimes a node crashes
soon after a log of `__transaction_state` has grown, for example between the outcome of a
transaction and its markers. An excuse: while the clock of a node is wrong, transactions may time
out at any moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.testing.world.faults import Faults
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.transaction_ledger import TransactionLedger
from pykbroker.testing.world.world import Violation, World

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer

READ_COMMITTED = 1
ONE_IN_CRASHES = 12


class DifferentClocks:
    """Excuses timeouts while the clock of a node is set wrong: a transaction may have timed out for
    the next coordinator.
    """

    def __init__(self, nodes: Sequence[Node], ledger: TransactionLedger) -> None:
        self._clocks = [node.machine.clock for node in nodes]
        self._ledger = ledger

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for clock in self._clocks:
            if clock.offset_us:
                self._ledger.clock_jumped()
                return


class LastStableOffsets:
    """The last stable offset of a leader is not above an acknowledged record of a transaction that
    is certainly open (`TransactionLedger.first_open_offset`).
    """

    def __init__(self, ledger: TransactionLedger) -> None:
        self._ledger = ledger

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is None:
            return
        for index, view in enumerate(self._ledger.views):
            if not view.open:
                continue
            first = self._ledger.first_open_offset(index, node.world.now_us)
            if first is None:
                continue
            partition = server.replica_manager.find(self._ledger.topic, index)
            if partition is None or not partition.is_leader:
                continue
            stable = partition.bound(READ_COMMITTED)
            if stable > first:
                raise Violation(
                    f"{node.name} {self._ledger.topic}-{index}: the last stable offset is "
                    f"{stable}, and a transaction is open from {first} on"
                )


class CrashesBetween:
    """Sometimes crashes a node at one of its next disk calls, after a log of `__transaction_state`
    has grown there, on the leader or a follower: between the phases of a transaction.

    `partitions` is the number of partitions of that topic.
    """

    def __init__(self, world: World, faults: Faults, partitions: int) -> None:
        self._dice = world.dice("crashes between the phases")
        self._faults = faults
        self._partitions = partitions
        self._ends: dict[tuple[int, int], int] = {}
        self.count = 0

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is None:
            return
        logs = [
            partition.log.log_end_offset
            for index in range(self._partitions)
            if (partition := server.replica_manager.find(TRANSACTION_STATE_TOPIC, index))
        ]
        key, end = (node.node_id, node.starts), sum(logs)
        before = self._ends.get(key, end)
        self._ends[key] = end
        if end > before and self._dice.one_in(ONE_IN_CRASHES):
            self.count += 1
            self._faults.crash_at_call(node, self._dice.randint(1, 12))

"""A rule about the inside of nodes: a last stable offset never passes an open transaction."""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.testing.world.invariants import just_ran
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.transaction_ledger import TransactionLedger
from pykbroker.testing.world.world import Violation, World

READ_COMMITTED = 1


class LastStableOffsets:
    """A transaction is open for sure while its producer has not asked for its end, its time is not
    up, and nobody has asked for its transactional id."""

    def __init__(self, nodes: Sequence[Node], ledger: TransactionLedger) -> None:
        self._nodes = list(nodes)
        self._ledger = ledger

    def check(self, world: World) -> None:
        """See `Invariant`."""
        for node, server in just_ran(world, self._nodes):
            for index in range(len(self._ledger.views)):
                first = self._ledger.first_open_offset(index, world.now_us)
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

"""Rules about the metadata quorum, checked after every event of a node's process.

As in Kafka's RaftEventSimulationTest: one leader an epoch, epochs and (while a process runs) high
watermarks that do not go back, logs that agree on what is committed. In addition: a new leader has
what was committed in earlier epochs; a leader tells no lower high watermark than its follower knows
(Kafka's `FollowerState` would throw); a candidate has asked before its election whether it would
win (KIP-996), so that a voter that was cut off ends no epoch when it comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from zlib import crc32

from pykbroker.kraft.metadata_log import decode_log_batch
from pykbroker.kraft.raft.raft_roles import Candidate, Follower, Prospective
from pykbroker.testing.world.ledger import batches_of
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.metadata_log import LogBatch
    from pykbroker.kraft.raft.raft import Raft
    from pykbroker.kraft.raft.raft_driver import RaftDriver


class Committed(NamedTuple):
    """A batch below the high watermark of some node."""

    last_offset: int
    epoch: int
    content: int
    """A checksum of all its bytes."""


class QuorumRules:
    """Checks the rules of the metadata quorum."""

    def __init__(self) -> None:
        self._leaders: dict[int, int] = {}
        self._committed: dict[int, Committed] = {}
        self._committed_end = 0
        self._committed_ends: dict[int, int] = {}
        """Epoch of the node that showed it first -> the end of what was committed by then."""
        self._compared: dict[tuple[int, int], int] = {}
        self._progress: dict[tuple[int, int], tuple[int, int]] = {}
        self._epochs: dict[int, int] = {}
        self._roles: dict[tuple[int, int], tuple[type, int]] = {}
        self._told: dict[tuple[int, int], tuple[int, int]] = {}
        """Node and start -> the epoch and the high watermark that it was told last."""
        self.on_committed: Callable[[LogBatch], None] = _ignore
        """Called with each committed batch, in the order of the log."""

    @property
    def epochs_led(self) -> int:
        """Return how many epochs had a leader."""
        return len(self._leaders)

    @property
    def committed_end(self) -> int:
        """Return the end of what is committed anywhere."""
        return self._committed_end

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`. A node that starts takes part in the quorum before it serves."""
        if not node.has_failed:
            kraft = getattr(node.server, "kraft", None)
            driver: RaftDriver | None = getattr(kraft, "raft", None)
            if driver is not None and driver.raft.log_end is not None:
                self._check_node(node, driver)

    def _check_node(self, node: Node, driver: RaftDriver) -> None:
        raft = driver.raft
        key = (node.node_id, node.starts)
        self._check_candidate(node, raft, key)
        self._check_told(node, raft, key)
        now = (raft.epoch, raft.high_watermark)
        before = self._progress.get(key)
        if before == now:
            return
        if before is not None and (now[0] < before[0] or now[1] < before[1]):
            raise Violation(f"{node.name}: epoch and high watermark went from {before} to {now}")
        self._progress[key] = now
        if raft.epoch < self._epochs.get(node.node_id, 0):
            raise Violation(
                f"{node.name}: came back in epoch {raft.epoch} and was in "
                f"{self._epochs[node.node_id]} before"
            )
        self._epochs[node.node_id] = raft.epoch
        if raft.is_leader:
            self._check_leader(node, driver)
        if raft.high_watermark > 0:
            self._compare(node, driver, key)

    def _check_candidate(self, node: Node, raft: Raft, key: tuple[int, int]) -> None:
        """Check that a node that becomes a candidate was Prospective at the event before, with all
        promises but the last. A process may begin as a candidate.
        """
        role = raft.role
        promises = len(role.granted) if isinstance(role, Prospective) else 0
        before, promised = self._roles.get(key, (Candidate, 0))  # it may begin as one
        self._roles[key] = (type(role), promises)
        if type(role) is not Candidate or before is Candidate:
            return
        if before is not Prospective or promised + 1 < raft.voters.majority:
            raise Violation(
                f"{node.name}: stands for election in epoch {raft.epoch}; it was "
                f"{before.__name__}, and {promised} voters had promised their votes"
            )

    def _check_told(self, node: Node, raft: Raft, key: tuple[int, int]) -> None:
        """Check that no follower is sent a high watermark below the one it knows."""
        role = raft.role
        if not isinstance(role, Follower) or role.leader_high_watermark < 0:
            return
        told = (raft.epoch, role.leader_high_watermark)
        if self._told.get(key) != told and told[1] < raft.high_watermark:
            raise Violation(
                f"{node.name}: node {role.leader_id} told the high watermark {told[1]} in epoch "
                f"{told[0]}; known is {raft.high_watermark}"
            )
        self._told[key] = told

    def _check_leader(self, node: Node, driver: RaftDriver) -> None:
        raft = driver.raft
        is_new = raft.epoch not in self._leaders
        leader = self._leaders.setdefault(raft.epoch, node.node_id)
        if leader != node.node_id:
            raise Violation(f"epoch {raft.epoch} is led by node {leader} and node {node.node_id}")
        # Votes may arrive when a later epoch has begun: the winner, whose epoch is over, need not
        # have what was committed since.
        ends = self._committed_ends.items()
        committed_end = max((end for epoch, end in ends if epoch < raft.epoch), default=0)
        if is_new and driver.log.end.offset < committed_end:
            raise Violation(
                f"{node.name} leads epoch {raft.epoch} with a log that ends at "
                f"{driver.log.end.offset}; committed is {committed_end}"
            )

    def _compare(self, node: Node, driver: RaftDriver, key: tuple[int, int]) -> None:
        """Check that everything this node calls committed equals what others committed there; pass
        what no other node has shown before to `on_committed`.
        """
        start = self._compared.get(key, 0)
        end = min(driver.raft.high_watermark, driver.log.end.offset)
        with node.machine.files.peeked():  # a crash that is due waits for the node's own call
            batches = list(batches_of(driver.log.log, start, end))
        for header, batch in batches:
            found = Committed(header.last_offset, header.partition_leader_epoch, crc32(batch))
            known = self._committed.setdefault(header.base_offset, found)
            if known != found:
                raise Violation(
                    f"{node.name}: at {header.base_offset} {found} is committed, elsewhere {known}"
                )
            self._compared[key] = header.next_offset
            if header.next_offset > self._committed_end:
                self._committed_end = header.next_offset
                self._committed_ends[driver.raft.epoch] = self._committed_end
                self.on_committed(decode_log_batch(header, memoryview(batch)))


def _ignore(batch: LogBatch) -> None:
    """Ignore the contents."""

"""What the raft driver calls: the rest of the node, and the other voters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.metadata_snapshot import Snapshot
from pykbroker.kraft.raft import raft_events as ev


class RaftListener(Protocol):
    """Listener for committed records, loaded snapshots and leader changes."""

    def on_commit(self, batches: Sequence[LogBatch]) -> Deferred | None:
        """Handle committed batches, in log order.

        Returns None if they are handled; otherwise a Deferred, resolved with None when they are or
        with an exception. Until then no other batches are delivered, and this node does not begin
        to lead. (A snapshot or another leader may be reported.)
        """

    def on_snapshot(self, snapshot: Snapshot) -> None:
        """Handle a loaded snapshot, which contains everything committed up to its end."""

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """Handle a change of leader; -1: no leader is known."""


class Messenger(Protocol):
    """Sends messages to other voters."""

    def send_vote(self, effect: ev.SendVote) -> None:
        """Ask a voter for its vote."""

    def send_begin_epoch(self, effect: ev.SendBeginEpoch) -> None:
        """Tell a voter that this replica leads."""

    def send_end_epoch(self, effect: ev.SendEndEpoch) -> None:
        """Tell a voter that this replica resigns."""

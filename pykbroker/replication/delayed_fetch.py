"""A Fetch that waits for `min_bytes`, or until its `max_wait_ms` is over.

State: the partitions it asks for and what it asks of them. It watches every one of them.
In:  `try_complete`, `expire` (the purgatory). Out: one call of `answer`, which reads again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.purgatory import DelayedOperation
from pykbroker.replication.fetch_reader import FetchParams, FetchPartition, has_enough

if TYPE_CHECKING:
    from pykbroker.replication.replica_manager import ReplicaManager


class DelayedFetch(DelayedOperation):
    """One waiting fetch; a subclass knows how to answer."""

    __slots__ = ("_manager", "_params", "_wanted")

    def __init__(
        self, manager: ReplicaManager, params: FetchParams, wanted: list[FetchPartition]
    ) -> None:
        super().__init__()
        self._manager = manager
        self._params = params
        self._wanted = wanted

    def answer(self) -> None:
        """Read again and reply with whatever there is."""
        raise NotImplementedError  # each kind of fetch replies in its own way

    def try_complete(self) -> bool:
        if has_enough(self._manager, self._params, self._wanted):
            self.answer()
            return True
        return False

    def expire(self) -> None:
        self.answer()

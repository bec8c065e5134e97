"""A Fetch that waits for `min_bytes`, or until its `max_wait_ms` is over.

State: the partitions it asks for and what it asks of them. It watches every one of them.
In:  `try_complete`, `expire` (the purgatory). Out: one call of `answer`, which reads again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pykbroker.purgatory import DelayedOperation
from pykbroker.replication.fetch_reader import has_enough
from pykbroker.replication.fetch_request import FetchParams, FetchPartition

if TYPE_CHECKING:
    from pykbroker.replication.partition import Partition
    from pykbroker.replication.replica_manager import ReplicaManager

MANY = 8  # partitions of one fetch from which on finding the written one pays


class DelayedFetch(DelayedOperation):
    """One waiting fetch; a subclass knows how to answer."""

    __slots__ = ("_by_partition", "_manager", "_params", "_wanted")

    def __init__(
        self, manager: ReplicaManager, params: FetchParams, wanted: list[FetchPartition]
    ) -> None:
        super().__init__()
        self._manager = manager
        self._params = params
        self._wanted = wanted
        self._by_partition: dict[Partition | None, FetchPartition] | None = None

    @abstractmethod
    def answer(self) -> None:
        """Read again and reply with whatever there is."""

    def try_complete(self) -> bool:
        if self.is_enough():
            self.answer()
            return True
        return False

    def is_enough(self) -> bool:
        """Would a read now have something to say?"""
        return has_enough(self._manager, self._params, self._changed())

    def _changed(self) -> Iterable[FetchPartition]:
        """Those to look at: when any byte will do, only the one that was written just now."""
        written = self._manager.written
        if written is None or self._params.min_bytes > 1 or len(self._wanted) < MANY:
            return self._wanted
        if self._by_partition is None:
            self._by_partition = {asked.partition: asked for asked in self._wanted}
        asked = self._by_partition.get(written)
        return self._wanted if asked is None else (asked,)

    def expire(self) -> None:
        self.answer()

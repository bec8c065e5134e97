"""A Fetch that waits for `min_bytes` or until `max_wait_ms` has passed.

    asked by                       watches                    is looked at when
    a follower in its session      the session                an append
    a follower without one         partitions and their ends  an append, the high watermark moved
    a consumer                     the partitions             the high watermark moved
    a read_committed consumer      their stable offsets       the last stable offset moved

Each is also looked at when one of its partitions has another role or leader epoch, or is gone.

State: the partitions it asks for and what it asks of them; a follower's session.
Out: at most one call of `answer`, which reads again; none if the client has gone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from pykbroker.purgatory import DelayedOperation
from pykbroker.replication.fetch_reader import has_enough
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from pykbroker.replication.partition import LOG_END, READ_COMMITTED

if TYPE_CHECKING:
    from pykbroker.replication.follower_session import FollowerSession
    from pykbroker.replication.partition import Partition
    from pykbroker.replication.replica_manager import ReplicaManager

MANY = 8  # from this many partitions on, finding the written one pays off


class DelayedFetch(DelayedOperation):
    """One waiting fetch; a subclass implements the answer."""

    __slots__ = (
        "_by_partition",
        "_is_answered",
        "_manager",
        "_params",
        "_session",
        "_unknown",
        "_wanted",
    )

    KIND = "Fetch"

    def __init__(
        self,
        manager: ReplicaManager,
        params: FetchParams,
        result: FetchResult,
        session: FollowerSession | None = None,
    ) -> None:
        """result: of the first read. session: of a follower that fetches in one."""
        super().__init__()
        self._manager = manager
        self._params = params
        self._wanted = result.read
        self._unknown = result.unknown
        self._session = session
        self._by_partition: dict[Partition | None, FetchPartition] | None = None
        self._is_answered = False

    @abstractmethod
    def answer(self) -> None:
        """Read again and reply with whatever is available."""

    def wait_until(self, deadline_ms: int) -> None:
        """Wait in the manager's purgatory."""
        self._manager.purgatory.watch(self, self._keys(), deadline_ms)

    def _keys(self) -> list[Hashable]:
        if self._session is not None:
            return [self._session]
        isolation = self._params.isolation
        keys: list[Hashable] = []
        for asked in self._wanted:
            partition = asked.partition
            if partition is None:
                continue
            if isolation == READ_COMMITTED:
                partition.stable_offset = partition.bound(READ_COMMITTED)
                keys.append(partition.stable_key)
                continue
            keys.append(partition)
            if isolation == LOG_END:
                keys.append(partition.end_key)
        return keys

    def try_complete(self) -> bool:
        """Answer if there is enough, and only once.

        A read that finds a failed disk retires all partitions of the log directory. This operation
        is tried again for each of them that it waits for, while it looks or answers.
        """
        if self._is_answered or not self.is_enough() or self.completed:
            return False
        self._is_answered = True
        self.answer()
        return True

    @property
    def waits_for_news(self) -> bool:
        """Whether its session knows what ends the wait: anything new."""
        return self._session is not None and self._params.min_bytes <= 1

    def is_enough(self) -> bool:
        """Return whether a read now would have something to return. Raises ColdRead, as
        `has_enough` does.
        """
        session = self._session
        if session is not None and self._params.min_bytes <= 1:
            return session.has_news
        return has_enough(self._manager, self._params, self._changed())

    def _changed(self) -> Iterable[FetchPartition]:
        """Return the partitions to check: the dirty ones of a session; of MANY or more, if any byte
        is enough, only the one whose change is being checked.
        """
        session = self._session
        if session is not None:
            unknown = {asked for asked, _ in self._unknown}
            return [asked for asked in session.dirty if asked not in unknown]
        written = self._manager.watchers.written
        if written is None or self._params.min_bytes > 1 or len(self._wanted) < MANY:
            return self._wanted
        if self._by_partition is None:
            self._by_partition = {asked.partition: asked for asked in self._wanted}
        asked = self._by_partition.get(written)
        return self._wanted if asked is None else (asked,)

    def expire(self) -> None:
        self.answer()

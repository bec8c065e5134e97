"""A follower's fetch session on the leader: which partitions its next answer has to read.

    dirty    asked for the first time or anew, appended to, another high watermark, log start, ISR
             or epoch since the last answer; behind; not in sync; refused    read for every answer
    idle     the follower is in sync, has everything and was told everything     not looked at

A fetch of the session costs by what is dirty, however many partitions it has: each fetch of an idle
partition would say the same, so only its time is noted, here (`follower_progress.py`). A fetch that
waits is one operation in the purgatory, under the session as its key.

State: the dirty entries in reading order, the time of the last fetch, who fetches.
In:  `begin`, `ask`, `forget` (a request); `noted`, `fetched` (what was read for it); `told` (the
     answer); `touch`, `wake` (the partitions).
Out: what to read; `woken`, the sessions whose wait may be over, which their manager checks.
Invariants: an entry is dirty, or its follower's progress is idle in this session, in sync and at
the leader's log end, and was told the leader's high watermark and log start.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pykbroker.replication.fetch_request import FetchPartition

if TYPE_CHECKING:
    from pykbroker.protocol.messages.fetch_response import PartitionData
    from pykbroker.replication.fetch_request import FetchParams
    from pykbroker.replication.follower_progress import FollowerProgress

NOBODY = (-1, -1)


class FollowerSession:
    """The fetch session of one follower."""

    __slots__ = ("_broker", "_woken", "dirty", "has_news", "last_fetch_ms")

    def __init__(self, woken: dict[FollowerSession, None]) -> None:
        self._woken = woken
        self._broker = NOBODY  # id and epoch of the follower
        self.dirty: dict[FetchPartition, None] = {}
        self.has_news = False
        """Something happened since the last `begin` that ends a fetch's wait, if any byte does."""
        self.last_fetch_ms = 0

    # ---- a request

    def begin(
        self, params: FetchParams, is_stale: bool, partitions: Iterable[FetchPartition]
    ) -> None:
        """All of `partitions` are fetched, or read again.

        All become dirty if the broker id or epoch is another than before, or the epoch is stale.
        """
        self.has_news = False
        broker = (params.replica_id, params.replica_epoch)
        if is_stale or broker != self._broker:
            for asked in partitions:
                self.ask(asked)
            self._broker = broker

    def ask(self, asked: FetchPartition) -> None:
        """The follower asks for a partition, for the first time or anew."""
        if asked not in self.dirty:
            progress = self._progress_of(asked)
            if progress is not None:
                progress.settle()
            self.dirty[asked] = None

    def forget(self, asked: FetchPartition) -> None:
        """The follower does not ask for the partition any more."""
        progress = self._progress_of(asked)
        if progress is not None:
            progress.leave()
        self.dirty.pop(asked, None)

    def _progress_of(self, asked: FetchPartition) -> FollowerProgress | None:
        partition = asked.partition
        progress = None if partition is None else partition.followers.get(self._broker[0])
        return progress if progress is not None and progress.asked is asked else None

    # ---- what was read, and answered

    def noted(self, asked: FetchPartition, progress: FollowerProgress) -> None:
        """`progress` knows of the fetch of `asked`, which met no error."""
        if progress.asked is not asked:
            progress.join(self, asked)
            partition = asked.partition
            if partition is not None and asked.fetch_offset < partition.log.local.log_end_offset:
                self.has_news = True
        self._rest(asked, progress)

    def fetched(self, now_ms: int) -> None:
        """Note the time of a fetch: followers that are idle were caught up then."""
        self.last_fetch_ms = max(self.last_fetch_ms, now_ms)

    def told(self, answers: Iterable[tuple[FetchPartition, PartitionData]]) -> None:
        """What was read last is answered; those with records are read last next time."""
        dirty = self.dirty
        for asked, entry in answers:
            if len(entry.records):  # type: ignore[arg-type]
                dirty.pop(asked, None)
                dirty[asked] = None
            elif not entry.error_code and entry.diverging_epoch is None:
                progress = self._progress_of(asked)
                if progress is not None:
                    self._rest(asked, progress)

    def _rest(self, asked: FetchPartition, progress: FollowerProgress) -> None:
        """Look at it no more until something changes, if it is as far as it can be."""
        partition = asked.partition
        if (
            partition is not None
            and asked.sent_high_watermark == partition.high_watermark  # fails most often
            and partition.is_leader
            and asked.current_leader_epoch == partition.leader_epoch
            and asked.fetch_offset == partition.log.log_end_offset == progress.log_end_offset
            and asked.log_start_offset == progress.log_start_offset
            and asked.sent_log_start_offset == partition.log.log_start_offset
            and progress.replica_id in partition.isr.members
            and asked in self.dirty
        ):
            del self.dirty[asked]
            progress.rest()

    # ---- what happens to partitions

    def touch(self, asked: FetchPartition) -> None:
        """See `AskingSession`."""
        self.dirty[asked] = None

    def wake(self, asked: FetchPartition) -> None:
        """See `AskingSession`."""
        self.dirty[asked] = None
        self.has_news = True
        self._woken[self] = None

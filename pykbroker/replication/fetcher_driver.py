"""The fetchers of a node: assigns each partition that it follows to a fetcher.

    (leader, number) -> Fetcher      `num.replica.fetchers` numbers for each leader, by partition

State: the fetchers, and the fetcher of each partition.
In:  `follow`, `leave` (replica manager). Out: fetchers, each with its own connection.
Source: Kafka's `AbstractFetcherManager.scala`, `ReplicaFetcherManager.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import spawn
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import KafkaError
from pykbroker.replication import follower_log
from pykbroker.replication.fetcher import Fetcher, FetcherWorld, Send

if TYPE_CHECKING:
    from pykbroker.replication.partition import Partition

_log = logging.getLogger(__name__)


class FetcherDriver:
    """The fetchers of a node. `connect(purpose)` returns the function that sends requests, over one
    connection for each peer.
    """

    def __init__(
        self, world: FetcherWorld, connect: Callable[[str], Send], fetchers_per_leader: int
    ) -> None:
        self._world = world
        self._connect = connect
        self._count = fetchers_per_leader
        self._fetchers: dict[tuple[int, int], Fetcher] = {}
        self._places: dict[Partition, tuple[int, int]] = {}
        self._is_closed = False

    def follow(self, partition: Partition) -> None:
        """See `Following`; a partition without a leader is no longer fetched."""
        self.leave(partition)
        if partition.leader < 0 or self._is_closed:
            return
        try:
            # Batches that this node queued as leader, in this round, must be in the log to be cut.
            partition.log.write_pending()
            if not follower_log.cut_at_hole(partition, self._world.now_ms()):
                return  # with its hole it must not get in sync
        except LogDirFailure as failure:
            self._world.manager.on_directory_failure(failure)
            return
        except KafkaError as error:  # a damaged segment; fetching goes on from the log's end
            _log.error("%s: was not searched for a gap: %s", partition, error)
        place = (partition.leader, self._number_of(partition))
        fetcher = self._fetchers.get(place)
        if fetcher is None:
            send = self._connect(f"fetcher-{place[1]}")
            fetcher = self._fetchers[place] = Fetcher(place[0], self._world, send)
            fetcher.follow(partition)
            self._world.scheduler.call_soon(_start, fetcher)
        else:
            fetcher.follow(partition)
        self._places[partition] = place

    def leave(self, partition: Partition) -> None:
        """See `Following`. A fetcher without partitions ends."""
        place = self._places.pop(partition, None)
        if place is None:
            return
        fetcher = self._fetchers[place]
        fetcher.leave(partition)
        if not fetcher.partitions:
            del self._fetchers[place]
            fetcher.close()

    def resize(self, fetchers_per_leader: int) -> None:
        """Redistribute the partitions, because `num.replica.fetchers` changed."""
        if fetchers_per_leader == self._count:
            return
        self._count = fetchers_per_leader
        for partition in list(self._places):
            self.follow(partition)

    def close(self) -> None:
        """End every fetcher."""
        self._is_closed = True
        self._places.clear()
        fetchers, self._fetchers = self._fetchers, {}
        for fetcher in fetchers.values():
            fetcher.close()

    def _number_of(self, partition: Partition) -> int:
        return (int.from_bytes(partition.topic_id[-4:], "big") + partition.index) % self._count


def _start(fetcher: Fetcher) -> None:
    """Start a new fetcher in the turn after `follow`, so that partitions that are followed in one
    turn are requested together.
    """
    spawn(fetcher.run())

"""The waiting operations of this node's partitions, and the listeners to notify.

    the high watermark moved    produces, coordinators; fetches outside a follower's session
    the log grew                followers: in a session, or each fetch by itself
    the low watermark moved     DeleteRecords
    another role, gone          all of these operations; coordinators if it is gone

State: the coordinators by partition, the sessions that partitions have woken, and, while fetches
are checked, which partition changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from pykbroker.errors import ErrorCode
from pykbroker.replication.follower_session import FollowerSession
from pykbroker.replication.partition import READ_COMMITTED, Partition
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.purgatory import Purgatory
    from pykbroker.replication.delayed_produce import DelayedAcknowledgement


class PartitionListener(Protocol):
    """A coordinator that appends to a partition and waits for its high watermark."""

    def on_high_watermark(self, topic_partition: TopicPartition, high_watermark: int) -> None:
        """Everything before `high_watermark` is committed."""

    def on_failed(self, topic_partition: TopicPartition, code: int) -> None:
        """The partition has left this node or its directory failed: queued and uncommitted records
        are lost, or their outcome is unknown. `code` is the reason.
        """


class Watchers:
    """Notifies the operations and listeners that wait for changes of partitions."""

    __slots__ = ("_listeners", "_purgatory", "_watched", "woken", "written")

    def __init__(self, purgatory: Purgatory) -> None:
        self._purgatory = purgatory
        self._watched = purgatory.watched
        self._listeners: dict[TopicPartition, list[PartitionListener]] = {}
        self.woken: dict[FollowerSession, None] = {}
        self.written: Partition | None = None  # while the fetches that wait for it are checked

    def watch(self, topic_partition: TopicPartition, listener: PartitionListener) -> None:
        """Tell `listener` of the partition's high watermark, and when it is lost."""
        self._listeners.setdefault(topic_partition, []).append(listener)

    def unwatch(self, topic_partition: TopicPartition, listener: PartitionListener) -> None:
        """Stop telling `listener`; nothing happens when it did not watch."""
        listeners = self._listeners.get(topic_partition, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self._listeners.pop(topic_partition, None)

    def await_acknowledgement(self, waiting: DelayedAcknowledgement) -> None:
        """Check `waiting` when one of its partitions acknowledges more, until its deadline."""
        self._purgatory.watch(waiting, waiting.keys(), waiting.deadline_ms)

    def on_committed(self, moved: Sequence[Partition]) -> None:
        """High watermarks moved: complete produces and coordinators' writes, then look at the
        fetches that may read on."""
        watched = self._watched
        for partition in moved:
            if partition.produce_key in watched:
                self._purgatory.check(partition.produce_key)
            if self._listeners:
                self._tell_coordinators(partition)
        for partition in moved:
            if partition in watched:
                self._check_written(partition, partition)
            if partition.stable_key in watched:
                stable_offset = partition.bound(READ_COMMITTED)
                if stable_offset != partition.stable_offset:
                    partition.stable_offset = stable_offset
                    self._check_written(partition, partition.stable_key)

    def _tell_coordinators(self, partition: Partition) -> None:
        topic_partition = partition.topic_partition
        for listener in tuple(self._listeners.get(topic_partition, ())):
            listener.on_high_watermark(topic_partition, partition.high_watermark)

    def on_grown(self, grown: Iterable[Partition]) -> None:
        """Logs grew, the high watermarks stay: look at fetches to the log end without a
        session."""
        for partition in grown:
            if partition.end_key in self._watched:
                self._check_written(partition, partition.end_key)

    def _check_written(self, partition: Partition, key: Hashable) -> None:
        self.written = partition
        self._purgatory.check(key)
        self.written = None

    def check_sessions(self) -> None:
        """Look at the fetches of the followers' sessions that were woken."""
        woken = list(self.woken)
        self.woken.clear()
        for session in woken:
            self._purgatory.check(session)

    def on_low_watermark(self, partition: Partition) -> None:
        """The low watermark moved: complete DeleteRecords."""
        self._purgatory.check(partition.produce_key)

    def on_changed(self, partition: Partition) -> None:
        """The partition may have another role or epoch, or is gone: look at every operation."""
        check = self._purgatory.check
        check(partition.produce_key)
        check(partition)
        check(partition.stable_key)
        check(partition.end_key)
        if self.woken:
            self.check_sessions()

    def on_failed(self, partition: Partition) -> None:
        """The partition has left this node or its directory failed: tell its listeners."""
        code = partition.offline_code or int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        for listener in tuple(self._listeners.get(partition.topic_partition, ())):
            listener.on_failed(partition.topic_partition, code)

"""The log of a coordinator: the partitions of its internal topic, as seen by the runtime.

`CoordinatorLog` is the interface that the runtime needs; `ReplicaLog` implements it over the
replica manager. Tests use one in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.log.producers.verification import VerificationGuard
    from pykbroker.replication.replica_manager import ReplicaManager
    from pykbroker.replication.watchers import PartitionListener


class Appended(NamedTuple):
    """The offsets of an appended batch; if `error` is not 0, nothing was appended."""

    base_offset: int
    next_offset: int
    error: int = 0


class LogBounds(NamedTuple):
    """The start and the exclusive end offsets of one partition: `end` includes batches that are
    queued but not yet written, `written` does not; everything before `high_watermark` is committed.
    """

    start: int
    end: int
    high_watermark: int
    written: int


class CoordinatorLog(Protocol):
    """What the runtime needs of the partitions of one topic, by partition index."""

    topic: str

    def append(
        self,
        partition: int,
        batch: bytearray,
        leader_epoch: int,
        now_ms: int,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        """Queue a batch on the local leader of that epoch; its offsets are assigned immediately.

        `guard` and `transaction_version`: of a transaction's batch and of its marker.
        """

    def bounds(self, partition: int) -> LogBounds:
        """Return the offsets. Raises KafkaError if this node does not host the
        partition (any more), or its log directory is offline.
        """

    def read(self, partition: int, offset: int, max_bytes: int) -> bytes:
        """Read batches from the one that contains `offset` or follows it; the last one may be
        incomplete. Empty if none is written yet.
        """

    def watch(self, partition: int, listener: PartitionListener) -> None:
        """Notify `listener` of high watermark changes and failures."""

    def unwatch(self, partition: int, listener: PartitionListener) -> None:
        """Remove the listener."""

    def wake(self) -> None:
        """Request a turn of the worker, because something was appended or answered outside of
        one: the end of its round writes it.
        """


class ReplicaLog:
    """The partitions of `topic` on this node."""

    def __init__(
        self, topic: str, replica_manager: ReplicaManager, wake: Callable[[], None]
    ) -> None:
        self.topic = topic
        self._replica_manager = replica_manager
        self.wake = wake

    def append(
        self,
        partition: int,
        batch: bytearray,
        leader_epoch: int,
        now_ms: int,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        """See `CoordinatorLog`."""
        manager = self._replica_manager
        found = manager.lookup(self.topic, partition)
        if isinstance(found, int):
            return Appended(-1, -1, found)
        if guard is None:
            queued = manager.queue_own(found, batch, leader_epoch, now_ms)
            if queued is not None:
                return Appended(*queued)
        if found.leader_epoch != leader_epoch:
            return Appended(-1, -1, int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        try:
            outcome = manager.append(
                found,
                memoryview(batch),
                ACKS_ALL,
                now_ms,
                AppendOrigin.COORDINATOR,
                guard=guard,
                transaction_version=transaction_version,
            )
        except KafkaError as refusal:
            return Appended(-1, -1, refusal.code)
        if outcome.error:
            return Appended(-1, -1, outcome.error)
        return Appended(outcome.base_offset, outcome.last_offset + 1)

    def bounds(self, partition: int) -> LogBounds:
        """See `CoordinatorLog`."""
        found = self._replica_manager.partition(TopicPartition(self.topic, partition))
        log = found.log
        return LogBounds(
            log.log_start_offset, log.next_offset, found.high_watermark, log.log_end_offset
        )

    def read(self, partition: int, offset: int, max_bytes: int) -> bytes:
        """See `CoordinatorLog`."""
        log = self._replica_manager.partition(TopicPartition(self.topic, partition)).log
        if offset >= log.log_end_offset:
            return b""
        piece = log.read(offset, max_bytes, log.log_end_offset).slice
        if piece is None:
            return b""
        try:
            return piece.read()
        finally:
            piece.release()

    def watch(self, partition: int, listener: PartitionListener) -> None:
        """See `CoordinatorLog`."""
        self._replica_manager.watch(TopicPartition(self.topic, partition), listener)

    def unwatch(self, partition: int, listener: PartitionListener) -> None:
        """See `CoordinatorLog`."""
        self._replica_manager.unwatch(TopicPartition(self.topic, partition), listener)


def coordinator_error(code: int) -> int:
    """Translate an error of a coordinator's log for its clients; other codes stay as they are.

    Source: Kafka's `CoordinatorOperationExceptionHelper.java`.
    """
    return int(_ERRORS.get(code, code))


_ERRORS: dict[int, ErrorCode] = {
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}

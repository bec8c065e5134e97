"""The coordinator's state of one transactional id, and its possible steps.

A `Transaction` is never changed: every step returns the next one, and checks that it may follow.
Epochs: a client never gets the highest one (32767), so that there is always one left to fence it
with; when the last one is used up, the id goes on with a new producer id and epoch 0.
Source: Kafka's `TransactionMetadata.java`.
"""

from __future__ import annotations

from typing import Final

from pykbroker.coordinator.transaction.states import COMES_FROM, TransactionState
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
MAX_EPOCH: Final = 32767
EPOCH_BUMPING: Final = 2
"""From this transaction.version on, every end of a transaction takes the next epoch (KIP-890)."""

# In the order in which they were added; nobody changes one.
Partitions = dict[TopicPartition, None]
_NO_PARTITIONS: Final[Partitions] = {}


class Transaction(NamedTuple):
    """One transactional id. Times in milliseconds; `started_ms` is -1 until a transaction begins
    (or, with transaction.version 2, is aborted without having begun).

    last_epoch: the epoch before the present one, with which InitProducerId may be repeated; -1:
        with none, because a new producer may have started (or after a fail-over).
    next_producer_id: the one to continue with when the markers are written; -1: the same.
    client_version: the transaction.version of the last addition of partitions, or end.
    """

    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: Partitions = _NO_PARTITIONS
    started_ms: int = -1
    updated_ms: int = -1
    last_epoch: int = NO_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_version: int = 0

    @property
    def is_epoch_used_up(self) -> bool:
        """Whether the client has the highest epoch that it may have."""
        return is_last_epoch(self.epoch)

    def is_same_end(self, other: Transaction) -> bool:
        """Return whether both are the end of the same transaction, in the same state. Before
        transaction.version 2 a producer's transactions have the same epoch, so their times
        distinguish them.
        """
        return (
            self.state is other.state
            and self.producer_id == other.producer_id
            and self.epoch == other.epoch
            and self.updated_ms == other.updated_ms
            and self.started_ms == other.started_ms
        )

    # ---- steps

    def initialised(self, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int) -> Transaction:
        """The producer starts (again), with this epoch."""
        return self._to(
            TransactionState.EMPTY,
            now_ms,
            epoch=epoch,
            last_epoch=last_epoch,
            timeout_ms=timeout_ms,
            partitions={},
            started_ms=-1,
        )

    def rotated(
        self, producer_id: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> Transaction:
        """The producer restarts with a new id, because its epochs are used up."""
        begun = self.initialised(0, last_epoch, timeout_ms, now_ms)
        return begun._replace(producer_id=producer_id)

    def with_partitions(self, added: Partitions, client_version: int, now_ms: int) -> Transaction:
        """Add partitions to the transaction; the first ones begin it."""
        is_ongoing = self.state is TransactionState.ONGOING
        return self._to(
            TransactionState.ONGOING,
            now_ms,
            partitions={**self.partitions, **added},
            started_ms=self.started_ms if is_ongoing else now_ms,
            client_version=client_version,
        )

    def ended(
        self,
        is_commit: bool,
        client_version: int,
        now_ms: int,
        next_producer_id: int = NO_PRODUCER_ID,
    ) -> Transaction:
        """Decide the outcome; the markers follow.

        A producer of transaction.version 2 may abort before it has added anything.
        """
        bumps = client_version >= EPOCH_BUMPING
        return self._to(
            TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT,
            now_ms,
            epoch=min(self.epoch + 1, MAX_EPOCH) if bumps else None,
            last_epoch=self.epoch if bumps else None,
            started_ms=None if self.state is TransactionState.ONGOING else now_ms,
            client_version=client_version,
            next_producer_id=next_producer_id,
        )

    def fenced(self, client_version: int, now_ms: int, next_producer_id: int) -> Transaction:
        """Abort under the next epoch, which fences the holder of the current one."""
        before = self
        if client_version < EPOCH_BUMPING:
            before = self._replace(epoch=min(self.epoch + 1, MAX_EPOCH), last_epoch=NO_EPOCH)
        return before.ended(False, client_version, now_ms, next_producer_id)

    def completed(self, now_ms: int) -> Transaction:
        """Complete the transaction: all markers are written."""
        rotates = self.next_producer_id != NO_PRODUCER_ID
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        return self._to(
            TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT,
            now_ms,
            producer_id=self.next_producer_id if rotates else None,
            epoch=0 if rotates else None,
            partitions={},
            next_producer_id=NO_PRODUCER_ID,
        )

    def _to(
        self,
        state: TransactionState,
        updated_ms: int,
        *,
        producer_id: int | None = None,
        epoch: int | None = None,
        timeout_ms: int | None = None,
        partitions: Partitions | None = None,
        started_ms: int | None = None,
        last_epoch: int | None = None,
        next_producer_id: int | None = None,
        client_version: int | None = None,
    ) -> Transaction:
        """Return the transaction in its next state; an argument that is None leaves its field."""
        if self.state not in COMES_FROM[state]:
            raise AssertionError(f"{self.state.name} is not followed by {state.name}")
        return Transaction(  # `_replace` takes three times as long
            self.producer_id if producer_id is None else producer_id,
            self.epoch if epoch is None else epoch,
            self.timeout_ms if timeout_ms is None else timeout_ms,
            state,
            self.partitions if partitions is None else partitions,
            self.started_ms if started_ms is None else started_ms,
            updated_ms,
            self.last_epoch if last_epoch is None else last_epoch,
            self.producer_id,
            self.next_producer_id if next_producer_id is None else next_producer_id,
            self.client_version if client_version is None else client_version,
        )


def is_last_epoch(epoch: int) -> bool:
    """Return whether it is the highest epoch that a client may have, or above it."""
    return epoch >= MAX_EPOCH - 1

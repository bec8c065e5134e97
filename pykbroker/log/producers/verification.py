"""Which producers may open a transaction in a partition: verification guards (KIP-890).

    no entry   --- start: a guard is issued, the coordinator is asked -------> VERIFYING
    VERIFYING  --- append with this guard: the transaction is open ----------> no entry
    VERIFYING  --- end marker: the coordinator's late answer is void --------> no entry
    VERIFYING  --- never completed: expired like the state of a producer ----> no entry

A client's transactional batch opens a transaction only with the guard of the entry (unless
transaction.partition.verification.enable is false). Otherwise a batch that arrives after its
transaction was aborted could open one that nothing ends. A marker does not remove the entry of the
transaction that follows it (transaction version 2: it has the marker's epoch).

State  one entry for each producer id that is being verified; it holds the lowest sequence seen, and
       higher ones are refused until that one is appended.
In     `start` (a request), `note_append` (an appended batch), `remove_expired`.
Out    guards; KafkaError for a batch that must not be appended.
Source Kafka's VerificationStateEntry.java, UnifiedLog.java, ProducerAppendInfo.java.
"""

from __future__ import annotations

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.record_batch import CONTROL_BIT, BatchHeader


class VerificationGuard:
    """The identity of one verification: equal to nothing but itself."""

    __slots__ = ()


#: The guard of an append that must be verified but was not: it matches no entry.
UNVERIFIED = VerificationGuard()


class VerificationEntry:
    """One producer that is being verified."""

    __slots__ = ("epoch", "guard", "lowest_sequence", "started_ms", "supports_epoch_bump")

    def __init__(
        self, sequence: int, epoch: int, supports_epoch_bump: bool, started_ms: int
    ) -> None:
        self.guard = VerificationGuard()
        self.lowest_sequence = sequence
        self.epoch = epoch
        self.supports_epoch_bump = supports_epoch_bump
        self.started_ms = started_ms

    def note_sequence(self, sequence: int, epoch: int) -> None:
        """Record another batch that waits for the same verification."""
        if epoch > self.epoch:
            self.epoch = epoch
            self.lowest_sequence = sequence
        elif epoch == self.epoch and sequence < self.lowest_sequence:
            self.lowest_sequence = sequence


class Verifications:
    """The verifications in progress of one partition."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[int, VerificationEntry] = {}

    def start(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> VerificationGuard:
        """Return the guard for a batch of this producer: the pending one if there is one."""
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = VerificationEntry(sequence, epoch, supports_epoch_bump, now_ms)
            self.entries[producer_id] = entry
        else:
            entry.note_sequence(sequence, epoch)
        return entry.guard

    def check_guard(self, producer_id: int, guard: VerificationGuard) -> None:
        """Raise KafkaError(INVALID_TXN_STATE) unless `guard` is that of the producer's entry."""
        entry = self.entries.get(producer_id)
        if entry is None or entry.guard is not guard:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction"
            )

    def check_sequence(self, header: BatchHeader, has_batches: bool, where: str) -> None:
        """Raise KafkaError(OUT_OF_ORDER_SEQUENCE_NUMBER) if a lower sequence has to come first.

        has_batches: the partition remembers batches of this producer.
        """
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        sequence = header.base_sequence
        if entry.supports_epoch_bump and sequence != 0 and not has_batches:
            expected = "expected sequence 0 of a producer without state"
        elif sequence > entry.lowest_sequence:
            expected = f"{entry.lowest_sequence} (earliest seen sequence)"
        else:
            return
        raise KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Out of order sequence number for producer {header.producer_id} at {where}: "
            f"{sequence} (incoming seq. number), {expected}",
        )

    def note_append(self, header: BatchHeader) -> None:
        """Record that a transactional batch was appended: the transaction is open, or ended."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        is_next = entry.supports_epoch_bump and header.producer_epoch == entry.epoch
        if not (header.attributes & CONTROL_BIT and is_next):
            del self.entries[header.producer_id]

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Remove verifications that began `expiration_ms` ago or earlier."""
        if self.entries:
            self.entries = {
                producer_id: entry
                for producer_id, entry in self.entries.items()
                if now_ms - entry.started_ms < expiration_ms
            }

"""The producers of one partition: their epochs, last five batches and open transactions.

State   producers by id; open transactions; transactions that ended above the high watermark; the
        offset up to which the log is covered (`map_end_offset`).
In      headers of batches with a producer id, in log order; high watermark and log start offset.
Out     for a batch: KafkaError if it must not be appended, the batch that it duplicates, or a
        ProducerUpdate to apply; CompletedTxn if a marker ends a transaction; snapshot bytes.
        Guards of transactions that are being verified are in verification.py.
Invariants
    `prepare` changes nothing. `apply` replaces the old entry with a new one, so `undo` (in reverse
    order, after a failed write) restores producers and transactions, but not verifications.
    The first unstable offset never passes the first offset of an open transaction, nor that of one
    whose marker was applied since the last `clear` and is at or above the high watermark.

Rules (ProducerAppendInfo.java): an unknown producer (unless it is being verified), or one without
an epoch, may begin at any sequence; a new epoch begins at 0; an old epoch is fenced; sequences
increase by one and wrap from 2**31 - 1 to 0; an exact repetition of one of the last five batches is
a duplicate. Replicated batches are not fenced; sequences are checked for batches of clients only.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.producers.producer_entry import (
    KNOWN_BATCHES,
    BatchMetadata,
    CompletedTxn,
    CorruptSnapshot,
    ProducerStateEntry,
    decode_snapshot,
    encode_snapshot,
    stray_snapshots,
)
from pykbroker.log.producers.verification import VerificationGuard, Verifications
from pykbroker.log.validation.validation_rules import CLIENT, REPLICATION
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, marker_of
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.record_batch import (
    CONTROL_BIT,
    NO_PRODUCER_EPOCH,
    NO_SEQUENCE,
    TRANSACTIONAL_BIT,
    BatchHeader,
    increment_sequence,
)

__all__ = [
    "BatchMetadata",
    "CompletedTxn",
    "CorruptSnapshot",
    "ProducerStateEntry",
    "ProducerStateManager",
    "ProducerUpdate",
    "decode_snapshot",
    "encode_snapshot",
    "stray_snapshots",
]

DEFAULT_EXPIRATION_MS = 86_400_000
LATE_BUFFER_MS = 300_000
"""How much older than `transaction.max.timeout.ms` an open transaction is when it is late."""
_MAX_EPOCH = 0x7FFF


class ProducerUpdate:
    """The effect of one batch on the state: `entry` replaces `previous`."""

    __slots__ = ("completed", "entry", "previous", "started")

    def __init__(
        self,
        entry: ProducerStateEntry,
        previous: ProducerStateEntry | None,
        started: int = -1,
        completed: CompletedTxn | None = None,
    ) -> None:
        self.entry = entry
        self.previous = previous
        self.started = started
        self.completed = completed


class ProducerStateManager:
    """The producers of one partition."""

    __slots__ = (
        "_ongoing",
        "_unreplicated",
        "last_snapshot_offset",
        "map_end_offset",
        "partition",
        "producer_id_expiration_ms",
        "producers",
        "restored",
        "verifications",
    )

    def __init__(
        self, partition: str, producer_id_expiration_ms: int = DEFAULT_EXPIRATION_MS
    ) -> None:
        self.partition = partition
        self.producer_id_expiration_ms = producer_id_expiration_ms
        self.producers: dict[int, ProducerStateEntry] = {}
        self.restored: set[int] = set()
        """Producers loaded from a snapshot, which has their last batch, until `take_restored`."""
        self.verifications = Verifications()
        self.map_end_offset = 0
        self.last_snapshot_offset = 0
        self._ongoing: dict[int, int] = {}  # first offset -> producer id, ascending
        self._unreplicated: dict[int, int] = {}  # first offset -> offset of the marker

    # -- appending ------------------------------------------------------------------------------

    def find_duplicate(self, header: BatchHeader) -> BatchMetadata | None:
        """Return the batch among the producer's last five that this one
        repeats; None if there is none.
        """
        entry = self.producers.get(header.producer_id)
        if entry is None or entry.producer_epoch != header.producer_epoch:
            return None
        first = header.base_sequence
        last = header.last_sequence
        for batch in entry.batches:
            if batch.last_sequence == last and batch.first_sequence == first:
                return batch
        return None

    def take_restored(self, header: BatchHeader) -> ProducerStateEntry | None:
        """Return the state of the batch's producer if the batch may repeat one that only the log
        still has. Each producer is returned at most once: it is removed from `restored`.
        """
        entry = self.producers.get(header.producer_id)
        if (
            entry is None
            or header.producer_id not in self.restored
            or header.producer_epoch != entry.producer_epoch
            or header.base_sequence == increment_sequence(entry.last_sequence, 1)
        ):
            return None
        self.restored.remove(header.producer_id)
        return entry if 0 < len(entry.batches) < KNOWN_BATCHES else None

    def put_back(self, entry: ProducerStateEntry) -> None:
        """Replace the state of a producer by one that the log has completed."""
        self.producers[entry.producer_id] = entry

    def prepare(
        self,
        header: BatchHeader,
        batch: BytesLike,
        base_offset: int,
        origin: int = CLIENT,
        transaction_version: int = 0,
        guard: VerificationGuard | None = None,
    ) -> ProducerUpdate | None:
        """Return the effect of appending this batch at `base_offset`; raises KafkaError if not
        allowed, CorruptBatch for an unreadable marker.

        None for a control batch without records, whose transaction was removed by compaction.
        `transaction_version` is that of a marker. With a `guard`, a batch that opens a transaction
        must have been verified; without one, nothing is verified.
        """
        entry = self.producers.get(header.producer_id)
        if header.attributes & CONTROL_BIT:
            found = marker_of(batch, header)
            if found is None:
                return None
            marker, timestamp = found
            return self._prepare_marker(
                header, marker, timestamp, base_offset, entry, origin, transaction_version
            )
        return self._prepare_data(header, base_offset, entry, origin, guard)

    def prepare_next(
        self,
        producer_id: int,
        epoch: int,
        sequence: int,
        offset_delta: int,
        last_offset: int,
        max_timestamp: int,
    ) -> ProducerUpdate | None:
        """Like `prepare`, for a client's non-transactional batch that continues the producer's
        sequence in the same epoch; None if `prepare` has to check the batch.
        """
        entry = self.producers.get(producer_id)
        if (
            entry is None
            or epoch != entry.producer_epoch
            or entry.current_txn_first_offset >= 0
            or sequence <= 0
            or not entry.batches
            or sequence != entry.batches[-1].last_sequence + 1
            or self.verifications.entries
        ):
            return None
        batches = entry.batches[1 - KNOWN_BATCHES :]
        last_sequence = increment_sequence(sequence, offset_delta)
        batches.append(BatchMetadata(last_sequence, last_offset, offset_delta, max_timestamp))
        updated = ProducerStateEntry(
            producer_id, epoch, entry.coordinator_epoch, max_timestamp, -1, batches
        )
        return ProducerUpdate(updated, entry)

    def _prepare_data(
        self,
        header: BatchHeader,
        base_offset: int,
        entry: ProducerStateEntry | None,
        origin: int,
        guard: VerificationGuard | None,
    ) -> ProducerUpdate:
        epoch = header.producer_epoch
        transactional = header.attributes & TRANSACTIONAL_BIT
        if entry is not None and epoch < entry.producer_epoch:
            self._fence(header.producer_id, epoch, entry.producer_epoch, base_offset, origin, 0)
        if guard is not None and transactional and not _is_open(entry, epoch):
            self.verifications.check_guard(header.producer_id, guard)
        if self.verifications.entries and origin == CLIENT:
            has_batches = entry is not None and bool(entry.batches)
            where = f"offset {base_offset} in partition {self.partition}"
            self.verifications.check_sequence(header, has_batches, where)
        if entry is not None:
            if origin == CLIENT:
                self._check_sequence(header, entry, base_offset)
            current_txn = entry.current_txn_first_offset
            coordinator_epoch = entry.coordinator_epoch
            batches = entry.batches[1 - KNOWN_BATCHES :] if epoch == entry.producer_epoch else []
        else:
            current_txn = -1
            coordinator_epoch = -1
            batches = []
        started = -1
        if transactional:
            if current_txn < 0:
                started = current_txn = base_offset
        elif current_txn >= 0:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"Expected transactional write from producer {header.producer_id} at offset "
                f"{base_offset} in partition {self.partition}",
            )
        delta = header.last_offset_delta
        base_sequence = header.base_sequence
        batches.append(
            BatchMetadata(
                NO_SEQUENCE if base_sequence < 0 else increment_sequence(base_sequence, delta),
                base_offset + delta,
                delta,
                header.max_timestamp,
            )
        )
        updated = ProducerStateEntry(
            header.producer_id, epoch, coordinator_epoch, header.max_timestamp, current_txn, batches
        )
        return ProducerUpdate(updated, entry, started)

    def _prepare_marker(
        self,
        header: BatchHeader,
        marker: EndTxnMarker,
        timestamp: int,
        base_offset: int,
        entry: ProducerStateEntry | None,
        origin: int,
        transaction_version: int,
    ) -> ProducerUpdate:
        producer_id = header.producer_id
        epoch = header.producer_epoch
        first_offset = -1
        batches: list[BatchMetadata] = []
        if entry is not None:
            current = entry.producer_epoch
            first_offset = entry.current_txn_first_offset
            if epoch < current or (
                transaction_version >= 2
                and epoch == current
                and first_offset >= 0
                and epoch != _MAX_EPOCH
            ):
                self._fence(producer_id, epoch, current, base_offset, origin, transaction_version)
            if entry.coordinator_epoch > marker.coordinator_epoch and origin != REPLICATION:
                raise KafkaError(
                    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                    f"Invalid coordinator epoch for producerId {producer_id} at offset "
                    f"{base_offset} in partition {self.partition}: {marker.coordinator_epoch} "
                    f"(zombie), {entry.coordinator_epoch} (current)",
                )
            if epoch == current:
                batches = entry.batches
        completed = None
        if first_offset >= 0:
            completed = CompletedTxn(
                producer_id, first_offset, base_offset, marker.control_type == ABORT
            )
        updated = ProducerStateEntry(
            producer_id, epoch, marker.coordinator_epoch, timestamp, -1, batches
        )
        return ProducerUpdate(updated, entry, -1, completed)

    def apply(self, update: ProducerUpdate) -> CompletedTxn | None:
        """Apply an update; return the transaction that a marker ended, for
        the transaction index if aborted.
        """
        entry = update.entry
        self.producers[entry.producer_id] = entry
        if update.started >= 0:
            self._ongoing[update.started] = entry.producer_id
        completed = update.completed
        if completed is not None:
            completed.last_stable_offset = self._last_stable_offset(completed)
            self._ongoing.pop(completed.first_offset, None)
            self._unreplicated[completed.first_offset] = completed.last_offset
        return completed

    def undo(self, update: ProducerUpdate) -> None:
        """Undo the last applied update, because its batch was not written."""
        producer_id = update.entry.producer_id
        if update.previous is None:
            self.producers.pop(producer_id, None)
        else:
            self.producers[producer_id] = update.previous
        if update.started >= 0:
            self._ongoing.pop(update.started, None)
        completed = update.completed
        if completed is not None:
            self._unreplicated.pop(completed.first_offset, None)
            self._ongoing[completed.first_offset] = producer_id
            self._ongoing = dict(sorted(self._ongoing.items()))

    def _last_stable_offset(self, completed: CompletedTxn) -> int:
        for first_offset, producer_id in self._ongoing.items():
            if producer_id != completed.producer_id:
                return first_offset
        return completed.last_offset + 1

    def _check_sequence(
        self, header: BatchHeader, entry: ProducerStateEntry, base_offset: int
    ) -> None:
        sequence = header.base_sequence
        known_epoch = entry.producer_epoch
        if header.producer_epoch != known_epoch:
            if sequence != 0 and known_epoch != NO_PRODUCER_EPOCH:
                raise KafkaError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of producer {header.producer_id} at "
                    f"offset {base_offset} in partition {self.partition}: {header.producer_epoch} "
                    f"(request epoch), {sequence} (seq. number), {known_epoch} (current producer "
                    "epoch)",
                )
            return
        last = entry.last_sequence
        if sequence != last + 1 and not (sequence == 0 and last == 0x7FFFFFFF):
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for producer {header.producer_id} at offset "
                f"{base_offset} in partition {self.partition}: {sequence} (incoming seq. number), "
                f"{last} (current end sequence number)",
            )

    def _fence(
        self,
        producer_id: int,
        epoch: int,
        current: int,
        offset: int,
        origin: int,
        transaction_version: int,
    ) -> None:
        if origin == REPLICATION:
            return
        comparison = "<=" if transaction_version >= 2 else "<"
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"Epoch of producer {producer_id} at offset {offset} in {self.partition} is {epoch}, "
            f"which is {comparison} the last seen epoch {current}",
        )

    # -- transactions ---------------------------------------------------------------------------

    def start_verification(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> VerificationGuard | None:
        """Return the guard with which the producer may open a transaction once it is verified.

        None if it is already open. Raises KafkaError(INVALID_PRODUCER_EPOCH) if the producer is
        fenced.
        """
        entry = self.producers.get(producer_id)
        if entry is not None and epoch < entry.producer_epoch:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {producer_id} is {epoch}, which is smaller than the last seen "
                f"epoch {entry.producer_epoch}",
            )
        if _is_open(entry, epoch):
            return None
        return self.verifications.start(producer_id, sequence, epoch, supports_epoch_bump, now_ms)

    def first_unstable_offset(self) -> int | None:
        """Return the upper bound of the last stable offset; None if no transaction limits it."""
        ongoing = next(iter(self._ongoing), None)
        unreplicated = min(self._unreplicated) if self._unreplicated else None
        if ongoing is None or unreplicated is None:
            return unreplicated if ongoing is None else ongoing
        return min(ongoing, unreplicated)

    def has_late_transaction(self, now_ms: int, max_timeout_ms: int) -> bool:
        """Whether the transaction that has been open longest should have ended long ago.

        Its age counts from the timestamp of its producer's last batch.
        """
        oldest = next(iter(self._ongoing.values()), None)
        entry = None if oldest is None else self.producers.get(oldest)
        if entry is None or entry.last_timestamp <= 0:
            return False
        return now_ms - entry.last_timestamp > max_timeout_ms + LATE_BUFFER_MS

    def unstable_offset_at(self, high_watermark: int) -> int | None:
        """Return `first_unstable_offset`, given that the high watermark has come that far."""
        if not self._ongoing and not self._unreplicated:
            return None
        self.on_high_watermark(high_watermark)
        return self.first_unstable_offset()

    def on_high_watermark(self, high_watermark: int) -> None:
        """Mark the transactions whose markers are below the high watermark as stable."""
        if self._unreplicated:
            self._unreplicated = {
                first: last for first, last in self._unreplicated.items() if last >= high_watermark
            }

    def on_log_start_offset(self, log_start_offset: int) -> None:
        self.on_high_watermark(log_start_offset)
        self.map_end_offset = max(self.map_end_offset, log_start_offset)

    # -- life of the state ----------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self.producers and not self._unreplicated

    def active_producers(self) -> list[ProducerStateEntry]:
        return list(self.producers.values())

    def remove_expired(self, now_ms: int) -> int:
        """Remove silent producers without an open transaction; return how many."""
        expired = [
            producer_id
            for producer_id, entry in self.producers.items()
            if self._is_expired(entry, now_ms)
        ]
        for producer_id in expired:
            del self.producers[producer_id]
            self.restored.discard(producer_id)
        self.verifications.remove_expired(now_ms, self.producer_id_expiration_ms)
        return len(expired)

    def _is_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return (
            entry.current_txn_first_offset < 0
            and now_ms - entry.last_timestamp >= self.producer_id_expiration_ms
        )

    def clear(self, map_end_offset: int) -> None:
        """Reset the state, except verifications, to that of an empty log at `map_end_offset`."""
        self.producers.clear()
        self.restored.clear()
        self._ongoing.clear()
        self._unreplicated.clear()
        self.map_end_offset = map_end_offset
        self.last_snapshot_offset = map_end_offset

    def load(self, entries: Iterable[ProducerStateEntry], offset: int) -> None:
        """Replace the state by that of a snapshot taken at `offset`.

        Expired producers are included until `remove_expired` is called, because one that sends
        records with old timestamps may be about to repeat its last batch. (Kafka omits them and
        then stores the batch twice.)
        """
        self.clear(offset)
        for entry in entries:
            self.producers[entry.producer_id] = entry
            self.restored.add(entry.producer_id)
            if entry.current_txn_first_offset >= 0:
                self._ongoing[entry.current_txn_first_offset] = entry.producer_id
        self._ongoing = dict(sorted(self._ongoing.items()))

    def snapshot_bytes(self) -> bytes:
        """Return the content of `<map_end_offset>.snapshot`."""
        return encode_snapshot(self.producers.values())


def _is_open(entry: ProducerStateEntry | None, epoch: int) -> bool:
    """Return whether the producer has an open transaction in exactly this epoch."""
    return (
        entry is not None and entry.current_txn_first_offset >= 0 and entry.producer_epoch == epoch
    )

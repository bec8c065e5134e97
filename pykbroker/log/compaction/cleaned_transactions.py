"""Transactions during compaction: which batches were aborted, which markers are no longer needed.

State   aborted transactions that begin later; producers with a transaction open at this point of
        the log, aborted or committed; those of which aborted batches were seen.
In      batches in log order, of one pass over (a part of) the log.
Invariants
    A marker may be removed only if no batch of its transaction was seen before it. One that only
    waits for its delete horizon is not in the new transaction index.

Source: Kafka's CleanedTransactionMetadata.java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pykbroker.log.segments.txn_index import AbortedTxn
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_type
from pykbroker.protocol.crc32c import BytesLike
from pykbroker.protocol.record_batch import TRANSACTIONAL_BIT, BatchHeader, iter_records


class CleanedTransactions:
    """One pass over a log; `on_kept_abort` is called with each aborted transaction that ends
    after batches of it were seen: its marker is kept.
    """

    __slots__ = ("_aborted", "_coming", "_committed", "_observed", "_on_kept_abort")

    def __init__(
        self,
        aborted: Iterable[AbortedTxn],
        on_kept_abort: Callable[[AbortedTxn], None] | None = None,
    ) -> None:
        self._coming = sorted(set(aborted), key=lambda txn: txn.first_offset, reverse=True)
        self._aborted: dict[int, AbortedTxn] = {}
        self._observed: set[int] = set()
        self._committed: set[int] = set()
        self._on_kept_abort = on_kept_abort

    def follow_kept_aborts(self, on_kept_abort: Callable[[AbortedTxn], None]) -> None:
        """Call `on_kept_abort` from now on: the kept markers go into another segment."""
        self._on_kept_abort = on_kept_abort

    def on_batch(self, header: BatchHeader) -> bool:
        """Process a data batch; return True if its transaction was aborted."""
        self._begin_up_to(header.last_offset)
        if not header.attributes & TRANSACTIONAL_BIT:
            return False
        producer_id = header.producer_id
        if producer_id in self._aborted:
            self._observed.add(producer_id)
            return True
        self._committed.add(producer_id)
        return False

    def on_control_batch(self, header: BatchHeader, batch: BytesLike) -> bool:
        """Process a control batch; return True if it is a marker before which nothing of its
        transaction was seen, or has lost its record. Raises CorruptBatch.
        """
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        for record in iter_records(batch, header):
            control_type = decode_type(record.key)
            if control_type == ABORT:
                aborted = self._aborted.pop(producer_id, None)
                if aborted is None or producer_id not in self._observed:
                    return True
                self._observed.discard(producer_id)
                if self._on_kept_abort is not None:
                    self._on_kept_abort(aborted)
                return False
            if control_type == COMMIT:
                if producer_id not in self._committed:
                    return True
                self._committed.discard(producer_id)
            return False
        return True  # its record was removed by an earlier round

    def _begin_up_to(self, offset: int) -> None:
        coming = self._coming
        while coming and coming[-1].first_offset <= offset:
            aborted = coming.pop()
            self._aborted.setdefault(aborted.producer_id, aborted)

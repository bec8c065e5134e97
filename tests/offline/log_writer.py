"""Partitions with transactions, written as a broker writes them."""

from __future__ import annotations

import random
from pathlib import Path

from pykbroker.log.producers.producer_entry import ProducerStateEntry, encode_snapshot
from pykbroker.log.segments.txn_index import AbortedTxn, TransactionIndex
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, partition_directory, write_segment


class LogWriter:
    """Writes a partition of transactions as a broker does, indexes and snapshots too."""

    def __init__(self, root: Path, segment_batches: int = 15) -> None:
        self.directory = partition_directory(root)
        self.segment_batches = segment_batches
        self.offset = 0
        self.batches: list[bytes] = []
        self.base = 0
        self.open: dict[int, int] = {}
        self.sequences: dict[int, int] = {}
        self.pending: dict[int, list[int]] = {}
        self.aborted: list[AbortedTxn] = []
        self.committed_offsets: list[int] = []

    def _add(self, batch: bytes, records: int) -> None:
        self.batches.append(bytes(batch))
        self.offset += records
        if len(self.batches) == self.segment_batches:
            self.roll()

    def write(self, producer: int, records: int) -> None:
        """A transactional batch; producer -1: one without a transaction."""
        offsets = list(range(self.offset, self.offset + records))
        rows = [(None, b"%d" % offset, BASE_MS + offset, ()) for offset in offsets]
        batch = build_batch(
            rows,
            base_offset=self.offset,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=self.sequences.get(producer, 0) if producer >= 0 else -1,
            is_transactional=producer >= 0,
        )
        if producer >= 0:
            self.sequences[producer] = self.sequences.get(producer, 0) + records
            self.open.setdefault(producer, self.offset)
            self.pending.setdefault(producer, []).extend(offsets)
        else:
            self.committed_offsets += offsets
        self._add(bytes(batch), records)

    def end(self, producer: int, kind: int) -> None:
        marker = EndTxnMarker(kind, 3)
        batch = build_marker_batch(
            marker,
            producer_id=producer,
            producer_epoch=0,
            timestamp_ms=BASE_MS + self.offset,
            base_offset=self.offset,
        )
        first = self.open.pop(producer, None)
        offsets = self.pending.pop(producer, [])
        if first is not None and kind == ABORT:
            stable = min([*self.open.values(), self.offset + 1])
            self.aborted.append(AbortedTxn(producer, first, self.offset, stable))
        else:
            self.committed_offsets += offsets
        self._add(bytes(batch), 1)

    def roll(self) -> None:
        if not self.batches:
            return
        path = write_segment(self.directory, self.batches, self.base)
        index = TransactionIndex(self.base)
        for each in self.aborted:
            index.append(each)
        if self.aborted:
            path.with_suffix(".txnindex").write_bytes(index.to_bytes())
        self.batches, self.aborted, self.base = [], [], self.offset
        producers = [
            ProducerStateEntry(producer, 0, 3, BASE_MS, self.open.get(producer, -1), [])
            for producer in self.sequences
        ]
        (self.directory / f"{self.offset:020d}.snapshot").write_bytes(encode_snapshot(producers))

    def expected(self) -> list[int]:
        stable = min([*self.open.values(), self.offset])
        return sorted(offset for offset in self.committed_offsets if offset < stable)


def random_log(root: Path, seed: int) -> LogWriter:
    chance = random.Random(seed)
    log = LogWriter(root)
    for _ in range(100):
        producer = chance.choice([-1, 10, 11, 12])
        if producer in log.open and chance.random() < 0.4:
            log.end(producer, chance.choice([ABORT, COMMIT]))
        else:
            log.write(producer, chance.randrange(1, 4))
        if chance.random() < 0.05:
            log.end(chance.choice([10, 13]), ABORT)
    log.roll()
    return log

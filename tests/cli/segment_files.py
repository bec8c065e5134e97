"""A small segment with its indexes, as files for the tests of dump-log."""

from __future__ import annotations

import struct
from pathlib import Path

from pykbroker.log.producers.producer_entry import (
    BatchMetadata,
    ProducerStateEntry,
    encode_snapshot,
)
from pykbroker.log.segments.txn_index import AbortedTxn, TransactionIndex
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch

BASE = 100
NAME = f"{BASE:020d}"
TIME = 1_600_000_000_000


def write_segment(directory: Path) -> Path:
    """Offsets 100 to 104: a plain batch, a gzip batch of a producer, a marker. The `.log` file."""
    batches = [
        build_batch(
            [(b"k0", b"v0", TIME, ()), (None, b"v1", TIME + 1, [("h", b"x"), ("i", None)])],
            base_offset=BASE,
            leader_epoch=3,
        ),
        build_batch(
            [(b"k2", None, TIME + 2, ()), (b"k3", b"v3", TIME + 3, ())],
            base_offset=BASE + 2,
            leader_epoch=3,
            codec=1,
            producer_id=7,
            producer_epoch=1,
            base_sequence=5,
            is_transactional=True,
        ),
        build_marker_batch(
            EndTxnMarker(ABORT, 4),
            producer_id=7,
            producer_epoch=1,
            timestamp_ms=TIME + 4,
            base_offset=BASE + 4,
            leader_epoch=3,
        ),
    ]
    log = directory / f"{NAME}.log"
    log.write_bytes(b"".join(batches))
    second = len(batches[0])
    third = second + len(batches[1])
    index = struct.pack(">iiii", 3, second, 4, third)
    (directory / f"{NAME}.index").write_bytes(index)
    times = struct.pack(">qiqi", TIME + 1, 1, TIME + 4, 4)
    (directory / f"{NAME}.timeindex").write_bytes(times)
    aborted = TransactionIndex(BASE)
    aborted.append(AbortedTxn(7, BASE + 2, BASE + 4, BASE + 5))
    (directory / f"{NAME}.txnindex").write_bytes(aborted.to_bytes())
    entries = [
        ProducerStateEntry(7, 1, 4, TIME + 3, -1, [BatchMetadata(6, BASE + 3, 1, TIME + 3)]),
        ProducerStateEntry(8, 0, -1, TIME, BASE, []),
    ]
    (directory / f"{BASE + 5:020d}.snapshot").write_bytes(encode_snapshot(entries))
    return log


def positions(directory: Path) -> list[int]:
    """Where the second and third batch of `write_segment` begin."""
    index = (directory / f"{NAME}.index").read_bytes()
    return [position for _, position in struct.iter_unpack(">ii", index)]

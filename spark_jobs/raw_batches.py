"""Whole batches by their place in a file, and their records as they were before compression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pykbroker.offline import Split, scan_batches
from pykbroker.offline.storage import SegmentFile, open_file
from pykbroker.protocol.record_batch import BatchHeader, read_header, records_payload


class RawBatch(NamedTuple):
    """A batch of records: its header, its bytes, its records decompressed."""

    header: BatchHeader
    stored: bytes
    payload: bytes


def sample_batches(split: Split, every: int, most_bytes: int, max_raw: int) -> Iterator[RawBatch]:
    """Every n-th batch of records of a split, until they come to `most_bytes` on disk."""
    seen = taken = 0
    with open_file(split.path) as opened:
        for run in scan_batches(split):
            places = run.select(["position", "size_bytes", "is_control"]).to_pydict().values()
            for position, size, is_control in zip(*places, strict=True):
                if is_control:
                    continue
                seen += 1
                if (seen - 1) % every:
                    continue
                if taken >= most_bytes:
                    return
                taken += size
                yield read_batch(opened, position, size, max_raw)


def read_batch(opened: SegmentFile, position: int, size: int, max_raw: int) -> RawBatch:
    """One batch; CorruptBatch or CorruptRecord when it is none."""
    stored = opened.read(size, position)
    header = read_header(stored)
    return RawBatch(header, stored, records_payload(stored, header, max_raw))

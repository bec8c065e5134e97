"""Whole batches by their place in a file, and their records as they were before compression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pykbroker.offline import ReadOptions, Split
from pykbroker.offline.split import FaultReporter
from pykbroker.offline.storage import SegmentFile
from pykbroker.offline.views import scan_parts
from pykbroker.protocol.record_batch import (
    BatchHeader,
    CorruptBatch,
    check_crc,
    read_header,
    records_payload,
)


class RawBatch(NamedTuple):
    """A batch of records: its header, its bytes, its records decompressed."""

    header: BatchHeader
    stored: bytes
    payload: bytes


def sample_batches(
    split: Split, every: int, most_bytes: int, options: ReadOptions
) -> Iterator[RawBatch]:
    """Every n-th batch of records of a split, until they come to `most_bytes` on disk.

    One that is broken: CorruptSegment in FAILFAST, left out in the other modes.
    """
    seen = taken = 0
    reporter = FaultReporter(split, options.mode, None)
    for opened, run in scan_parts(split, options.mode):
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
            try:
                yield read_batch(opened, position, size, options)
            except CorruptBatch as fault:
                reporter.report(position, size, str(fault))


def read_batch(opened: SegmentFile, position: int, size: int, options: ReadOptions) -> RawBatch:
    """One batch; CorruptBatch or CorruptRecord when it is none."""
    stored = opened.read(size, position)
    header = read_header(stored)
    if options.verify_checksums and not check_crc(stored):
        raise CorruptBatch("the checksum does not fit the batch")
    payload = records_payload(stored, header, options.max_decompressed_bytes)
    return RawBatch(header, stored, payload)

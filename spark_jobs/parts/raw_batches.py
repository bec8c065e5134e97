"""Whole batches by their position in a file, and their records before compression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from pykbroker.offline import ReadOptions, Split
from pykbroker.offline.batch_view import scan_parts
from pykbroker.offline.split import FaultReporter
from pykbroker.offline.storage import SegmentFile
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
    """Yield every n-th batch of records of a split, until they reach `most_bytes` on disk.

    A corrupt batch that would be among them, and bytes that are no batch, raise CorruptSegment in
    FAILFAST, and are skipped in the other modes.
    """
    for run in sample_runs(split, every, most_bytes, options, 1):
        yield from run


def sample_runs(
    split: Split, every: int, most_bytes: int, options: ReadOptions, run_bytes: int
) -> Iterator[list[RawBatch]]:
    """The same in runs of neighbours that come to `run_bytes` before compression: one of n."""
    run: list[RawBatch] = []
    taken = reached = to_skip = 0
    for batch in _sound_batches(split, options):
        if to_skip:
            to_skip -= 1
            continue
        if taken >= most_bytes:
            break
        sample = batch()
        if sample is None:
            continue
        run.append(sample)
        taken += len(sample.stored)
        reached += len(sample.payload)
        if reached >= run_bytes:
            yield run
            to_skip, run, reached = (every - 1) * len(run), [], 0
    if run:
        yield run


def _sound_batches(split: Split, options: ReadOptions) -> Iterator[Callable[[], RawBatch | None]]:
    """Yield batches of records, each to be read on demand; None for a corrupt one."""
    reporter = FaultReporter(split, options.mode, None)

    def read(opened: SegmentFile, position: int, size: int) -> RawBatch | None:
        try:
            return read_batch(opened, position, size, options)
        except CorruptBatch as fault:
            reporter.report(position, size, str(fault))
            return None

    for opened, rows in scan_parts(split, options.mode):
        places = rows.select(["position", "size_bytes", "is_control"]).to_pydict().values()
        for position, size, is_control in zip(*places, strict=True):
            if not is_control:
                yield partial(read, opened, position, size)


def read_batch(opened: SegmentFile, position: int, size: int, options: ReadOptions) -> RawBatch:
    """Read one batch; raises CorruptBatch if it is none, its checksum is wrong (unless the options
    do without), or its records cannot be decompressed.
    """
    stored = opened.read(size, position)
    header = read_header(stored)
    if options.verify_checksums and not check_crc(stored):
        raise CorruptBatch("the checksum does not match the batch")
    payload = records_payload(stored, header, options.max_decompressed_bytes)
    return RawBatch(header, stored, payload)

"""The fast decoder: chunks of many batches, decoded column by column in numpy and Arrow.

    file -> chunk (4 MiB, one reused buffer) -> header table -> checksums -> which are wanted
         -> decompress -> join in one reused area -> Span -> Fields -> Arrow

State   two buffers, reused for every chunk: fresh memory costs more (page faults) than decoding.
        Each grows with the largest batch.
In      a Split and ReadOptions. Out: Arrow record batches; faults go to the reporter.
Invariants
    The rows and the faults are those of the plain decoder, in the same order; but damage inside
    records, where no column needs it, may go unnoticed.
    Memory: a chunk; twice what is decompressed at a time (the pieces and the area that joins them,
    each a few MiB more than the largest batch's contents); the rows being returned. A wrong length
    never allocates more than the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pykbroker.offline.aborted_ranges import AbortedByProducer
from pykbroker.offline.arrow_columns import ColumnBuilder
from pykbroker.offline.batch_headers import chosen, framing_fault, header_at, walk
from pykbroker.offline.chunk import Chunk
from pykbroker.offline.chunk_choice import ChunkChoice
from pykbroker.offline.columns import FIELD_COLUMNS, TIME_COLUMNS, schema_of
from pykbroker.offline.offset_order import OffsetOrder, base_behind
from pykbroker.offline.plain_decoder import arrow_batch, read_old, rows_of
from pykbroker.offline.record_fields import MIN_RECORD_BYTES, Span, decode_fields
from pykbroker.offline.segment_index import KnownBatches
from pykbroker.offline.split import FaultReporter, ReadOptions, Split
from pykbroker.offline.split_file import open_parts
from pykbroker.offline.storage import SegmentFile
from pykbroker.offline.varints import PADDING_BYTES, Doubt, Integers
from pykbroker.protocol.compression import CorruptCompression, decompress
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD, CorruptBatch

_COMPRESSED_CHUNK: Final = 1 << 20
_AREA_BYTES: Final = 4 << 20

# glibc gives every freed block larger than its threshold back to the system, and takes fresh pages
# for the next one; freeing one block raises the threshold to that block's size (at most 32 MiB).
# Nothing is touched here, so this costs nothing.
_block = bytearray((32 << 20) - (1 << 16))
del _block


def read_fast(split: Split, options: ReadOptions, reporter: FaultReporter) -> Iterator[Any]:
    """Yield the rows of a split as record batches."""
    for part, opened in open_parts(split):
        reporter.split = part
        with opened:
            yield from _FastReader(opened, part, options, reporter).run()


class _FastReader:
    """Reads one split."""

    def __init__(
        self, opened: SegmentFile, split: Split, options: ReadOptions, reporter: FaultReporter
    ) -> None:
        self.opened = opened
        self.split = split
        self.options = options
        self.reporter = reporter
        self.order = OffsetOrder(split)
        self.aborted = AbortedByProducer(split.aborted) if split.aborted else None
        self.known = KnownBatches(opened, split.index_path, split.segment_base_offset)
        self.schema = schema_of(options.columns)
        names = set(options.columns)
        by_time = split.start_timestamp_ms is not None or split.end_timestamp_ms is not None
        self.needs_times = bool(names & TIME_COLUMNS) or by_time
        self.needs_fields = bool(names & FIELD_COLUMNS)
        self.end = min(split.end_position, opened.size)
        self.chunk_bytes = max(options.chunk_bytes, RECORD_BATCH_OVERHEAD)
        self.wanted = self.chunk_bytes
        self.buffer = bytearray(min(self.chunk_bytes, max(self.end, 0)) + PADDING_BYTES)
        self.area = bytearray()

    def run(self) -> Iterator[Any]:
        self.position = yield from read_old(
            self.opened, self.split, self.options, self.reporter, self.order
        )
        end = self.end
        while self.position < end:
            at = self.position
            room = min(self.wanted, len(self.buffer) - PADDING_BYTES, end - at)
            filled = self.opened.read_into(memoryview(self.buffer)[:room], at)
            positions, used = walk(self.buffer, filled)
            if not positions:
                self.position = self._obstacle(at, filled)
                continue
            chunk = Chunk(self.buffer, positions, at)
            self.position += used
            yield from self._decode_chunk(chunk, self._base_at(self.position, used, filled))
            compressed = bool(chunk.codecs.any())
            self.wanted = self.chunk_bytes
            if compressed:
                self.wanted = min(self.chunk_bytes, _COMPRESSED_CHUNK)
        if end < self.split.end_position:
            reason = f"the file ends at {end}, before {self.split.end_position}"
            self.reporter.report(self.position, 0, reason)

    def _base_at(self, position: int, used: int, filled: int) -> int | None:
        """Return the base offset of the batch after a chunk; None if there is none, or its header
        is not possible.
        """
        head = bytes(self.buffer[used : min(filled, used + RECORD_BATCH_OVERHEAD)])
        if len(head) < RECORD_BATCH_OVERHEAD and position < self.end:
            size = min(RECORD_BATCH_OVERHEAD, self.end - position)
            head = self.opened.read(size, position)
        return base_behind(head, self.end - position)

    def _obstacle(self, position: int, filled: int) -> int:
        """Handle a buffer without a complete batch: make room for a large
        one, or skip bytes that are not one.
        """
        head = bytes(self.buffer[: min(filled, RECORD_BATCH_OVERHEAD)])
        size, fault = framing_fault(head, self.end - position)
        if fault is None and filled == min(self.wanted, len(self.buffer) - PADDING_BYTES):
            self.wanted = size  # there is more of it in the file than was read
            if size > len(self.buffer) - PADDING_BYTES:
                self.buffer = bytearray(size + PADDING_BYTES)
            return position
        if fault is None:
            fault = f"record batch of {size} bytes, only {filled} are there"  # cut while reading
        following = self._resume(position)
        self.reporter.report(position, following - position, fault, raw=head)
        return following

    def _resume(self, position: int) -> int:
        """Return the position of the next batch, if the one at `position` does not reveal it."""
        return self.known.after(position, self.end, self.order.last + 1)

    # -- which batches --------------------------------------------------------------------------

    def _decode_chunk(self, chunk: Chunk, behind: int | None) -> Iterator[Any]:
        """Yield the rows of intact batches and report the faults between them, in file order."""
        choice = self._choose(chunk, behind)
        wanted, faults = choice.wanted(self.aborted), choice.faults
        start = 0
        for index in sorted(faults):
            yield from self._decode_run(chunk, wanted[(wanted >= start) & (wanted < index)])
            position = chunk.at + int(chunk.positions[index])
            batch = chunk.batch(index)
            header = header_at(chunk.table, index)
            size = len(batch)
            if index == choice.lost:
                self.position = self._resume(position)
                size = self.position - position
            self.reporter.report(position, size, faults[index], header, batch)
            start = index + 1
        yield from self._decode_run(chunk, wanted[wanted >= start] if start else wanted)

    def _choose(self, chunk: Chunk, behind: int | None) -> ChunkChoice:
        choice = ChunkChoice(chunk, self.split, behind)
        if self.options.verify_checksums:
            choice.check_sums()
        choice.check_headers(self.known, is_at_end=self.position >= self.end)
        if self.options.verify_offsets:
            choice.check_offsets(self.order)
        return choice

    # -- records --------------------------------------------------------------------------------

    def _decode_run(self, chunk: Chunk, indices: Integers) -> Iterator[Any]:
        """Decode intact batches of one chunk, decompressed in groups of a few MiB."""
        if not indices.size:
            return
        if not (self.needs_times or self.needs_fields) and self._is_dense(chunk, indices):
            # Nothing inside the records is needed: their number and offsets are in the headers.
            starts = chunk.positions[indices] + RECORD_BATCH_OVERHEAD
            yield from self._group(chunk, indices, bytearray(), starts, None)
            return
        if not chunk.codecs[indices].any():
            starts = chunk.positions[indices] + RECORD_BATCH_OVERHEAD
            ends = chunk.positions[indices] + chunk.sizes[indices]
            yield from self._group(chunk, indices, chunk.buffer, starts, ends)
            return
        yield from self._decompress_groups(chunk, indices)

    def _is_dense(self, chunk: Chunk, indices: Integers) -> bool:
        """Whether offsets follow from the headers, whose counts are not out of all proportion."""
        table = chosen(chunk.table, indices)
        deltas = table["last_offset_delta"].astype(np.int64)
        counts = table["record_count"].astype(np.int64)
        payload = chunk.sizes[indices] - RECORD_BATCH_OVERHEAD
        most = np.where(chunk.codecs[indices] == 0, payload // MIN_RECORD_BYTES, 4 * payload)
        return bool((deltas + 1 == counts).all() and (counts <= most).all())

    def _decompress_groups(self, chunk: Chunk, indices: Integers) -> Iterator[Any]:
        limit = self.options.max_decompressed_bytes
        parts: list[bytes | memoryview] = []
        members: list[int] = []
        held = 0
        for index in indices.tolist():
            batch = chunk.batch(index)
            try:
                part = decompress(int(chunk.codecs[index]), batch[RECORD_BATCH_OVERHEAD:], limit)
            except CorruptCompression as fault:
                yield from self._joined(chunk, members, parts)
                parts, members, held = [], [], 0
                position = chunk.at + int(chunk.positions[index])
                header = header_at(chunk.table, index)
                self.reporter.report(position, len(batch), str(fault), header, batch)
                continue
            parts.append(part)
            members.append(index)
            held += len(part)
            if held >= _AREA_BYTES:
                yield from self._joined(chunk, members, parts)
                parts, members, held = [], [], 0
        yield from self._joined(chunk, members, parts)

    def _joined(
        self, chunk: Chunk, members: list[int], parts: list[bytes | memoryview]
    ) -> Iterator[Any]:
        if not members:
            return
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        ends = np.cumsum(sizes)
        needed = int(ends[-1]) + PADDING_BYTES
        if len(self.area) < needed or len(self.area) > 4 * max(needed, _AREA_BYTES):
            self.area = bytearray(max(needed, _AREA_BYTES + (_AREA_BYTES >> 1)))
        starts = ends - sizes
        area = memoryview(self.area)
        for start, part in zip(starts.tolist(), parts, strict=True):
            area[start : start + len(part)] = part
        yield from self._group(chunk, np.array(members), self.area, starts, ends)

    def _group(
        self,
        chunk: Chunk,
        indices: Integers,
        area: bytearray,
        starts: Integers,
        ends: Integers | None,
    ) -> Iterator[Any]:
        """Yield the rows of batches that lie decompressed in `area`: all at once, in doubt one by
        one, and those still in doubt by the plain decoder. `ends` is None when no record is looked
        at.
        """
        try:
            made = self._build(chunk, indices, area, starts, ends)
        except (Doubt, IndexError):
            if indices.size > 1 and ends is not None:
                for each in range(indices.size):
                    one = slice(each, each + 1)
                    yield from self._group(chunk, indices[one], area, starts[one], ends[one])
                return
            made = self._build_plain(chunk, int(indices[0]))
        if made is not None and made.num_rows:
            yield made

    def _build(
        self,
        chunk: Chunk,
        indices: Integers,
        area: bytearray,
        starts: Integers,
        ends: Integers | None,
    ) -> Any:
        span = Span(area, starts, starts if ends is None else ends, chosen(chunk.table, indices))
        limit = self.options.max_decompressed_bytes
        if ends is not None and int((ends - starts).max()) > limit:
            raise Doubt
        fields = decode_fields(span, times=self.needs_times, fields=self.needs_fields)
        builder = ColumnBuilder(
            span,
            fields,
            topic=self.split.topic,
            partition=self.split.partition,
            segment_base_offset=self.split.segment_base_offset,
            positions=chunk.positions[indices] + chunk.at,
        )
        arrays = builder.build(self.options.columns)
        made = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        keep = self._rows_wanted(span, builder)
        return made if keep is None else made.filter(pa.array(keep))

    def _rows_wanted(self, span: Span, builder: ColumnBuilder) -> NDArray[np.bool_] | None:
        """Which rows of a span are wanted; None: all of them."""
        split = self.split
        base = span.field("base_offset")
        last = base + span.field("last_offset_delta")
        keep: NDArray[np.bool_] | None = None
        if (base < split.start_offset).any() or (last >= split.end_offset).any():
            offsets = builder.offsets()
            keep = (offsets >= split.start_offset) & (offsets < split.end_offset)
        low, high = split.start_timestamp_ms, split.end_timestamp_ms
        if low is not None or high is not None:
            times = builder.timestamps_ms()
            inside = np.ones(times.size, np.bool_)
            if low is not None:
                inside &= times >= low
            if high is not None:
                inside &= times < high
            keep = inside if keep is None else keep & inside
        return keep

    def _build_plain(self, chunk: Chunk, index: int) -> Any:
        """Decode one batch with the plain decoder: return its rows, or report its fault (None)."""
        header = header_at(chunk.table, index)
        position = chunk.at + int(chunk.positions[index])
        batch = chunk.batch(index)
        limit = self.options.max_decompressed_bytes
        try:
            rows = rows_of(bytes(batch), header, position, self.split, limit)
        except CorruptBatch as fault:
            self.reporter.report(position, len(batch), str(fault), header, batch)
            return None
        return arrow_batch([rows], self.options.columns, self.schema)

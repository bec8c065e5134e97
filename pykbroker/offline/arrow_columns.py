"""Arrow arrays from positions in an area, without a Python object for each record.

Key and value bytes are not copied one by one: the whole area is taken for one binary array whose
offsets are the cuts [key start, key end, value start, value end, next key start ...], and Arrow's
own `take` picks the keys (every fourth element), then the values. Nulls are null indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pykbroker.offline import varints
from pykbroker.offline.columns import HEADER_FIELDS, HEADERS_TYPE, MAX_MS, TIMESTAMP_TYPE
from pykbroker.offline.record_fields import Fields, Span
from pykbroker.offline.varints import Doubt, Flags, Integers
from pykbroker.protocol.compression import CODEC_NAMES
from pykbroker.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_BIT,
    LOG_APPEND_TIME_BIT,
    TRANSACTIONAL_BIT,
)

#: (starts, ends, where null; None: nowhere)
Slices = tuple[Integers, Integers, Flags | None]

_MAX_AREA: Final = 0x7FFF_FFFF


def primitive(kind: Any, values: NDArray[Any]) -> Any:
    """Return an Arrow array over a numpy array, without nulls and without a copy."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _nullable(values: NDArray[np.int32], null: Flags | None) -> Any:
    return primitive(pa.int32(), values) if null is None else pa.array(values, mask=null)


def constant_text(text: str, count: int) -> Any:
    encoded = text.encode()
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(len(encoded))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(encoded * count)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def slices(area: bytearray, wanted: Sequence[Slices]) -> list[Any]:
    """Return binary arrays of slices of the area; each record's slices ascend and do not overlap.

    Raises Doubt if the area is larger than 2 GiB.
    """
    count = wanted[0][0].size
    if not count:
        return [pa.array([], pa.binary()) for _ in wanted]
    if len(area) > _MAX_AREA:
        raise Doubt
    stride = 2 * len(wanted)
    cuts = np.empty(stride * count + 1, np.int32)
    for index, (starts, ends, _) in enumerate(wanted):
        cuts[2 * index : -1 : stride] = starts
        cuts[2 * index + 1 : -1 : stride] = ends
    cuts[-1] = cuts[-2]
    buffers = [None, pa.py_buffer(cuts), pa.py_buffer(area)]
    every = pa.Array.from_buffers(pa.binary(), stride * count, buffers)
    taken: list[Any] = []
    indices = np.arange(0, stride * count, stride, dtype=np.int32)
    for _, _, null in wanted:
        chosen = _nullable(indices, null)
        taken.append(every.take(chosen))
        indices = indices + np.int32(2)
    return taken


class ColumnBuilder:
    """Builds any column of one span on demand."""

    def __init__(
        self,
        span: Span,
        fields: Fields,
        *,
        topic: str,
        partition: int,
        segment_base_offset: int,
        positions: Integers,
    ) -> None:
        self.span = span
        self.fields = fields
        self.topic = topic
        self.partition = partition
        self.segment_base_offset = segment_base_offset
        self.positions = positions
        self._taken: dict[str, Any] = {}

    def build(self, names: Sequence[str]) -> list[Any]:
        """Return the arrays of these columns, in this order."""
        both = [name for name in ("key", "value") if name in names]
        if both:
            made = slices(self.span.area, [self._slices_of(name) for name in both])
            self._taken.update(zip(both, made, strict=True))
        return [self._column(name) for name in names]

    def timestamps_ms(self) -> Integers:
        """Return the timestamp of every record; with log append time that of its batch."""
        span = self.span
        times = span.each(span.field("base_timestamp"))
        times += self.fields.timestamp_deltas
        append_time = (span.table["attributes"] & LOG_APPEND_TIME_BIT) != 0
        if append_time.any():
            chosen = np.repeat(append_time, span.counts)
            times = np.where(chosen, span.each(span.field("max_timestamp")), times)
        return times

    def offsets(self) -> Integers:
        offsets = self.span.each(self.span.field("base_offset"))
        offsets += self.fields.offset_deltas
        return offsets

    def _slices_of(self, name: str) -> Slices:
        fields = self.fields
        if name == "key":
            return fields.key_starts, fields.key_ends, fields.key_null
        return fields.value_starts, fields.value_ends, fields.value_null

    def _column(self, name: str) -> Any:
        taken = self._taken.get(name)
        return taken if taken is not None else _MAKERS[name](self)

    def int32(self, values: Integers) -> Any:
        return primitive(pa.int32(), self.span.each(values.astype(np.int32)))

    def int64(self, values: Integers) -> Any:
        return primitive(pa.int64(), self.span.each(values))

    def flag(self, bit: int) -> Any:
        return pa.array(np.repeat((self.span.table["attributes"] & bit) != 0, self.span.counts))

    def constant(self, kind: Any, value: int) -> Any:
        dtype = np.int32 if kind == pa.int32() else np.int64
        return primitive(kind, np.full(self.span.total, value, dtype))

    def timestamp(self) -> Any:
        times = self.timestamps_ms()
        outside = (times > MAX_MS) | (times < -MAX_MS)
        if outside.any():
            times = np.where(outside, 0, times)
            return pa.array(times * 1000, mask=outside).cast(TIMESTAMP_TYPE)
        times *= 1000
        return primitive(TIMESTAMP_TYPE, times)

    def timestamp_type(self) -> Any:
        kinds = (self.span.table["attributes"] & LOG_APPEND_TIME_BIT) // LOG_APPEND_TIME_BIT
        if not kinds.any():
            return self.constant(pa.int32(), 0)
        return self.int32(kinds.astype(np.int64))

    def codec(self) -> Any:
        codes = self.span.each((self.span.table["attributes"] & CODEC_MASK).astype(np.int32))
        return pa.array(CODEC_NAMES).take(primitive(pa.int32(), codes))

    def size_of(self, starts: Integers, ends: Integers, null: Flags | None) -> Any:
        return _nullable((ends - starts).astype(np.int32), null)

    def headers(self) -> Any:
        """Return the headers; null for records without any, as in Spark's Kafka source.

        Raises Doubt or IndexError if they do not fit their records.
        """
        span, fields = self.span, self.fields
        some = np.flatnonzero(fields.header_ends - fields.header_starts > 1)
        if not some.size:
            return pa.nulls(span.total, HEADERS_TYPE)
        area = np.frombuffer(span.area, np.uint8)
        at = fields.header_starts[some]
        ends = fields.header_ends[some]
        counts, widths = varints.decode(area, at)
        counts = counts.astype(np.int64)
        at = at + widths
        if (counts < 1).any() or (counts > ends - at).any():
            raise Doubt
        per_record = np.zeros(span.total, np.int64)
        per_record[some] = counts
        offsets = np.zeros(span.total + 1, np.int64)
        np.cumsum(per_record, out=offsets[1:])
        names, values = self._walk_headers(at, ends, counts, offsets[:-1][some])
        keys, contents = slices(span.area, [names, values])
        pairs = pa.StructArray.from_arrays([_text(keys), contents], fields=HEADER_FIELDS)
        return pa.ListArray.from_arrays(
            pa.array(offsets, pa.int32()),
            pairs,
            type=HEADERS_TYPE,
            mask=pa.array(per_record == 0),
        )

    def _walk_headers(
        self, at: Integers, ends: Integers, counts: Integers, first: Integers
    ) -> tuple[Slices, Slices]:
        """Walk one header of every record per step; `at` moves along. Raises Doubt for a header
        without a name and unless every record ends where its headers end, or IndexError.
        """
        area = np.frombuffer(self.span.area, np.uint8)
        total = int(counts.sum())
        name_starts, name_ends, value_starts, value_ends = np.empty((4, total), np.int64)
        value_null = np.zeros(total, np.bool_)
        active = np.arange(counts.size)
        step = 0
        while active.size:
            slot = first[active] + step
            lengths, widths = varints.decode(area, at[active])
            if (lengths < 0).any():
                raise Doubt
            name_starts[slot] = start = at[active] + widths
            name_ends[slot] = end = start + lengths
            lengths, widths = varints.decode(area, end)
            value_null[slot] = lengths < 0
            value_starts[slot] = start = end + widths
            value_ends[slot] = end = start + np.maximum(lengths, 0)
            if (end > ends[active]).any():
                raise Doubt
            at[active] = end
            step += 1
            active = active[counts[active] > step]
        if (at != ends).any():
            raise Doubt
        return (name_starts, name_ends, None), (value_starts, value_ends, value_null)


def _text(names: Any) -> Any:
    """Return header names as strings; malformed UTF-8 is replaced, as in Java's consumer, if not
    always by as many U+FFFD.
    """
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(
            [name.decode("utf-8", "replace") for name in names.to_pylist()], pa.string()
        )


_MAKERS: Final[dict[str, Callable[[ColumnBuilder], Any]]] = {
    "topic": lambda b: constant_text(b.topic, b.span.total),
    "partition": lambda b: b.constant(pa.int32(), b.partition),
    "offset": lambda b: primitive(pa.int64(), b.offsets()),
    "timestamp": ColumnBuilder.timestamp,
    "timestampType": ColumnBuilder.timestamp_type,
    "headers": ColumnBuilder.headers,
    "batch_base_offset": lambda b: b.int64(b.span.field("base_offset")),
    "batch_position": lambda b: b.int64(b.positions),
    "segment_base_offset": lambda b: b.constant(pa.int64(), b.segment_base_offset),
    "batch_size": lambda b: b.int32(b.span.field("length") + 12),
    "codec": ColumnBuilder.codec,
    "producer_id": lambda b: b.int64(b.span.field("producer_id")),
    "producer_epoch": lambda b: b.int32(b.span.field("producer_epoch")),
    "base_sequence": lambda b: b.int32(b.span.field("base_sequence")),
    "leader_epoch": lambda b: b.int32(b.span.field("leader_epoch")),
    "is_transactional": lambda b: b.flag(TRANSACTIONAL_BIT),
    "is_control": lambda b: b.flag(CONTROL_BIT),
    "key_size": lambda b: b.size_of(b.fields.key_starts, b.fields.key_ends, b.fields.key_null),
    "value_size": lambda b: b.size_of(
        b.fields.value_starts, b.fields.value_ends, b.fields.value_null
    ),
    "timestamp_ms": lambda b: primitive(pa.int64(), b.timestamps_ms()),
}

"""The fields of all records of some batches, as positions and numbers in numpy arrays.

    length | attributes | timestamp delta | offset delta | key length | key | value length | value |
    header count | headers

Only what the columns need is decoded: offsets of dense batches (as many records as offsets) need
nothing, timestamps only the front of a record.

Invariant   The decoded fields have the values that `record_batch.iter_records` returns. What that
            would reject in them raises Doubt or IndexError, and is decoded the slow way; damage in
            other fields may go unnoticed.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pykbroker.offline import varints
from pykbroker.offline.batch_headers import HeaderTable
from pykbroker.offline.boundaries import FIRST_WIDE, find_records
from pykbroker.offline.record_front import RecordFront
from pykbroker.offline.varints import Bytes, Doubt, Flags, Integers

MIN_RECORD_BYTES: Final = 7
_MIN_RECORD_LENGTH = 6


class Span:
    """Batches whose records are decompressed in one area: [starts, ends), and their headers."""

    __slots__ = ("area", "counts", "ends", "first", "starts", "table", "total")

    def __init__(self, area: bytearray, starts: Integers, ends: Integers, table: HeaderTable):
        self.area = area
        self.starts = starts
        self.ends = ends
        self.table = table
        self.counts: Integers = table["record_count"].astype(np.int64)
        behind = np.cumsum(self.counts)
        #: The index of each batch's first record.
        self.first: Integers = behind - self.counts
        self.total = int(behind[-1]) if behind.size else 0

    def each(self, values: Integers) -> Integers:
        """Repeat one value per batch for every record of it."""
        return np.repeat(values, self.counts)

    def field(self, name: str) -> Integers:
        """Return a field of the headers as native integers."""
        return self.table[name].astype(np.int64)

    @property
    def is_unread(self) -> bool:
        """Return whether only headers are known: dense batches of which no field is wanted."""
        return not self.area

    def check_counts(self) -> None:
        """Raise Doubt if the headers' counts are impossible, before allocating anything by them."""
        if (self.counts * MIN_RECORD_BYTES > self.ends - self.starts).any():
            raise Doubt
        if ((self.counts == 0) & (self.ends > self.starts)).any():
            raise Doubt

    def is_dense(self) -> bool:
        return bool((self.field("last_offset_delta") + 1 == self.counts).all())

    def ordinals(self) -> Integers:
        """Return 0, 1, 2 ... within each batch."""
        ordinals = np.arange(self.total, dtype=np.int64)
        ordinals -= np.repeat(self.first, self.counts)
        return ordinals


class Fields:
    """The decoded fields; those that were not requested may be missing."""

    __slots__ = (
        "header_ends",
        "header_starts",
        "key_ends",
        "key_null",
        "key_starts",
        "offset_deltas",
        "timestamp_deltas",
        "value_ends",
        "value_null",
        "value_starts",
    )

    offset_deltas: Integers
    timestamp_deltas: Integers
    key_starts: Integers
    key_ends: Integers
    #: None: no key is null.
    key_null: Flags | None
    value_starts: Integers
    value_ends: Integers
    value_null: Flags | None
    header_starts: Integers
    header_ends: Integers


def decode_fields(span: Span, *, times: bool, fields: bool) -> Fields:
    """Decode offset deltas, and timestamps and fields if requested; raises Doubt or IndexError.

    For a span without an area, the batches must be dense and nothing else may be requested.
    """
    decoded = Fields()
    if span.is_unread:
        decoded.offset_deltas = span.ordinals()
        return decoded
    span.check_counts()
    if not span.total:
        return _nothing(decoded)
    ordinals = span.ordinals()
    dense = span.is_dense()
    live = span.counts > 0
    words = varints.words_of(span.area)
    records, in_step = find_records(
        span.area, words, span.starts[live], span.ends[live], span.counts[live]
    )
    ends = np.empty_like(records)
    ends[:-1] = records[1:]
    ends[span.first[live] + span.counts[live] - 1] = span.ends[live]

    front = RecordFront(span.area, records)
    if in_step and int((ends - records).min()) >= FIRST_WIDE:
        front.skip(2)
    else:
        front.skip_varint()
    if int((ends - front.at).min()) < _MIN_RECORD_LENGTH:
        raise Doubt
    front.skip(1)  # the attributes, which are unused
    if times:
        decoded.timestamp_deltas = front.varint()
    else:
        front.skip_varint()
    decoded.offset_deltas = _offset_deltas(span, front, ordinals, dense)
    if fields:
        _key_and_value(decoded, span.area, front.at, ends)
    elif int((ends - front.at).min()) < 0:
        raise Doubt
    return decoded


def _nothing(decoded: Fields) -> Fields:
    for name in Fields.__slots__:
        setattr(decoded, name, None if name.endswith("null") else np.empty(0, np.int64))
    return decoded


def _offset_deltas(span: Span, front: RecordFront, ordinals: Integers, dense: bool) -> Integers:
    if dense and int(span.counts.max()) <= varints.MOST_SHORT + 1 and front.skip_values(ordinals):
        return ordinals
    deltas = front.varint().astype(np.int64)
    if dense and (deltas == ordinals).all():
        return ordinals
    steps = np.diff(deltas)
    firsts = span.first[span.counts > 0]
    steps[firsts[1:] - 1] = 1
    if (steps <= 0).any() or (deltas[firsts] < 0).any() or int(deltas.max()) > varints.MAX_LENGTH:
        raise Doubt
    lasts = firsts + span.counts[span.counts > 0] - 1
    if (deltas[lasts] > span.field("last_offset_delta")[span.counts > 0]).any():
        raise Doubt
    return deltas


def _key_and_value(decoded: Fields, content: bytearray, at: Integers, ends: Integers) -> None:
    area: Bytes = np.frombuffer(content, np.uint8)
    decoded.key_starts, decoded.key_ends, decoded.key_null = _field(area, at)
    value = _field(area, decoded.key_ends)
    decoded.value_starts, decoded.value_ends, decoded.value_null = value
    room = ends - decoded.value_ends
    if int(room.min()) < 1:
        raise Doubt
    last = decoded.value_ends if int(room.max()) == 1 else decoded.value_ends[room == 1]
    if area[last].any():
        raise Doubt  # one byte is left, and it does not say "no headers"
    decoded.header_starts = decoded.value_ends
    decoded.header_ends = ends


def _field(area: Bytes, at: Integers) -> tuple[Integers, Integers, Flags | None]:
    """Return (starts, ends, where null; None if nowhere) for the lengths at `at`."""
    lengths, widths = varints.decode(area, at)
    starts = at + widths
    if int(lengths.min()) >= 0:
        return starts, starts + lengths, None
    return starts, starts + np.maximum(lengths, 0), lengths < 0

"""A fast path for validating records: runs of records of one shape, compared column by column.

Records of one producer often have the same size. As long as sizes and field lengths are equal, the
records form a table whose columns are strided slices of the payload. C code compares them several
times faster than a Python loop:

    length | attr | time delta | offset delta | key length | key | value length | value | 00
    same   | any  | same width | 0, 1, 2 ...  | same       | any | same         | any   | same

In      the payload, one record that is already validated (the template), where the next begins.
Out     how many records from there on are valid and have the template's shape, and the largest
        zigzag timestamp delta among them. A number that is too small costs time, but is not wrong.
Invariants
    Only records without headers, with timestamp deltas of 0 or more and dense offset deltas count.
"""

from __future__ import annotations

from pykbroker.protocol.record import CorruptRecord, read_varint

#: Offset deltas of one and two bytes as columns; those of three bytes repeat these.
_PERIOD = 8192
_ONE_BYTE = bytes(range(0, 128, 2))
_LOW = bytes(range(128, 256, 2)) * 128
_HIGH = b"".join(bytes((i,)) * 64 for i in range(128))
_MIDDLE = b"".join(bytes((i,)) * 64 for i in range(128, 256))

_WIDEST_TIME = 8
_FLIP = bytes(i ^ 0x80 for i in range(256))
_EVEN = bytes(range(0, 256, 2))
_LOW_HALF = bytes(range(128))


def equal_run(buf: bytes, template: int, start: int, index: int, most: int) -> tuple[int, int]:
    """Return (number of records, largest zigzag timestamp delta) of the run at `start`.

    `template` is the position of the record before, `index` the first record of the run.
    """
    stride = start - template
    count = min(most, (len(buf) - start) // stride, _room(index))
    if count < 1 or buf[start] != buf[template]:
        return 0, -1
    try:
        shape = _shape(buf, template)
    except (CorruptRecord, IndexError):
        return 0, -1
    constants, time_at, time_width, offset_at, offset_width = shape
    if offset_width != _offset_width(index) or time_width > _WIDEST_TIME:
        return 0, -1
    for column in constants:
        first = start + column
        values = buf[first : first + count * stride : stride]
        count -= len(values.lstrip(buf[template + column : template + column + 1]))
        if count < 1:
            return 0, -1
    first = start + time_at
    count, columns = _time_columns(buf, first, stride, count, time_width)
    if count < 1:
        return 0, -1
    first = start + offset_at
    for column, expected in enumerate(_offset_columns(index, count, offset_width)):
        if buf[first + column : first + column + count * stride : stride][:count] != expected:
            return 0, -1
    return count, _largest(columns, count)


def _shape(buf: bytes, pos: int) -> tuple[list[int], int, int, int, int]:
    """Return the columns that must be equal, and position and width of both deltas."""
    begin = pos
    _, pos = read_varint(buf, pos)
    constants = list(range(pos - begin))
    time_at = pos + 1 - begin
    _, pos = read_varint(buf, pos + 1)
    offset_at = pos - begin
    _, pos = read_varint(buf, pos)
    offset_width = pos - begin - offset_at
    for _ in ("key", "value"):
        length, behind = read_varint(buf, pos)
        constants.extend(range(pos - begin, behind - begin))
        pos = behind + max(length, 0)
    if buf[pos]:
        raise CorruptRecord("a record with headers has no shape")
    constants.append(pos - begin)
    return constants, time_at, offset_at - time_at, offset_at, offset_width


def _room(index: int) -> int:
    """Return how many offset deltas from `index` on have one width and, if of
    three bytes, one last byte; 0 if they are wider.
    """
    if index < 64:
        return 64 - index
    return _PERIOD - index % _PERIOD if index < 128 * _PERIOD else 0


def _offset_width(index: int) -> int:
    return 1 if index < 64 else 2 if index < _PERIOD else 3


def _offset_columns(index: int, count: int, width: int) -> list[bytes]:
    if width == 1:
        return [_ONE_BYTE[index : index + count]]
    begin = index % _PERIOD
    low = _LOW[begin : begin + count]
    if width == 2:
        return [low, _HIGH[begin : begin + count]]
    return [low, _MIDDLE[begin : begin + count], bytes([index // _PERIOD]) * count]


def _time_columns(
    buf: bytes, first: int, stride: int, count: int, width: int
) -> tuple[int, list[bytes]]:
    """Return the length of the run, cut where the delta's width or sign changes, and the columns
    of the delta's bytes.
    """
    columns: list[bytes] = []
    for column in range(width):
        begin = first + column
        values = buf[begin : begin + count * stride : stride][:count]
        marks = values if column == width - 1 else values.translate(_FLIP)
        if not marks.isascii():
            count -= len(marks.lstrip(_LOW_HALF))
        if column == 0 and values.translate(None, _EVEN):
            count = min(count, len(values) - len(values.lstrip(_EVEN)))
        columns.append(values)
        if count < 1:
            return 0, columns
    return count, columns


def _largest(columns: list[bytes], count: int) -> int:
    """Return the largest of the little-endian base-128 numbers whose bytes are in `columns`."""
    if len(columns) == 1:
        return max(columns[0][:count])
    rows = zip(*(column[:count] for column in reversed(columns)), strict=True)
    raw = 0
    for byte in max(rows):
        raw = raw << 7 | byte & 0x7F
    return raw

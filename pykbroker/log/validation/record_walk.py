"""The pass over the encoded records of one batch for validation: structure, timestamps, keys.

In      the decompressed records of a batch, as bytes, and their expected number.
Out     RecordSurvey: bounds of the timestamp deltas, whether offset deltas run 0, 1, 2 …,
        the first record without a key, the largest record.
Invariants
    A payload that is surveyed without CorruptRecord can be decoded: every length,
    varint and header count is valid, and the last record ends where the payload ends.

The loop is long on purpose: reading varints of one and two bytes is inlined because a call costs
more than the read. It takes about half a microsecond per record. Runs of records of one shape
(record_runs.py) are handled together, at about a tenth of that for records of 100 bytes.
"""

from __future__ import annotations

from pykbroker.log.validation.record_runs import equal_run
from pykbroker.protocol.record import CorruptRecord, read_zigzag

_FEW = 32
_LONGEST_PAUSE = 256


class RecordSurvey:
    """The result of one pass; deltas are relative to the batch's base timestamp. `max_delta` is the
    largest one, `min_delta` the smallest or, if none is negative, 0.

    `top` and `low` hold zigzag values: the largest one of 0 or more, and the most negative one.
    """

    __slots__ = ("dense", "first_keyless", "highest_negative", "largest", "low", "top")

    def __init__(self) -> None:
        self.dense = True  # offset deltas are 0, 1, 2 ...
        self.first_keyless = -1  # index of the first record without a key
        self.largest = 0  # bytes of the largest record, without its length
        self.top = -1
        self.low = 0
        self.highest_negative = -0x8000_0000_0000_0000

    @property
    def max_delta(self) -> int:
        return self.top >> 1 if self.top >= 0 else self.highest_negative

    @property
    def min_delta(self) -> int:
        return ~(self.low >> 1) if self.low else 0


def is_plain_record(buf: bytes, with_key: bool = False) -> bool:
    """Return whether this is one valid record with offset delta 0, timestamp
    delta 0 and no headers.

    Only for lengths below 8 KiB, as is typical of one record per request. With `with_key`, the
    record must have a key. False only means that the record has to be surveyed.
    """
    end = len(buf)
    try:
        raw = buf[0]  # length
        pos = 1
        if raw > 0x7F:
            if (byte := buf[1]) > 0x7F:
                return False
            raw += (byte - 1) << 7
            pos = 2
        if pos + (raw >> 1) != end or raw & 1 or buf[pos + 1] or buf[pos + 2]:
            return False
        raw = buf[pos + 3]  # key
        pos += 4
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                return False
            raw += (byte - 1) << 7
            pos += 1
        if not raw & 1:
            pos += raw >> 1
        elif with_key:
            return False
        raw = buf[pos]  # value
        pos += 1
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                return False
            raw += (byte - 1) << 7
            pos += 1
        if not raw & 1:
            pos += raw >> 1
        return pos + 1 == end and not buf[pos]
    except IndexError:
        return False


def survey_records(buf: bytes, count: int) -> RecordSurvey:
    """Survey `count` records that fill `buf` exactly; raises CorruptRecord if they do not."""
    survey = RecordSurvey()
    try:
        if count < _FEW:
            pos = _walk(buf, 0, range(count), survey)
        else:
            pos = _walk_runs(buf, count, survey)
    except IndexError:
        raise CorruptRecord("the records end early") from None
    if pos != len(buf):
        raise CorruptRecord(f"{count} records leave {len(buf) - pos} bytes over")
    return survey


def _walk_runs(buf: bytes, count: int, survey: RecordSurvey) -> int:
    """Handle runs of equal records together; searched for less often the rarer they are."""
    pos = index = 0
    pause = 1
    while index < count:
        until = min(index + pause, count)
        template = pos
        if until - index > 1:
            template = _walk(buf, pos, range(index, until - 1), survey)
        pos = _walk(buf, template, range(until - 1, until), survey)
        index = until
        taken, largest = equal_run(buf, template, pos, index, count - index)
        survey.top = max(survey.top, largest)
        pos += taken * (pos - template)
        index += taken
        pause = 1 if taken >= _FEW else min(pause * 2, _LONGEST_PAUSE)
    return pos


def _walk(buf: bytes, pos: int, indexes: range, survey: RecordSurvey) -> int:  # noqa: C901
    """Survey the records from `pos` on; return where they end. Raises IndexError, CorruptRecord."""
    top = survey.top
    low = survey.low
    largest = 0
    for index in indexes:
        raw = buf[pos]  # length
        pos += 1
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                raw, pos = _read_long(buf, pos - 1)
            else:
                raw += (byte - 1) << 7
                pos += 1
        if raw > largest:
            largest = raw
        end = -1 if raw & 1 else pos + (raw >> 1)

        raw = buf[pos + 1]  # timestamp delta, after attributes that have no meaning yet
        pos += 2
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                raw, pos = read_zigzag(buf, pos - 1)
            else:
                raw += (byte - 1) << 7
                pos += 1
        if raw & 1:
            low = max(low, raw)
            survey.highest_negative = max(survey.highest_negative, ~(raw >> 1))
        elif raw > top:
            top = raw

        raw = buf[pos]  # offset delta
        pos += 1
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                raw, pos = _read_long(buf, pos - 1)
            else:
                raw += (byte - 1) << 7
                pos += 1
        if raw != index << 1:
            survey.dense = False

        raw = buf[pos]  # key
        pos += 1
        if raw > 0x7F:
            raw, pos = _read_long(buf, pos - 1)
        if not raw & 1:
            pos += raw >> 1
        elif survey.first_keyless < 0:
            survey.first_keyless = index

        raw = buf[pos]  # value
        pos += 1
        if raw > 0x7F:
            if (byte := buf[pos]) > 0x7F:
                raw, pos = _read_long(buf, pos - 1)
            else:
                raw += (byte - 1) << 7
                pos += 1
        if not raw & 1:
            pos += raw >> 1

        pos = _skip_headers(buf, pos, end) if buf[pos] else pos + 1
        if pos != end:
            raise CorruptRecord(f"record {index} does not end where its length says")
    survey.top = top
    survey.low = low
    survey.largest = max(survey.largest, largest >> 1)
    return pos


def _read_long(buf: bytes, pos: int) -> tuple[int, int]:
    """Read the 32-bit varint at `pos`, which may have more than two bytes;
    the value is still zigzag.
    """
    raw = 0
    for shift in (0, 7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80 and raw < 0x1_0000_0000:
            return raw, pos
    raise CorruptRecord("varint of more than 32 bits")


def _skip_headers(buf: bytes, pos: int, end: int) -> int:
    raw, pos = _read_long(buf, pos)
    if raw & 1 or raw >> 1 > end - pos:
        raise CorruptRecord("impossible number of headers")
    for _ in range(raw >> 1):
        raw, pos = _read_long(buf, pos)
        if raw & 1:
            raise CorruptRecord("header without a key")
        pos += raw >> 1
        raw, pos = _read_long(buf, pos)
        if not raw & 1:
            pos += raw >> 1
        if pos > end:
            raise CorruptRecord("header longer than its record")
    return pos

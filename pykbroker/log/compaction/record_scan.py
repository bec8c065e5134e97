"""Loops over the records of one batch for compaction: keys and field positions.

The functions take the decompressed records of a batch, as bytes, and their number, and copy only
the keys. They raise CorruptRecord unless the records fill the payload exactly and keys are inside
their records.

Reading short varints is inlined, as in record_walk.py, because a call costs more than the read.
"""

from __future__ import annotations

from typing import TypeAlias

from pykbroker.protocol.record import CorruptRecord, read_zigzag

#: A record: its start and end, the position of its time delta, its offset delta, its key, and the
#: position of its value length.
Placed: TypeAlias = tuple[int, int, int, int, bytes | None, int]


def scan_records(buf: bytes, count: int) -> list[Placed]:
    """Return where each record of the batch is, with its offset delta and key."""
    found: list[Placed] = []
    add = found.append
    pos = 0
    try:
        for _ in range(count):
            start = pos
            length = buf[pos]
            pos += 1
            if length > 0x7F:
                if (byte := buf[pos]) > 0x7F:
                    length, pos = read_zigzag(buf, start)
                else:
                    length += (byte - 1) << 7
                    pos += 1
            end = pos + (length >> 1)
            time_at = pos = pos + 1
            while buf[pos] > 0x7F:
                pos += 1
            pos += 1
            delta = buf[pos]
            pos += 1
            if delta > 0x7F:
                if (byte := buf[pos]) > 0x7F:
                    delta, pos = read_zigzag(buf, pos - 1)
                else:
                    delta += (byte - 1) << 7
                    pos += 1
            key_length = buf[pos]
            pos += 1
            if key_length > 0x7F:
                key_length, pos = read_zigzag(buf, pos - 1)
            if key_length & 1:
                key = None
            else:
                key_end = pos + (key_length >> 1)
                key = buf[pos:key_end]
                pos = key_end
            if pos >= end or length & 1:
                raise CorruptRecord("a field is longer than its record")
            add((start, end, time_at, delta >> 1, key, pos))
            pos = end
    except IndexError:
        raise CorruptRecord("the records end early") from None
    if pos != len(buf):
        raise CorruptRecord(f"{count} records do not fill their batch")
    return found


def scan_keys(buf: bytes, count: int) -> tuple[list[bytes], list[int]]:
    """Return the keys of the records that have one, and their offset deltas."""
    keys: list[bytes] = []
    deltas: list[int] = []
    pos = 0
    try:
        for _ in range(count):
            length = buf[pos]
            pos += 1
            if length > 0x7F:
                if (byte := buf[pos]) > 0x7F:
                    length, pos = read_zigzag(buf, pos - 1)
                else:
                    length += (byte - 1) << 7
                    pos += 1
            end = pos + (length >> 1)
            pos += 1
            while buf[pos] > 0x7F:
                pos += 1
            pos += 1
            delta = buf[pos]
            pos += 1
            if delta > 0x7F:
                if (byte := buf[pos]) > 0x7F:
                    delta, pos = read_zigzag(buf, pos - 1)
                else:
                    delta += (byte - 1) << 7
                    pos += 1
            key_length = buf[pos]
            pos += 1
            if key_length > 0x7F:
                key_length, pos = read_zigzag(buf, pos - 1)
            if not key_length & 1:
                key_end = pos + (key_length >> 1)
                keys.append(buf[pos:key_end])
                deltas.append(delta >> 1)
                pos = key_end
            if pos >= end or length & 1:
                raise CorruptRecord("a field is longer than its record")
            pos = end
    except IndexError:
        raise CorruptRecord("the records end early") from None
    if pos != len(buf):
        raise CorruptRecord(f"{count} records do not fill their batch")
    return keys, deltas

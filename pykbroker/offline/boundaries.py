"""Finds the start of every record in many batches.

A record's length precedes it, so the records of one batch can only be found one after another; but
all batches are walked in lock-step: one numpy look-up moves a lane of every batch to its next
record. Batches with many more records than the others (or few large ones) are first cut into lanes
by guessing: a zero byte (a record's attributes) is assumed to be in a record if it and the next one
have consecutive offset deltas.

Invariants
    Every lane must land exactly where the next lane, or the next batch, begins. By induction from
    the first record (whose place is known) a wrong guess is noticed, so it is only ever slow.
    If one does not (a record of 8 KiB or more, a bad guess, broken bytes), no batch is cut into
    lanes, and the batches that still do not land are walked singly.
    The starts that are returned ascend, and the last record of a batch ends where the batch ends.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pykbroker.offline.varints import ADVANCE, Doubt, Integers, Words
from pykbroker.protocol.record import CorruptRecord, read_varint
from pykbroker.values import NamedTuple

#: Into so many lanes of the same length an area is cut, but not into shorter ones than that.
_WANTED_LANES: Final = 96
_LANE_RECORDS: Final = 128


class Found(NamedTuple):
    """Positions of records, and whether all were found in lock-step (`in_step`).

    If they were, every length is a varint of one or two bytes: two if the record with its length
    takes FIRST_WIDE bytes or more, because one byte encodes at most 63.
    """

    positions: Integers
    in_step: bool


FIRST_WIDE: Final = 65


def find_records(
    area: bytearray, words: Words, starts: Integers, ends: Integers, counts: Integers
) -> Found:
    """Return all records of the batches at [starts, ends), in order; counts are all > 0.

    Raises Doubt if the lengths of the records do not fit the batches.
    """
    lane_records = max(_LANE_RECORDS, int(counts.sum()) // _WANTED_LANES)
    if int(counts.max()) >= 2 * lane_records:
        lanes = _cut(area, starts, ends, counts, lane_records)
        positions, landed = _lock_step(words, *lanes)
        if landed.all():
            return Found(positions, True)
    positions, landed = _lock_step(words, starts, ends, counts)
    if landed.all():
        return Found(positions, True)
    first = np.cumsum(counts) - counts
    for index in np.flatnonzero(~landed).tolist():
        count = int(counts[index])
        at = int(first[index])
        positions[at : at + count] = _walk(area, int(starts[index]), int(ends[index]), count)
    return Found(positions, False)


def _lock_step(
    words: Words, starts: Integers, ends: Integers, counts: Integers
) -> tuple[Integers, NDArray[np.bool_]]:
    """(positions of the records in order of the lanes, which lanes landed on their end)."""
    lanes = starts.size
    order = np.argsort(-counts, kind="stable")  # lanes still active are always the first ones
    sorted_counts = counts[order]
    steps = int(sorted_counts[0])
    at = starts[order]
    active = np.searchsorted(-sorted_counts, -np.arange(steps), side="left").tolist()
    total = int(counts.sum())
    # Step by step is the fast way to store, but a few long lanes beside many short ones would
    # need a table that is nearly empty.
    store = _store_steps if steps * lanes <= 4 * total + 65536 else _store_lanes
    try:
        positions, at = store(words, starts[order], counts, order, active, words.size)
    except IndexError:
        # A lane left the area: let it stand still at the end, where it cannot land.
        positions, at = store(words, starts[order], counts, order, active, words.size - 1)
    landed = np.empty(lanes, np.bool_)
    landed[order] = at == ends[order]
    # A lane that comes to its end too soon may stand still there: that is no record.
    landed &= positions[np.cumsum(counts) - 1] < ends
    return positions, landed


def _store_steps(
    words: Words, at: Integers, counts: Integers, order: Integers, active: list[int], limit: int
) -> tuple[Integers, Integers]:
    steps, lanes = len(active), at.size
    visited = np.empty((steps + 1, lanes), np.int64)
    visited[0] = at
    look_up, add = ADVANCE.take, np.add
    bounded = limit < words.size
    even = active[-1] == lanes
    lane = visited[0]
    for step, count in enumerate(active, 1):
        following = visited[step]
        if count == lanes:
            add(lane, look_up(words[lane]), out=following)
        else:  # lanes that are at their end stand still there
            front = lane[:count]
            add(front, look_up(words[front]), out=following[:count])
            following[count:] = lane[count:]
        if bounded:
            np.minimum(following, limit, out=following)
        lane = following
    by_lane = visited[:steps].T
    if even:  # and then the order is the order of the batches
        return by_lane.reshape(-1), lane
    place = np.empty(lanes, np.int64)
    place[order] = np.arange(lanes)
    return by_lane[place][np.arange(steps) < counts[:, None]], lane


def _store_lanes(
    words: Words, at: Integers, counts: Integers, order: Integers, active: list[int], limit: int
) -> tuple[Integers, Integers]:
    positions = np.empty(int(counts.sum()), np.int64)
    slots = (np.cumsum(counts) - counts)[order]
    advance = ADVANCE
    bounded = limit < words.size
    for count in active:
        lane, slot = at[:count], slots[:count]
        positions[slot] = lane
        slot += 1
        lane += advance[words[lane]]
        if bounded:
            np.minimum(lane, limit, out=lane)
    return positions, at


def _walk(area: bytearray, position: int, end: int, count: int) -> list[int]:
    """Return the positions of the records of one batch, found one after another; or raise Doubt."""
    found: list[int] = []
    try:
        for _ in range(count):
            if position >= end:
                raise Doubt
            found.append(position)
            length, position = read_varint(area, position)  # type: ignore[arg-type]
            if length < 0:
                raise Doubt
            position += length
    except (IndexError, CorruptRecord):
        raise Doubt from None
    if position != end:
        raise Doubt
    return found


def _cut(
    area: bytearray, starts: Integers, ends: Integers, counts: Integers, lane_records: int
) -> tuple[Integers, Integers, Integers]:
    """(starts, ends, counts) of lanes: batches cut where they are long."""
    lane_starts: list[int] = []
    lane_ends: list[int] = []
    lane_counts: list[int] = []
    for start, end, count in zip(starts.tolist(), ends.tolist(), counts.tolist(), strict=True):
        parts = max(1, count // lane_records)
        stride = (end - start) // parts
        window = 6 * (end - start) // count + 64
        position, delta = start, 0
        for part in range(1, parts):
            near = start + part * stride
            guess = _guess_record(area, near, min(near + window, end), count)
            if guess is not None and guess[0] > position and guess[1] > delta:
                lane_starts.append(position)
                lane_ends.append(guess[0])
                lane_counts.append(guess[1] - delta)
                position, delta = guess
        lane_starts.append(position)
        lane_ends.append(end)
        lane_counts.append(count - delta)
    return np.array(lane_starts), np.array(lane_ends), np.array(lane_counts)


def _guess_record(area: bytearray, low: int, high: int, count: int) -> tuple[int, int] | None:
    """(position, offset delta) of what looks like a record that begins in [low, high)."""
    find = area.find
    zero = low - 1
    while (zero := find(0, zero + 1, high)) >= 0:
        for width in (2, 1):
            start = zero - width
            low_byte, high_byte = area[start], area[start + 1]
            if width == 1:
                if low_byte > 127:
                    continue
                length = low_byte >> 1
            else:
                if low_byte < 128 or high_byte > 127:
                    continue
                length = (low_byte & 127 | high_byte << 7) >> 1
            following = zero + length
            if length < 6 or following + 8 > len(area):
                continue
            try:
                delta = _offset_delta(area, zero)
                if 0 < delta < count - 1:
                    _, attributes = read_varint(area, following)  # type: ignore[arg-type]
                    if area[attributes] == 0 and _offset_delta(area, attributes) == delta + 1:
                        return start, delta
            except (IndexError, CorruptRecord):
                continue
    return None


def _offset_delta(area: bytearray, attributes_at: int) -> int:
    _, position = read_varint(area, attributes_at + 1)  # type: ignore[arg-type]
    return read_varint(area, position)[0]  # type: ignore[arg-type]

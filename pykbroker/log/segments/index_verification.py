"""Compares the indexes of a segment with its batches, for `dump-log --verify` and `fsck`.

    offset index       an entry points at the beginning of a batch at or before its offset, and
                       before the batch of every later entry; entries ascend
    time index         the largest timestamp up to a batch, and an offset of that batch; entries
                       ascend
    transaction index  the transactions that an abort marker of the segment ends (wrong_aborted)

Older brokers wrote one entry for batches that were appended together (as followers do), with the
last offset of all and the position of the first. Such entries are accepted, as Kafka reads them;
LocalLog rebuilds an index in which a look-up encounters one.

Source: Kafka's `OffsetIndex.java`, `TimeIndex.java`, `LogSegment.java`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.protocol.record_batch import BatchHeader
from pykbroker.values import NamedTuple

NO_MARKER: Final = -1

Aborted = tuple[int, int, int]
"""Producer id, first offset of the transaction, offset of its marker."""


class BatchColumns(NamedTuple):
    """The batches of a segment in order, as columns."""

    positions: Sequence[int]
    base_offsets: Sequence[int]
    last_offsets: Sequence[int]
    max_timestamps: Sequence[int]


def wrong_offset_entries(
    entries: Sequence[tuple[int, int]], batches: BatchColumns
) -> Iterator[tuple[int, str]]:
    """Yield (number, fault) of the wrong entries among (offset, position) pairs."""
    positions = batches.positions
    slots = [bisect_left(positions, position) for _, position in entries]
    previous = (-1, -1)
    for number, (offset, position) in enumerate(entries):
        slot = slots[number]
        if slot == len(positions) or positions[slot] != position:
            yield number, f"no batch begins at {position}"
        else:
            following = slots[number + 1] if number + 1 < len(slots) else len(positions)
            # The batch before that of the next entry: the entry cannot belong to a later one.
            highest = batches.last_offsets[min(max(following - 1, slot), len(positions) - 1)]
            if not batches.base_offsets[slot] <= offset <= highest:
                yield number, f"the batch at {position} does not hold offset {offset}"
            elif offset <= previous[0] or position <= previous[1]:
                yield number, "it does not ascend"
        previous = (offset, position)


def wrong_time_entries(
    entries: Sequence[tuple[int, int]], batches: BatchColumns
) -> Iterator[tuple[int, str]]:
    """Yield (number, fault) of the wrong entries among (timestamp, offset) pairs."""
    reached = list(accumulate(batches.max_timestamps, max))
    previous: tuple[int, int] | None = None
    for number, (timestamp, offset) in enumerate(entries):
        slot = bisect_right(batches.base_offsets, offset) - 1
        if slot < 0 or offset > batches.last_offsets[slot]:
            yield number, f"no batch holds offset {offset}"
        elif reached[slot] != timestamp:
            yield number, f"{timestamp}, but the largest up to there is {reached[slot]}"
        elif previous is not None and (timestamp <= previous[0] or offset < previous[1]):
            yield number, "it does not ascend"
        previous = (timestamp, offset)


class OpenTransactions:
    """Tracks open transactions over the batch headers of a partition, segment after segment."""

    __slots__ = ("first_offsets",)

    def __init__(self) -> None:
        self.first_offsets: dict[int, int] = {}

    def feed(self, header: BatchHeader, marker: int) -> Aborted | None:
        """Process a batch; return the aborted transaction that it ends, if any.

        `marker`: the type of the control record; NO_MARKER for other batches.
        """
        if not header.is_transactional:
            return None
        if not header.is_control:
            self.first_offsets.setdefault(header.producer_id, header.base_offset)
            return None
        if marker not in (ABORT, COMMIT):
            return None
        first = self.first_offsets.pop(header.producer_id, None)
        if first is None or marker != ABORT:
            return None
        return header.producer_id, first, header.base_offset


def wrong_aborted(
    indexed: set[Aborted], found: set[Aborted], *, log_start: int, has_gaps: bool
) -> Iterator[tuple[int, str]]:
    """Yield (first offset, fault) of missing and surplus entries.

    `has_gaps`: batches before this point are missing, and a transaction may have begun in one of
    them. `log_start`: transactions that began earlier are not known from the batches.
    """
    if has_gaps:
        ends = {(producer, last) for producer, _, last in indexed}
        found = {each for each in found if (each[0], each[2]) not in ends}
        indexed = set()
    for producer, first, last in sorted(found - indexed):
        yield first, f"aborted {first} to {last} of producer {producer} is not in the index"
    for producer, first, last in sorted(indexed - found):
        if first >= log_start:
            yield first, f"{first} to {last} of producer {producer} is not an aborted transaction"

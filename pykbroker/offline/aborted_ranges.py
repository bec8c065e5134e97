"""Ranges of aborted transactions, sorted once for frequent look-ups.

AbortedByOffset     for a partition: which ranges reach into a segment
AbortedByProducer   for a split: which batches belong to them
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pykbroker.offline.batch_headers import HeaderTable, Integers
from pykbroker.offline.split import AbortedRange
from pykbroker.protocol.record_batch import TRANSACTIONAL_BIT, BatchHeader

_FAR: Final = 0x7FFF_FFFF_FFFF_FFFF
_last_offset = attrgetter("last_offset")


class AbortedByOffset:
    """Aborted ranges in the order of their ends."""

    def __init__(self, ranges: Iterable[AbortedRange]) -> None:
        self._ranges = sorted(ranges, key=_last_offset)
        firsts = (each.first_offset for each in reversed(self._ranges))
        #: The least first offset of a range and of all behind it.
        self._least_first = list(accumulate(firsts, min))[::-1]

    def within(self, low: int, behind: int) -> tuple[AbortedRange, ...]:
        """Return the ranges that overlap the offsets [low, behind)."""
        start = bisect_left(self._ranges, low, key=_last_offset)
        end = bisect_left(self._least_first, behind)
        return tuple(each for each in self._ranges[start:end] if each.first_offset < behind)


class AbortedByProducer:
    """Aborted ranges in the order of producers and offsets."""

    def __init__(self, ranges: Iterable[AbortedRange]) -> None:
        self._ranges: list[AbortedRange] = []
        for each in sorted(ranges):
            last = self._ranges[-1] if self._ranges else None
            if (
                last is not None
                and last.producer_id == each.producer_id
                and last.last_offset >= each.first_offset
            ):
                longer = max(last.last_offset, each.last_offset)
                self._ranges[-1] = last._replace(last_offset=longer)
            else:
                self._ranges.append(each)
        columns = np.array(self._ranges, np.int64).reshape(-1, 3).T
        self._producers, firsts, self._lasts = columns
        self._known_producers = np.unique(self._producers)
        self._known_firsts = np.sort(firsts)
        self._keys = self._keys_of(self._producers, firsts)

    def _keys_of(self, producers: Integers, offsets: Integers) -> Integers:
        """Numbers in the order of (producer, offset), as far as the ranges tell them apart."""
        rank = np.searchsorted(self._known_producers, producers)
        place = np.searchsorted(self._known_firsts, offsets, "right")
        keys: Integers = rank * (self._known_firsts.size + 1) + place
        return keys

    def of_table(self, table: HeaderTable) -> NDArray[np.bool_]:
        """Return which batches belong to an aborted transaction, including its marker."""
        base: Integers = table["base_offset"].astype(np.int64)
        if not self._ranges:
            return np.zeros(base.size, np.bool_)
        producers = table["producer_id"].astype(np.int64)
        at = np.searchsorted(self._keys, self._keys_of(producers, base), "right") - 1
        aborted: NDArray[np.bool_] = (table["attributes"] & TRANSACTIONAL_BIT) != 0
        aborted &= (at >= 0) & (self._producers[at] == producers) & (base <= self._lasts[at])
        return aborted

    def has(self, header: BatchHeader) -> bool:
        """The same for one batch."""
        if not header.is_transactional:
            return False
        mine = (header.producer_id, header.base_offset, _FAR)
        at = bisect_right(self._ranges, mine) - 1
        if at < 0:
            return False
        before = self._ranges[at]
        return before.producer_id == header.producer_id and header.base_offset <= before.last_offset

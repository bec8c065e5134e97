"""Selects the batches of a chunk to decode, and determines what is wrong with the others.

Invariants
    The checksum, header and offsets of every requested batch are checked before it is trusted
    (checksum and offsets, unless the reader does without).
    Which batches are requested is judged by where they and the next ones begin, not by the end that
    a header claims. Where the two disagree, the checksum decides.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pykbroker.offline.aborted_ranges import AbortedByProducer
from pykbroker.offline.batch_headers import HeaderTable, header_at, header_fault, possible
from pykbroker.offline.chunk import Chunk
from pykbroker.offline.offset_order import OffsetOrder
from pykbroker.offline.plain_decoder import BAD_CHECKSUM
from pykbroker.offline.segment_index import KnownBatches
from pykbroker.offline.split import Split
from pykbroker.offline.varints import Flags, Integers
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record_batch import ATTRIBUTES_AT, CONTROL_BIT, MAGIC_V2, check_crc

_FAR: Final = 0x7FFF_FFFF_FFFF_FFFF


class ChunkChoice:
    """The batches of one chunk; the checks run in the order in which they appear here.

    faults   by index, why a batch cannot be read
    lost     the index of the fault after which no next batch can be located: the chunk ends there
    """

    def __init__(self, chunk: Chunk, split: Split, behind: int | None) -> None:
        """`behind`: the base offset of the batch after the chunk; None if there is none, or its
        header is not possible.
        """
        self.faults: dict[int, str] = {}
        self.lost: int | None = None
        self._chunk = chunk
        self._split = split
        self._behind = behind
        table = chunk.table
        self._base: Integers = table["base_offset"].astype(np.int64)
        self._sound = possible(table)
        next_base = np.where(self._sound[1:], self._base[1:], _FAR)
        self._next_base: Integers = np.append(next_base, _FAR if behind is None else behind)
        is_before = (self._base < self._next_base) & (self._next_base <= split.start_offset)
        is_before &= ~self._reaching(is_before, split.start_offset)
        self._asked_for: Flags = ~self._sound | (~is_before & (self._base < split.end_offset))

    def _reaching(self, is_before: Flags, start: int) -> Flags:
        """Return which batches, although their successors imply that they end before `start`, claim
        otherwise with a valid checksum.
        """
        found: Flags = is_before & self._sound
        found &= self._base + self._chunk.table["last_offset_delta"] >= start
        for index in np.flatnonzero(found).tolist():
            found[index] = check_crc(self._chunk.batch(index))
        return found

    def check_sums(self) -> None:
        chunk = self._chunk
        indices = np.flatnonzero(self._asked_for & (chunk.table["magic"] == MAGIC_V2))
        positions = chunk.positions[indices]
        starts = (positions + ATTRIBUTES_AT).tolist()
        ends = (positions + chunk.sizes[indices]).tolist()
        covered = map(chunk.view.__getitem__, map(slice, starts, ends))
        found = np.fromiter(map(crc32c, covered), np.uint32, indices.size)
        for index in indices[found != chunk.table["crc"][indices]].tolist():
            self.faults[index] = BAD_CHECKSUM

    def check_headers(self, known: KnownBatches, *, is_at_end: bool) -> None:
        """Record impossible headers; ignore everything after a fault that hides the next batch.

        The end of a broken batch does not locate the next one if a known batch begins before it.
        """
        for index in np.flatnonzero(~self._sound).tolist():
            if index not in self.faults:
                fault = header_fault(header_at(self._chunk.table, index))
                self.faults[index] = fault or "impossible header"
        if not self.faults:
            return
        is_followed = np.append(self._sound[1:], self._behind is not None or is_at_end)
        self.lost = next(
            (
                index
                for index in sorted(self.faults)
                if not is_followed[index] or self._reaches_over(index, known)
            ),
            None,
        )
        if self.lost is not None:
            last = self.lost
            self.faults = {index: why for index, why in self.faults.items() if index <= last}
            self._asked_for[last + 1 :] = False

    def _reaches_over(self, index: int, known: KnownBatches) -> bool:
        position = self._chunk.at + int(self._chunk.positions[index])
        return known.between(position, position + int(self._chunk.sizes[index])) is not None

    def check_offsets(self, order: OffsetOrder) -> None:
        trusted = self._sound.copy()
        trusted[list(self.faults)] = False
        behind, until = self._behind, slice(self.lost)
        if self.lost is not None:
            behind = int(self._base[self.lost]) if self._sound[self.lost] else None
        table = self._believed()
        self.faults |= order.faults(table[until], self._sound[until], trusted[until], behind)

    def _believed(self) -> HeaderTable:
        """Return the headers, those of damaged batches that are not requested without their extent.

        Such a batch reaches beyond the next one, and its checksum does not match.
        """
        table = self._chunk.table
        unread = self._sound & ~self._asked_for
        if not unread.any():
            return table
        last = self._base + table["last_offset_delta"]
        in_conflict = np.flatnonzero(unread & (last >= self._next_base)).tolist()
        damaged = [index for index in in_conflict if not check_crc(self._chunk.batch(index))]
        if damaged:
            table = table.copy()
            table["last_offset_delta"][damaged] = 0
        return table

    def wanted(self, aborted: AbortedByProducer | None) -> Integers:
        """Return the indices of the batches to decode; `aborted`: None if there are none."""
        table = self._chunk.table
        wanted = self._asked_for & ((table["attributes"] & CONTROL_BIT) == 0)
        if self._split.start_timestamp_ms is not None:
            wanted &= table["max_timestamp"] >= self._split.start_timestamp_ms
        if aborted is not None:
            wanted &= ~aborted.of_table(table)
        if self.faults:
            wanted[list(self.faults)] = False
        return np.flatnonzero(wanted)

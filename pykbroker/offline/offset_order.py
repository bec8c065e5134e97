"""Checks whether the offsets of consecutive batches in a segment are plausible.

The checksum of a batch does not cover its base offset. An altered one can be detected by the bounds
of the segment and by its neighbours: offsets ascend. Without this check a batch with an altered
base offset would be skipped silently as not selected, or returned with wrong offsets.

State   the last offset of the last plausible batch.
In      base and last offsets in the order of the file, of batches with possible headers, and the
        base offset of the next batch. Out: what is wrong with a batch.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pykbroker.offline.batch_headers import (
    HeaderTable,
    Integers,
    framing_fault,
    header_fault,
)
from pykbroker.offline.split import Split
from pykbroker.protocol.record_batch import HEADER, BatchHeader

#: Where sums of offsets and deltas are far from overflowing.
_SAFE: Final = 1 << 62


def base_behind(head: bytes, remaining: int) -> int | None:
    """Return the base offset of the batch that begins at `head`; None if its header is not
    possible, or it does not end within the `remaining` bytes.
    """
    if framing_fault(head, remaining)[1] is not None:
        return None
    header = BatchHeader(*HEADER.unpack(head))
    return None if header_fault(header) is not None else header.base_offset


class OffsetOrder:
    """Checks the batches of a split, starting with its first one."""

    def __init__(self, split: Split) -> None:
        self.low = split.segment_base_offset
        self.limit = split.segment_end_offset
        before = split.last_offset_before
        self.last = self.low - 1 if before is None else before

    def fault(self, base: int, last: int, behind: int | None) -> str | None:
        """Return why a batch cannot be here, or None. `behind`: the base offset of the next batch,
        if any.
        """
        if base < self.low or last >= self.limit:
            return f"offsets {base} to {last} are outside this segment's {self.low} to {self.limit}"
        if base <= self.last:
            return f"base offset {base} after offset {self.last}"
        # If two batches overlap, the one that continues from the previous batch is trusted.
        if behind is not None and self.last < behind <= last and base != self.last + 1:
            return (
                f"offsets {base} to {last} reach beyond the base offset {behind} of the next batch"
            )
        self.last = last
        return None

    def faults(
        self,
        table: HeaderTable,
        sound: NDArray[np.bool_],
        trusted: NDArray[np.bool_],
        behind: int | None,
    ) -> dict[int, str]:
        """Check many batches: index -> fault. Those that are not trusted are not checked, and do
        not count as the one before; those that are not sound do not count as the next one.

        `sound`: which headers are possible; `trusted`: which of them have no checksum known to be
        wrong.
        """
        if not table.size:
            return {}
        base: Integers = table["base_offset"].astype(np.int64)
        if self.limit <= _SAFE and trusted.all():
            last = base + table["last_offset_delta"]
            if (
                base[0] > self.last
                and last[-1] < self.limit
                and (base[1:] > last[:-1]).all()
                and (behind is None or behind > last[-1])
            ):
                self.last = int(last[-1])
                return {}
        bases, deltas = base.tolist(), table["last_offset_delta"].tolist()
        following = [each if fine else None for each, fine in zip(bases, sound, strict=True)]
        following.append(behind)
        found: dict[int, str] = {}
        for index in np.flatnonzero(trusted).tolist():
            last = bases[index] + deltas[index]
            reason = self.fault(bases[index], last, following[index + 1])
            if reason is not None:
                found[index] = reason
        return found

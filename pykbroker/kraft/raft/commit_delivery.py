"""The batches of the metadata log that the rest of the node has not received yet.

    add --batches in the order of the log--> take(high watermark) --portions--> the listener
                                             end <--------- has handled it ----------'

A portion has some 500 records, so a batch with very many records is delivered in parts; `is_end`
marks the last of them.

State: the batches, of which the first may be delivered in part; the offset up to which everything
was delivered; whether the next portion waits for a turn of the loop, or for the listener.
Invariants: what is delivered is committed, in the order of the log, each record once.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from pykbroker.kraft.metadata_log import LogBatch

PORTION_RECORDS: Final = 500


class CommitDelivery:
    """Cuts committed batches into portions."""

    def __init__(self) -> None:
        self.offset = 0
        """Everything below was delivered and handled."""
        self.is_due = False
        self._taken_offset = 0
        self._batches: deque[LogBatch] = deque()

    def restart(self, offset: int) -> None:
        """Drop all batches; everything below `offset` was delivered in another way."""
        self.offset = self._taken_offset = offset
        self._batches.clear()

    def add(self, batch: LogBatch) -> None:
        """Add a batch at the end of the log."""
        self._batches.append(batch)

    def truncate_to(self, offset: int) -> None:
        """Drop the batches from `offset` on, none of which is committed."""
        while self._batches and self._batches[-1].last_offset >= offset:
            self._batches.pop()

    def has_more(self, high_watermark: int) -> bool:
        """Return whether a batch below the high watermark was not delivered."""
        return bool(self._batches) and self._batches[0].last_offset < high_watermark

    def take(self, high_watermark: int) -> list[LogBatch]:
        """Return the next portion; call `end` when it is handled."""
        portion: list[LogBatch] = []
        room = PORTION_RECORDS
        while room > 0 and self.has_more(high_watermark):
            batch = self._batches.popleft()
            if len(batch.records) > PORTION_RECORDS:
                batch, rest = _cut(batch, room)
                self._batches.appendleft(rest)
            portion.append(batch)
            room -= len(batch.records)
        if portion:
            self._taken_offset = portion[-1].last_offset + 1
        return portion

    def end(self) -> None:
        """Record that everything taken is handled."""
        self.offset = self._taken_offset


def _cut(batch: LogBatch, count: int) -> tuple[LogBatch, LogBatch]:
    """Return the first `count` records of a batch, and the others."""
    middle = batch.base_offset + count
    first = batch._replace(
        last_offset=middle - 1, records=batch.records[:count], size_bytes=0, is_end=False
    )
    return first, batch._replace(base_offset=middle, records=batch.records[count:])

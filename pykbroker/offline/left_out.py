"""The batches skipped by one read: all are counted, and the side table keeps a limited number.

State   counts, and at most MAX_CORRUPTIONS rows with MAX_RAW_TOTAL raw bytes. A row whose bytes
        would exceed that is kept without them.
"""

from __future__ import annotations

from dataclasses import replace

from pykbroker.offline.split import MAX_CORRUPTIONS, MAX_RAW_TOTAL, Corruption


class LeftOut:
    """Corrupt batches, recorded as they are encountered."""

    def __init__(self) -> None:
        self.kept: list[Corruption] = []
        self.batches = 0
        self.bytes = 0
        self._raw_bytes = 0

    @property
    def kept_bytes(self) -> int:
        """Of the batches whose rows are kept, as they stand in the log."""
        return sum(each.size_bytes for each in self.kept)

    def note(self, corruption: Corruption) -> None:
        """Record a batch."""
        self.batches += 1
        self.bytes += corruption.size_bytes
        if len(self.kept) >= MAX_CORRUPTIONS:
            return
        raw_bytes = self._raw_bytes + len(corruption.raw or b"")
        if raw_bytes <= MAX_RAW_TOTAL:
            self._raw_bytes = raw_bytes
        else:
            corruption = replace(corruption, raw=None)
        self.kept.append(corruption)

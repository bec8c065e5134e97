"""The result of reading a log."""

from __future__ import annotations

from pykbroker.environment.files import FileSlice


class ReadOutcome:
    """Batches of one segment from the first that ends at or above the offset on; slice None:
    nothing is read.

    `position` is in the segment that starts at `segment_base_offset`. `is_first_batch_too_large`:
    the first batch exceeds max_bytes, and the caller did not request it regardless.
    """

    __slots__ = ("is_first_batch_too_large", "position", "segment_base_offset", "size", "slice")

    def __init__(
        self,
        slice_: FileSlice | None = None,
        segment_base_offset: int = -1,
        position: int = -1,
        is_first_batch_too_large: bool = False,
    ) -> None:
        self.slice = slice_
        self.size = slice_.length if slice_ is not None else 0
        self.segment_base_offset = segment_base_offset
        self.position = position
        self.is_first_batch_too_large = is_first_batch_too_large

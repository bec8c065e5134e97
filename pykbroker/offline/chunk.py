"""A chunk of a segment: whole batches in one buffer, and the table of their headers."""

from __future__ import annotations

import numpy as np

from pykbroker.offline.batch_headers import HeaderTable, gather
from pykbroker.offline.varints import Integers
from pykbroker.protocol.record_batch import CODEC_MASK, LOG_OVERHEAD


class Chunk:
    """`positions` are those of the batches in the buffer; `at` is where it begins in the file."""

    __slots__ = ("at", "buffer", "codecs", "positions", "sizes", "table", "view")

    def __init__(self, buffer: bytearray, positions: list[int], at: int) -> None:
        self.buffer = buffer
        self.view = memoryview(buffer)
        self.at = at
        self.positions: Integers = np.array(positions, np.int64)
        self.table: HeaderTable = gather(np.frombuffer(buffer, np.uint8), self.positions)
        self.sizes: Integers = self.table["length"].astype(np.int64) + LOG_OVERHEAD
        self.codecs = self.table["attributes"] & CODEC_MASK

    def batch(self, index: int) -> memoryview:
        start = int(self.positions[index])
        return self.view[start : start + int(self.sizes[index])]

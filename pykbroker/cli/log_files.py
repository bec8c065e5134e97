"""Files of a data directory as dump-log and its checks read them: mapped, batch by batch."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import Final

from pykbroker.cli.command import CommandError
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import LOG_OVERHEAD, BatchHeader
from pykbroker.protocol.stored_batch import read_stored_header

_LEAST_BATCH_BYTES: Final = 14


def map_file(path: str) -> memoryview:
    """Map the whole file without reading it."""
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def base_offset_of(path: str) -> int:
    """Return the offset in the name of a segment's file."""
    first = os.path.basename(path).partition(".")[0]
    if not (first.isascii() and first.isdigit()):
        raise CommandError(f"{path}: the name does not begin with an offset")
    return int(first)


def batches(content: memoryview, path: str, start: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Yield (position, header) of the batches from `start` on, up to the last whole one.

    Raises CommandError at a length below that of any batch, or a header that cannot be read.
    """
    position = start
    while len(content) - position >= LOG_OVERHEAD + 5:
        length = int.from_bytes(content[position + 8 : position + 12], "big", signed=True)
        if length < _LEAST_BATCH_BYTES:
            name = os.path.basename(path)
            raise CommandError(
                f"Found record size {length} smaller than minimum record overhead "
                f"({_LEAST_BATCH_BYTES}) in file {name}."
            )
        if position + LOG_OVERHEAD + length > len(content):
            return
        try:
            header = read_stored_header(content, position)
        except CorruptBatch as error:
            raise CommandError(f"{path}, position {position}: {error}") from error
        yield position, header
        position += header.size_bytes

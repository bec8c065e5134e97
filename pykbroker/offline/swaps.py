"""Segments that compaction is swapping in, as a listing finds them.

    <20 digits>.log.cleaned    being written: the old segments are still valid
    <20 digits>.log.swap       complete: it replaces the segments whose base offsets it covers
                               (unless something `.cleaned` begins at or before it: then the swap is
                               incomplete, and the old segments are still valid)

Source  Kafka's LogLoader.java.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Final

from pykbroker.offline.old_part import end_of_old
from pykbroker.offline.storage import join, open_file
from pykbroker.protocol.record_batch import LOG_OVERHEAD, RECORD_BATCH_OVERHEAD

CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
_LOG_SWAP: Final = ".log.swap"
_DIGITS: Final = 20
_LOCATE: Final = struct.Struct(">qi7x4xi").unpack_from  # base offset, length, last offset delta


def is_swapping(names: Iterable[str]) -> bool:
    return any(name.endswith(_LOG_SWAP) for name in names)


def with_swaps(
    place: str, names: Iterable[str], segments: Mapping[int, dict[str, str]]
) -> dict[int, dict[str, str]]:
    """Return base offset -> suffix -> name of a partition's segments after the swaps; raises
    FileNotFoundError if a swap ended meanwhile.
    """
    names = list(names)
    cleaned = min((int(n[:_DIGITS]) for n in names if n.endswith(CLEANED)), default=None)
    found = dict(segments)
    for name in sorted(name for name in names if name.endswith(_LOG_SWAP)):
        base = int(name[:_DIGITS])
        if cleaned is not None and cleaned <= base:
            continue
        end = next_offset_of(join(place, name), base)
        found = {
            each: files for each, files in found.items() if not base <= each < max(end, base + 1)
        }
        own = (each for each in names if each.startswith(name[:_DIGITS]) and each.endswith(SWAP))
        found[base] = {each[_DIGITS : -len(SWAP)]: each for each in own}
    return found


def next_offset_of(path: str, base_offset: int) -> int:
    """Return the offset after the last whole batch of a segment, header by header; `base_offset` if
    it has none.
    """
    with open_file(path) as opened:
        position, following = end_of_old(opened, 0, opened.size, base_offset)
        while position + RECORD_BATCH_OVERHEAD <= opened.size:
            head = opened.read(RECORD_BATCH_OVERHEAD, position)
            if len(head) < RECORD_BATCH_OVERHEAD:
                break
            base, length, delta = _LOCATE(head)
            if length < RECORD_BATCH_OVERHEAD - LOG_OVERHEAD:
                break
            position += LOG_OVERHEAD + length
            if position > opened.size:
                break
            following = base + delta + 1
    return following

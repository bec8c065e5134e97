"""Replaces segments by the compacted ones that were made from them.

    .cleaned -> .swap   in reverse order: a restart deletes the new files while a .cleaned one is
                        left, and finishes the swap later on
    old ones -> .deleted, unlinked after file.delete.delay.ms
    .swap -> the name   and the directory is synced

In      a log, its old segments, the base offsets of the `.cleaned` ones (synced).
Out     True if they were replaced; False if the log is offline or no longer has those old segments
        (it was truncated, or retention deleted some) and the `.cleaned` files were deleted;
        LogDirFailure.
Invariants
    At every instant the files on disk are either the old segments or a swap that the next start
    completes; readers of old segments keep their open files.

Source: Kafka's LocalLog.replaceSegments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pykbroker.environment.files import Files
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.segments.segment import (
    CLEANED_SUFFIX,
    INDEX_SUFFIXES,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    Segment,
    segment_path,
)


def replace_segments(
    local: LocalLog, old: Sequence[Segment], new: Sequence[int], *, sync: bool = True
) -> bool:
    """Replace the old segments; return whether it was done. Raises LogDirFailure on disk errors.

    Without `sync`, the caller syncs the directory, or a flush does that comes earlier: until then a
    crash may restore the old names, and old segments that were never synced.
    """
    with local.guard("swapping compacted segments in"):
        if local.is_offline or any(segment not in local.segments for segment in old):
            discard_cleaned(local.files, local.directory, new)
            return False
        swapped = [_to_swap(local, base_offset) for base_offset in sorted(new, reverse=True)]
        for segment in old:
            # A producer snapshot is deleted with a segment whose base offset disappears.
            local.remove_segment(segment, with_snapshot=segment.base_offset not in new)
        for segment in reversed(swapped):
            segment.change_suffix(SWAP_SUFFIX, "")
            local.segments.add(segment)
        if sync:
            local.files.sync_dir(local.directory)
        else:
            local.has_new_names = True
    return True


def _to_swap(local: LocalLog, base_offset: int) -> Segment:
    segment = Segment(
        local.files, local.directory, base_offset, local.config, local.now_ms, suffix=CLEANED_SUFFIX
    )
    segment.change_suffix(CLEANED_SUFFIX, SWAP_SUFFIX)
    return segment


def discard_cleaned(files: Files, directory: str, base_offsets: Iterable[int]) -> None:
    """Delete the output of a round that is no longer wanted."""
    for base_offset in base_offsets:
        for kind in (LOG_SUFFIX, *INDEX_SUFFIXES):
            files.unlink(segment_path(directory, base_offset, kind) + CLEANED_SUFFIX)

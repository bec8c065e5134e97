"""Opens the file that a split was planned on, or the file that has replaced it.

    the same file    under its name, under its final name after a swap, or under `.deleted`: the
                     old one still exists for `file.delete.delay.ms` (a minute; a remote file is
                     looked for only under its name)
    another file     compaction rewrites and merges segments: the offsets of the split are looked up
                     in the partition as it is now
    no file          SegmentGone: it is below the log start, truncated, of a deleted topic, or
                     replaced faster than it can be read (without `fail_on_data_loss`, the split
                     yields what is left)

In a file that has replaced the planned one, a split covers the offsets from its first batch to that
of the next split, so that neighbours neither read a record twice nor miss one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pykbroker.offline.faults import NotALogDirectory, SegmentGone
from pykbroker.offline.file_identity import is_same_file
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.planning import replan
from pykbroker.offline.selecting import while_listed
from pykbroker.offline.split import Split
from pykbroker.offline.storage import (
    DELETED_SUFFIX,
    SegmentFile,
    is_remote,
    open_file,
    split_name,
)
from pykbroker.offline.swaps import SWAP
from pykbroker.types import TopicPartition

_MOST_TRIES: Final = 10


def open_parts(split: Split, tries: int = _MOST_TRIES) -> Iterator[tuple[Split, SegmentFile]]:
    """Yield what to read, and the open files, which the caller closes.

    Raises SegmentGone if some of the split's offsets no longer exist, or its file is replaced again
    and again; without `fail_on_data_loss`, what is left is yielded. Raises OffsetsGone if its
    directory changes faster than it can be listed.
    """
    opened = _open_planned(split)
    if opened is not None:
        yield split, opened
        return
    parts: list[Split] = []
    lost: str | None
    if split.behind_offset is None:
        lost = f"{split.path} is no longer the same file"
    elif tries:
        parts, lost = _look_again(split, split.behind_offset)
    else:
        lost = f"{split.path} is replaced faster than it can be read"
    if lost is not None and split.fail_on_data_loss:
        raise SegmentGone(f"{lost}; read a snapshot instead")
    for part in parts:
        yield from open_parts(part, tries - 1)


def _open_planned(split: Split) -> SegmentFile | None:
    """Open the planned file, whatever its current name; None if it no longer exists."""
    names = [split.path]
    if not is_remote(split.path):
        names += [split.path.removesuffix(SWAP), split.path + DELETED_SUFFIX]
    for name in dict.fromkeys(names):
        try:
            opened = open_file(name)
        except FileNotFoundError:
            continue
        if is_same_file(opened, split):
            return opened
        opened.close()
    return None


def _look_again(split: Split, behind: int) -> tuple[list[Split], str | None]:
    """Return (current splits for the offsets, what is lost of them in words, or None)."""
    low = max(split.start_offset, split.first_offset)
    high = min(split.end_offset, behind)
    wanted = TopicPartition(split.topic, split.partition)
    what = f"{split.path} is gone, with offsets {low} to {high} of {split.topic}-{split.partition}"
    directory, _ = split_name(split.path)
    try:
        listed = read_partitions([directory], [wanted])
    except NotALogDirectory:
        listed = []
    if not listed or not listed[0].segments:
        return [], f"{what}: the partition was deleted or moved"

    def look(files: PartitionFiles) -> tuple[list[Split], str | None]:
        if split.topic_id != files.topic_id:
            return [], f"{what}: its name now belongs to another topic"
        parts, end = replan(files, split, low, high)
        if low < files.log_start_offset:
            return parts, f"{what}: the log begins at {files.log_start_offset} now (retention)"
        if end < high:
            return parts, f"{what}: the log was truncated, it ends at {end} now"
        return parts, None

    found = while_listed([directory], listed[0], look)
    return found if found is not None else ([], f"{what}: the partition was deleted")

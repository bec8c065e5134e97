"""The directory of one partition: its segments, its small files, and files that belong to no log.

    <20 digits>.log .index .timeindex .txnindex  a segment, by its base offset
    <20 digits>.snapshot                         producers as of that offset
    partition.metadata, leader-epoch-checkpoint

Files `.deleted`, `.cleaned` and `.tmp` are ignored. For `.swap` files see swaps.py. A directory in
which segments are being swapped is listed again, because one listing may mix names from before and
after the swap. The values that come from files of the log directory are added in layout.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pykbroker.log.directories.checkpoints import (
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    CorruptCheckpoint,
    PartitionMetadata,
)
from pykbroker.offline.faults import OffsetsGone
from pykbroker.offline.partition_files import ListingFault, PartitionFiles, SegmentFiles
from pykbroker.offline.storage import (
    Listing,
    is_dangling,
    is_remote,
    join,
    list_directory,
    read_small_file,
)
from pykbroker.offline.swaps import is_swapping, with_swaps
from pykbroker.types import TopicPartition

_NUMBERED: Final = re.compile(r"(\d{20})(\.[a-z]+)")
_PASSING: Final = re.compile(r".*(\.deleted|\.cleaned|\.swap|\.tmp)")
_OWN_FILES: Final = frozenset(
    {PARTITION_METADATA, LEADER_EPOCH_CHECKPOINT, "quorum-state", ".lock", "bootstrap.checkpoint"}
)
_OWN_SUFFIXES: Final = frozenset({".log", ".index", ".timeindex", ".txnindex", ".snapshot"})
_CHECKPOINT: Final = re.compile(r"\d{20}-\d{10}\.checkpoint")
_ODD: Final = "is neither a file nor a directory"
_MOST_LISTINGS: Final = 50


def holds_segments(path: str) -> bool:
    """Return whether a directory contains files named like those of a segment: 20 digits, a dot and
    letters.
    """
    listed = list_directory(path)
    return listed is not None and any(
        _NUMBERED.fullmatch(name) for name in (*listed.files, *listed.odd)
    )


def no_file(name: str, listed: Listing) -> str | None:
    """Return what exists in place of a file; None for nothing, or a file."""
    if name in listed.directories:
        return "is a directory where a file should be"
    return _ODD if name in listed.odd else None


def list_partition(partition: TopicPartition, place: str) -> PartitionFiles | None:
    """List the directory `place`; None if it does not exist (any more), a partition with a fault if
    it cannot be listed. Raises OffsetsGone if its segments are replaced too fast.
    """
    for _ in range(_MOST_LISTINGS):
        try:
            listed = _list_segments(place)
        except OSError as fault:
            return _unlisted(partition, place, f"cannot be listed: {fault}")
        if listed is None:
            # Else it was deleted since the log directory was listed.
            return _unlisted(partition, place, _ODD) if is_dangling(place) else None
        try:
            return _files_of(partition, place, listed)
        except FileNotFoundError:
            continue  # a swap ended after it was listed
    raise OffsetsGone(f"segments in {place} are deleted faster than they can be listed")


def _unlisted(partition: TopicPartition, place: str, reason: str) -> PartitionFiles:
    faults = (ListingFault(place, reason, True),)
    return PartitionFiles(*partition, place, None, (), (), 0, None, (), faults)


def _files_of(partition: TopicPartition, place: str, listed: Listing) -> PartitionFiles:
    by_offset, foreign = _sorted_out(listed.files)
    if is_swapping(listed.files):
        by_offset = with_swaps(place, listed.files, by_offset)
    named = sorted(by_offset.items())
    segments = tuple(
        _segment(place, base_offset, names, listed.files)
        for base_offset, names in named
        if ".log" in names
    )
    snapshots = tuple(
        (offset, join(place, names[".snapshot"])) for offset, names in named if ".snapshot" in names
    )
    topic_id, metadata_fault = _topic_id(place, listed.files)
    return PartitionFiles(
        partition.topic,
        partition.partition,
        place,
        topic_id,
        segments,
        snapshots,
        segments[0].base_offset if segments else 0,
        None,
        tuple(foreign),
        (*_odd_files(place, listed), *metadata_fault),
    )


def _sorted_out(files: Mapping[str, int]) -> tuple[dict[int, dict[str, str]], list[str]]:
    """Return ({offset: {suffix: name}}, names of files that belong to no log)."""
    by_offset: dict[int, dict[str, str]] = {}
    foreign: list[str] = []
    for name in sorted(files):
        match = _NUMBERED.fullmatch(name)
        if match is not None and match[2] in _OWN_SUFFIXES:
            by_offset.setdefault(int(match[1]), {})[match[2]] = name
        elif not (_PASSING.fullmatch(name) or name in _OWN_FILES or _CHECKPOINT.fullmatch(name)):
            foreign.append(name)
    return by_offset, foreign


def _segment(
    place: str, base_offset: int, names: Mapping[str, str], sizes: Mapping[str, int]
) -> SegmentFiles:
    def path_of(suffix: str) -> str | None:
        return join(place, names[suffix]) if suffix in names else None

    return SegmentFiles(
        base_offset,
        join(place, names[".log"]),
        sizes[names[".log"]],
        path_of(".index"),
        path_of(".timeindex"),
        path_of(".txnindex"),
    )


def _odd_files(place: str, listed: Listing) -> Iterator[ListingFault]:
    """Report entries that have the name of a log's file but are not files."""
    for name in sorted((*listed.odd, *listed.directories)):
        match = _NUMBERED.fullmatch(name)
        if name in _OWN_FILES or (match is not None and match[2] in _OWN_SUFFIXES):
            is_log = match is not None and match[2] == ".log"
            yield ListingFault(join(place, name), no_file(name, listed) or _ODD, is_log)


def _list_segments(place: str) -> Listing | None:
    """List it until two listings agree in everything but growth (a remote one once, and no more
    than some fifty times); None if there is no directory.
    """
    listed = list_directory(place)
    for _ in range(_MOST_LISTINGS):
        if listed is None or is_remote(place):
            break
        again = list_directory(place)
        if again is None:
            return None
        agree = _at_rest(listed.files) == _at_rest(again.files)
        listed = again
        if agree and not is_swapping(listed.files):
            break
    return listed


def _at_rest(files: Mapping[str, int]) -> tuple[set[str], list[tuple[str, int]]]:
    """Return all names, and the sizes of all segments but the last one."""
    logs = sorted((name, size) for name, size in files.items() if name.endswith(".log"))
    return set(files), logs[:-1]


def _topic_id(place: str, files: Mapping[str, int]) -> tuple[bytes | None, list[ListingFault]]:
    if PARTITION_METADATA not in files:
        return None, []
    path = join(place, PARTITION_METADATA)
    try:
        return PartitionMetadata.from_bytes(read_small_file(path) or b"").topic_id, []
    except CorruptCheckpoint as fault:
        return None, [ListingFault(path, f"cannot be read: {fault}", False)]

"""Log directories as they lie on disk: which partitions, which segments, which small files.

    <log directory>/
      meta.properties, *-offset-checkpoint           of the whole directory
      <topic>-<partition>/
        partition.metadata, leader-epoch-checkpoint
        <20 digits>.log .index .timeindex .txnindex  a segment, by its base offset
        <20 digits>.snapshot                         producers as of that offset

Left alone: directories `-delete`, `-future`, `-stray`, files `.deleted`, `.cleaned`. What `.swap`
files mean: see swaps.py. A directory in which segments are being swapped is listed again: one
listing may have seen some names from before the swap and others from after it.

In      paths or URIs of log directories, or of single partitions.
Out     PartitionFiles, sorted by topic and partition, each partition once: of several replicas the
        one that reaches furthest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pykbroker.log.checkpoints import (
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    REPLICATION_OFFSET_CHECKPOINT,
    CorruptCheckpoint,
    PartitionMetadata,
    parse_offsets,
)
from pykbroker.offline.faults import NotALogDirectory, OffsetsGone
from pykbroker.offline.frozen_end import freeze
from pykbroker.offline.partition_files import ListingFault, PartitionFiles, SegmentFiles
from pykbroker.offline.storage import (
    Listing,
    is_dangling,
    is_remote,
    join,
    list_directory,
    read_small_file,
    split_name,
)
from pykbroker.offline.swaps import is_swapping, with_swaps
from pykbroker.types import TopicPartition

_PARTITION: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9]\d{0,9})")
_NUMBERED: Final = re.compile(r"(\d{20})(\.[a-z]+)")
_PASSING: Final = re.compile(r".*(\.deleted|\.cleaned|\.swap|\.tmp)")
_OWN_FILES: Final = frozenset(
    {PARTITION_METADATA, "leader-epoch-checkpoint", "quorum-state", ".lock", "bootstrap.checkpoint"}
)
_OWN_SUFFIXES: Final = frozenset({".log", ".index", ".timeindex", ".txnindex", ".snapshot"})
_CHECKPOINT: Final = re.compile(r"\d{20}-\d{10}\.checkpoint")
_MAX_PARTITION: Final = 0x7FFF_FFFF
_ODD: Final = "is nothing that can be read: neither a file nor a directory"
_MOST_LISTINGS: Final = 50


@dataclass(frozen=True)
class LogDirectoryFiles:
    """A log directory: its partitions by name of their directory, and its checkpoints."""

    path: str
    partitions: tuple[str, ...]
    log_starts: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]
    #: Of the directory's own files.
    faults: tuple[ListingFault, ...]


def parse_partition(name: str) -> TopicPartition | None:
    """Topic and partition of a directory's name; None for every other directory."""
    match = _PARTITION.fullmatch(name)
    if match is None or int(match[2]) > _MAX_PARTITION:
        return None
    return TopicPartition(match[1], int(match[2]))


def read_log_directory(path: str) -> LogDirectoryFiles:
    """List a log directory; NotALogDirectory names what is there instead."""
    listed = list_directory(path)
    if listed is None:
        raise NotALogDirectory(f"{path} is no directory")
    files, directories, odd = listed
    names = [*directories, *odd]
    partitions = tuple(name for name in sorted(names) if parse_partition(name) is not None)
    if META_PROPERTIES not in files and not any(
        _holds_segments(join(path, name)) for name in partitions
    ):
        shown = ", ".join([*names, *files][:5]) or "nothing"
        raise NotALogDirectory(
            f"{path} is no log directory: it has neither {META_PROPERTIES} nor a directory "
            f"named <topic>-<partition> with segments in it, but {shown}"
        )
    return _directory_of(path, partitions, listed)


def _directory_of(path: str, partitions: tuple[str, ...], listed: Listing) -> LogDirectoryFiles:
    faults: list[ListingFault] = []

    def offsets_in(name: str) -> dict[TopicPartition, int]:
        kind = _no_file(name, listed)
        if kind is not None:
            faults.append(ListingFault(join(path, name), kind, True))
        payload = read_small_file(join(path, name)) if name in listed.files else None
        if payload is None:
            return {}
        try:
            return parse_offsets(payload, name)
        except CorruptCheckpoint as fault:
            faults.append(ListingFault(join(path, name), f"cannot be read: {fault}", True))
            return {}

    log_starts = offsets_in(LOG_START_OFFSET_CHECKPOINT)
    high_watermarks = offsets_in(REPLICATION_OFFSET_CHECKPOINT)
    return LogDirectoryFiles(path, partitions, log_starts, high_watermarks, tuple(faults))


def find_partitions(paths: Iterable[str]) -> list[TopicPartition]:
    """The partitions of all log directories, without looking into them."""
    return sorted(_places(paths))


def _places(paths: Iterable[str]) -> dict[TopicPartition, list[tuple[str, LogDirectoryFiles]]]:
    """Partition -> [(its directory, the log directory)]."""
    found: dict[TopicPartition, list[tuple[str, LogDirectoryFiles]]] = {}
    for path in paths:
        if is_partition(path):
            parent, name = split_name(path)
            listed = list_directory(parent)
            directory = _directory_of(parent, (name,), listed or Listing({}, [], []))
        else:
            directory = read_log_directory(path)
        for each in directory.partitions:
            partition = parse_partition(each)
            assert partition is not None
            found.setdefault(partition, []).append((join(directory.path, each), directory))
    return found


def is_partition(path: str) -> bool:
    """Whether it is the directory of one partition, and of no log directory of that name."""
    return parse_partition(split_name(path)[1]) is not None and _holds_segments(path)


def _holds_segments(path: str) -> bool:
    listed = list_directory(path)
    return listed is not None and any(
        _NUMBERED.fullmatch(name) for name in (*listed.files, *listed.odd)
    )


def read_partitions(
    paths: Iterable[str],
    wanted: Iterable[TopicPartition] | None = None,
    *,
    may_be_faulty: bool = False,
) -> list[PartitionFiles]:
    """All (or the wanted) partitions with their segments.

    OfflineError for one that has faults in the way of reading, unless it `may_be_faulty`.
    """
    places = _places(paths)
    chosen = sorted(places) if wanted is None else sorted(set(wanted) & places.keys())
    found: list[PartitionFiles] = []
    for partition in chosen:
        replicas = [
            each
            for place, directory in places[partition]
            if (each := _read_partition(partition, place, directory)) is not None
        ]
        if not may_be_faulty:
            for each in replicas:
                each.refuse_faults()
        if replicas:
            found.append(_furthest(replicas))
    return found


def _furthest(replicas: list[PartitionFiles]) -> PartitionFiles:
    """Where segments begin tells nothing: each replica rolls its own."""
    if len(replicas) == 1:
        return replicas[0]
    for each in replicas:
        if any(fault.is_in_the_way for fault in each.faults):
            return each
    ends: list[tuple[int, int]] = []
    for number, each in enumerate(replicas):
        try:
            ends.append((freeze(each).next_offset, -number))
        except FileNotFoundError:  # deleted or rolled away meanwhile
            ends.append((-1, -number))
    return replicas[-max(ends)[1]]


def _read_partition(
    partition: TopicPartition, place: str, directory: LogDirectoryFiles
) -> PartitionFiles | None:
    for _ in range(_MOST_LISTINGS):
        try:
            listed = _list_segments(place)
        except OSError as fault:
            return _unlisted(partition, place, directory, f"cannot be listed: {fault}")
        if listed is None:
            # Else it was deleted since the log directory was listed.
            return _unlisted(partition, place, directory, _ODD) if is_dangling(place) else None
        try:
            return _read_listed(partition, place, directory, listed)
        except FileNotFoundError:
            continue  # a swap ended after it was listed
    raise OffsetsGone(f"segments in {place} go faster than they can be listed")


def _unlisted(
    partition: TopicPartition, place: str, directory: LogDirectoryFiles, reason: str
) -> PartitionFiles:
    faults = (*directory.faults, ListingFault(place, reason, True))
    return PartitionFiles(*partition, place, None, (), (), 0, None, (), faults)


def _odd_files(place: str, listed: Listing) -> Iterator[ListingFault]:
    """What has the name of a file of a log, and is none."""
    for name in sorted((*listed.odd, *listed.directories)):
        match = _NUMBERED.fullmatch(name)
        if name in _OWN_FILES or (match is not None and match[2] in _OWN_SUFFIXES):
            is_log = match is not None and match[2] == ".log"
            yield ListingFault(join(place, name), _no_file(name, listed) or _ODD, is_log)


def _no_file(name: str, listed: Listing) -> str | None:
    """What is in the place of a file; None: nothing, or a file."""
    if name in listed.directories:
        return "is a directory where a file should be"
    return _ODD if name in listed.odd else None


def _read_listed(
    partition: TopicPartition, place: str, directory: LogDirectoryFiles, listed: Listing
) -> PartitionFiles:
    files = listed.files
    by_offset: dict[int, dict[str, str]] = {}
    foreign: list[str] = []
    for name in sorted(files):
        match = _NUMBERED.fullmatch(name)
        if match is not None and match[2] in _OWN_SUFFIXES:
            by_offset.setdefault(int(match[1]), {})[match[2]] = name
        elif not (_PASSING.fullmatch(name) or name in _OWN_FILES or _CHECKPOINT.fullmatch(name)):
            foreign.append(name)

    if is_swapping(files):
        by_offset = with_swaps(place, files, by_offset)

    def path_of(names: dict[str, str], suffix: str) -> str | None:
        return join(place, names[suffix]) if suffix in names else None

    segments = tuple(
        SegmentFiles(
            base_offset,
            join(place, names[".log"]),
            files[names[".log"]],
            path_of(names, ".index"),
            path_of(names, ".timeindex"),
            path_of(names, ".txnindex"),
        )
        for base_offset, names in sorted(by_offset.items())
        if ".log" in names
    )
    topic_id, metadata_fault = _topic_id(place, files)
    snapshots = tuple(
        (offset, join(place, names[".snapshot"]))
        for offset, names in sorted(by_offset.items())
        if ".snapshot" in names
    )
    first = segments[0].base_offset if segments else 0
    return PartitionFiles(
        partition.topic,
        partition.partition,
        place,
        topic_id,
        segments,
        snapshots,
        max(first, directory.log_starts.get(partition, 0)),
        directory.high_watermarks.get(partition),
        tuple(foreign),
        (*directory.faults, *_odd_files(place, listed), *metadata_fault),
    )


def _list_segments(place: str) -> Listing | None:
    """What is in it, of two listings that agree in all but what grows; None: no directory."""
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


def _at_rest(files: dict[str, int]) -> tuple[set[str], list[tuple[str, int]]]:
    """All names, and the sizes of all segments but the last one."""
    logs = sorted((name, size) for name, size in files.items() if name.endswith(".log"))
    return set(files), logs[:-1]


def _topic_id(place: str, files: dict[str, int]) -> tuple[bytes | None, list[ListingFault]]:
    if PARTITION_METADATA not in files:
        return None, []
    path = join(place, PARTITION_METADATA)
    try:
        return PartitionMetadata.from_bytes(read_small_file(path) or b"").topic_id, []
    except CorruptCheckpoint as fault:
        return None, [ListingFault(path, f"cannot be read: {fault}", False)]

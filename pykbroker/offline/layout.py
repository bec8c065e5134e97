"""The layout of log directories on disk: their partitions and checkpoints.

    <log directory>/
      meta.properties, *-offset-checkpoint           of the whole directory
      <topic>-<partition>/                           see partition_listing.py

Directories with other names are ignored, such as `-delete`, `-future` and `-stray`. A path may be
that of a log directory or of a single partition, or the URI of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from pykbroker.log.directories.checkpoints import (
    LOG_START_OFFSET_CHECKPOINT,
    META_PROPERTIES,
    REPLICATION_OFFSET_CHECKPOINT,
    CorruptCheckpoint,
    parse_offsets,
)
from pykbroker.offline.faults import NotALogDirectory
from pykbroker.offline.frozen_end import freeze
from pykbroker.offline.partition_files import ListingFault, PartitionFiles
from pykbroker.offline.partition_listing import holds_segments, list_partition, no_file
from pykbroker.offline.storage import (
    Listing,
    join,
    list_directory,
    read_small_file,
    split_name,
)
from pykbroker.types import TopicPartition

_PARTITION: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9]\d{0,9})")
_MAX_PARTITION: Final = 0x7FFF_FFFF


@dataclass(frozen=True)
class LogDirectoryFiles:
    """A log directory: the names of its partitions' directories (of one, if only that is read), and
    its checkpoints.
    """

    path: str
    partitions: tuple[str, ...]
    log_starts: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]
    #: Of the directory's own files.
    faults: tuple[ListingFault, ...]


def parse_partition(name: str) -> TopicPartition | None:
    """Parse topic and partition from a directory's name; None for other directories."""
    match = _PARTITION.fullmatch(name)
    if match is None or int(match[2]) > _MAX_PARTITION:
        return None
    return TopicPartition(match[1], int(match[2]))


def read_log_directory(path: str) -> LogDirectoryFiles:
    """List a log directory; raises NotALogDirectory if the path is not one."""
    listed = list_directory(path)
    if listed is None:
        raise NotALogDirectory(f"{path} is not a directory")
    files, directories, odd = listed
    names = [*directories, *odd]
    partitions = tuple(name for name in sorted(names) if parse_partition(name) is not None)
    if META_PROPERTIES not in files and not any(
        holds_segments(join(path, name)) for name in partitions
    ):
        shown = ", ".join([*names, *files][:5]) or "nothing"
        raise NotALogDirectory(
            f"{path} is not a log directory: it has neither {META_PROPERTIES} nor a directory "
            f"named <topic>-<partition> with segments in it, but {shown}"
        )
    return _directory_of(path, partitions, listed)


def _directory_of(path: str, partitions: tuple[str, ...], listed: Listing) -> LogDirectoryFiles:
    faults: list[ListingFault] = []

    def offsets_in(name: str) -> dict[TopicPartition, int]:
        kind = no_file(name, listed)
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
    """Return the partitions of all log directories, sorted, without reading them."""
    return sorted(_places(paths))


def _places(paths: Iterable[str]) -> dict[TopicPartition, list[tuple[str, LogDirectoryFiles]]]:
    """Return partition -> [(its directory, the log directory)]."""
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
    """Return whether a path is named like a partition and contains files of segments; a log
    directory may have such a name, too.
    """
    return parse_partition(split_name(path)[1]) is not None and holds_segments(path)


def read_partitions(
    paths: Iterable[str],
    wanted: Iterable[TopicPartition] | None = None,
    *,
    may_be_faulty: bool = False,
) -> list[PartitionFiles]:
    """Return all (or the selected) partitions that exist, sorted, with their segments: of several
    replicas of one, that which reaches furthest.

    Raises OfflineError for a replica with faults that prevent reading; with `may_be_faulty`, that
    replica is returned. Raises NotALogDirectory for other paths.
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
    """Return the replica that reaches furthest; before all, one whose faults prevent reading. Base
    offsets of segments are no indication: each replica rolls its own.
    """
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
    """Read one partition with its entries in the checkpoints of the log directory; None if it no
    longer exists.
    """
    files = list_partition(partition, place)
    if files is None:
        return None
    return replace(
        files,
        log_start_offset=max(files.log_start_offset, directory.log_starts.get(partition, 0)),
        high_watermark=directory.high_watermarks.get(partition),
        faults=(*directory.faults, *files.faults),
    )

"""`fsck`: finds inconsistencies in log directories, one row per finding.

    batches           framing, checksum, codec, records, which are decoded
    all others        headers, indexes and small files: mostly in partition_check.py

Log directories are those of `open_log`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from pykbroker.log.directories.checkpoints import (
    LEADER_EPOCH_CHECKPOINT,
    CorruptCheckpoint,
    parse_leader_epochs,
)
from pykbroker.offline.findings import ERROR, FINDING_SCHEMA, NOTE, Finding
from pykbroker.offline.frozen_end import freeze, frozen_segments
from pykbroker.offline.partition_check import PartitionCheck
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.reader import Names, names_of, numbers_of, read_split
from pykbroker.offline.selecting import look_at_each
from pykbroker.offline.snapshot_sizes import changed_segment
from pykbroker.offline.split import DROPMALFORMED, Corruption, ReadOptions, Selection, Split
from pykbroker.offline.storage import join, read_small_file

#: All that is decoded, with `verify_offsets=False`: offsets are judged by PartitionCheck.
_EVERYTHING: Final = ReadOptions(
    ("key", "value", "headers", "timestamp", "offset"), DROPMALFORMED, verify_offsets=False
)


def fsck(
    paths: Names,
    topics: str | Iterable[str] | None = None,
    *,
    partitions: Collection[int] | None = None,
    notes: bool = False,
) -> Any:
    """Return the findings in topics of log directories; in all but internal ones by default. A
    pyarrow table of FINDING_SCHEMA, partition by partition.

    For one partition, partition_check.py reports at most 500 findings, notes among them.
    `notes`: also returns what is often normal in a log that is compacted or being written to.
    """
    selection = Selection(
        names_of(paths) or (), names_of(topics), partitions=numbers_of(partitions)
    )

    def rows_of(files: PartitionFiles) -> list[dict[str, Any]]:
        place = {"topic": files.topic, "partition": files.partition}
        return [
            place | finding._asdict()
            for finding in _findings(files)
            if notes or finding.severity != NOTE
        ]

    found = look_at_each(selection, rows_of, may_be_faulty=True)
    rows = [row for rows in found for row in rows]
    return pa.Table.from_pylist(rows, schema=FINDING_SCHEMA)


def _findings(files: PartitionFiles) -> list[Finding]:
    """Return each finding once: several checks may encounter the same unreadable file."""
    return list(dict.fromkeys(structure_findings(files) + _checked(_unreadable, files)))


def structure_findings(files: PartitionFiles) -> list[Finding]:
    """Return the findings in headers, indexes and small files: all that needs no decoding."""
    checks = (_wrong_files, _changed, _misfits)
    return [finding for check in checks for finding in _checked(check, files)]


def _checked(
    check: Callable[[PartitionFiles], Iterator[Finding]], files: PartitionFiles
) -> list[Finding]:
    found: list[Finding] = []
    try:
        for finding in check(files):
            found.append(finding)
    except FileNotFoundError:
        raise  # it is listed again
    except OSError as fault:
        found.append(unreadable_file(fault, files.directory))
    return found


def unreadable_file(fault: OSError, place: str) -> Finding:
    """Return the finding for an unreadable file: the one named in the error, else `place`."""
    path = fault.filename or place
    return Finding(ERROR, "files", path, None, None, f"cannot be read: {fault}")


def _misfits(files: PartitionFiles) -> Iterator[Finding]:
    yield from PartitionCheck(files).findings()


def _wrong_files(files: PartitionFiles) -> Iterator[Finding]:
    """Yield findings for entries that are not files or cannot be parsed."""
    for fault in files.faults:
        yield Finding(ERROR, "files", fault.path, None, None, fault.reason)
    path = join(files.directory, LEADER_EPOCH_CHECKPOINT)
    try:
        parse_leader_epochs(read_small_file(path) or b"", LEADER_EPOCH_CHECKPOINT)
    except CorruptCheckpoint as fault:
        yield Finding(ERROR, "files", path, None, None, f"cannot be read: {fault}")


def _changed(files: PartitionFiles) -> Iterator[Finding]:
    """Yield a finding if a segment of a snapshot has changed (the first one), or its manifest is
    invalid.
    """
    changed = changed_segment(files)
    if changed is not None:
        yield Finding(ERROR, "files", changed[0], None, None, changed[1])


def _unreadable(files: PartitionFiles) -> Iterator[Finding]:
    """Yield the batches that cannot be read."""
    noted: list[Corruption] = []
    for segment, end in frozen_segments(files, freeze(files)):
        split = Split(
            segment.path,
            files.topic,
            files.partition,
            segment.base_offset,
            0,
            end,
            index_path=segment.index_path,
            file_bytes=None if segment is files.segments[-1] else segment.size_bytes,
        )
        for _ in read_split(split, _EVERYTHING, noted.append):
            continue
    for each in noted:
        yield Finding(ERROR, "batches", each.path, each.position, each.base_offset, each.reason)

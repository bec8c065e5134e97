"""`dump-log --verify`: checks files or whole data directories for faults.

Out: one line for each fault, `file: what is wrong`, and a last line that counts; exit code 1 when
there is any fault. Of the entries of an index that do not match the log only the first is reported.
Nothing is changed, and no broker is asked.

    .log, .checkpoint   every batch: whole, its checksum, readable records; .log: ascending offsets
    .index, .timeindex  every entry matches the log
    .txnindex           ascending entries
    .snapshot           checksum and length
    checkpoint files    every line; meta.properties of one cluster and node; quorum-state
    partitions          files and offsets that are missing, whose topic (verify_partition.py)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.dump_indexes import (
    offset_entries,
    offset_index_fault,
    time_entries,
    time_index_fault,
)
from pykbroker.cli.log_files import base_offset_of, batches, map_file
from pykbroker.cli.progress import counted
from pykbroker.cli.verify_partition import Topics, partition_faults
from pykbroker.kraft.raft.quorum_state import (
    QUORUM_STATE_FILE,
    CorruptQuorumState,
    decode_quorum_state,
)
from pykbroker.log.directories.checkpoints import (
    CorruptCheckpoint,
    MetaProperties,
    PartitionMetadata,
    parse_leader_epochs,
    parse_offsets,
)
from pykbroker.log.producers.producer_state import CorruptSnapshot, decode_snapshot
from pykbroker.log.segments.index_verification import (
    BatchColumns,
    wrong_offset_entries,
    wrong_time_entries,
)
from pykbroker.log.segments.txn_index import CorruptTransactionIndex, TransactionIndex
from pykbroker.protocol.old_messages import UNKNOWN_COUNT
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.stored_batch import (
    has_right_crc,
    read_stored_header,
    stored_records,
)

_HARMLESS: Final = frozenset((".lock", ".kafka_cleanshutdown", "lost+found"))
_LEFT_OVERS: Final = (".deleted", ".cleaned", ".swap", ".tmp", ".part")


def verify(paths: Sequence[str]) -> int:
    """Check all of these files and directories; return the exit code."""
    files = 0
    faults = 0
    owners: dict[tuple[str | None, int | None], str] = {}
    topics: Topics = {}
    for path in paths:
        if not os.path.exists(path):
            raise CommandError(f"{path}: No such file or directory")
        for directory, names in _directories(path):
            found = [] if directory is None else list(partition_faults(directory, names, topics))
            for name in names:
                files += 1
                file = name if directory is None else os.path.join(directory, name)
                found += [(file, fault) for fault in _file_faults(file, owners)]
            faults += len(found)
            for file, fault in sorted(found):
                print(f"{file}: {fault}")
    print(f"{counted(files, 'file')} checked, {counted(faults, 'fault')} found.")
    return 1 if faults else 0


def _directories(path: str) -> Iterator[tuple[str | None, list[str]]]:
    """Yield directories with the names of their files; (None, [path]) for a single file."""
    if not os.path.isdir(path):
        yield None, [path]
        return
    for directory, names, files in os.walk(path):
        names.sort()
        yield directory, sorted(files)


def _file_faults(path: str, owners: dict[tuple[str | None, int | None], str]) -> Iterator[str]:
    name = os.path.basename(path)
    if name in _HARMLESS or name.endswith(_LEFT_OVERS):
        return
    try:
        if name == "meta.properties":
            yield from _owner_faults(path, owners)
        elif name == QUORUM_STATE_FILE:
            decode_quorum_state(bytes(map_file(path)))
        elif name in _CHECKPOINTS:
            _CHECKPOINTS[name](bytes(map_file(path)), name)
        else:
            check = _BY_SUFFIX.get(os.path.splitext(name)[1])
            if check is None:
                yield "not a file of Kafka"
            else:
                yield from check(path)
    except (CorruptCheckpoint, CorruptQuorumState) as error:
        yield str(error)
    except CommandError as error:
        yield str(error).removeprefix(f"{path}: ")
    except OSError as error:
        yield str(error.strerror)


def _owner_faults(path: str, owners: dict[tuple[str | None, int | None], str]) -> Iterator[str]:
    properties = MetaProperties.from_bytes(bytes(map_file(path)), path)
    owner = (properties.cluster_id, properties.node_id)
    owners.setdefault(owner, path)
    first = next(iter(owners))
    if owner != first:
        yield (
            f"belongs to node {owner[1]} of cluster {owner[0]}, but {owners[first]} to node "
            f"{first[1]} of cluster {first[0]}"
        )


_CHECKPOINTS: Final[dict[str, Callable[[bytes, str], object]]] = {
    "recovery-point-offset-checkpoint": parse_offsets,
    "log-start-offset-checkpoint": parse_offsets,
    "replication-offset-checkpoint": parse_offsets,
    "cleaner-offset-checkpoint": parse_offsets,
    "leader-epoch-checkpoint": parse_leader_epochs,
    "partition.metadata": PartitionMetadata.from_bytes,
}


# --- logs -------------------------------------------------------------------------------------


def _log_faults(path: str) -> Iterator[str]:
    content = map_file(path)
    is_segment = path.endswith(".log")
    next_offset = base_offset_of(path) if is_segment else 0
    end = 0
    for position, header in batches(content, path):
        where = f"batch at offset {header.base_offset}, position {position}"
        batch = content[position : position + header.size_bytes]
        end = position + header.size_bytes
        if is_segment and header.base_offset < next_offset:
            yield f"{where}: offsets go back from {next_offset}"
        next_offset = header.next_offset
        if not has_right_crc(batch, header):
            yield f"{where}: wrong checksum"
            continue
        try:
            for _ in stored_records(batch, header):
                pass
        except CorruptBatch as error:
            yield f"{where}: {error}"
    if end < len(content):
        yield f"{len(content) - end} bytes after the last whole batch, at position {end}"


# --- indexes ----------------------------------------------------------------------------------


def _offset_index_faults(path: str) -> Iterator[str]:
    base = base_offset_of(path)
    content = map_file(path)
    fault = offset_index_fault(path, content, base)
    if fault is not None:
        yield fault
        return
    log_path = _log_of(path)
    if not os.path.exists(log_path):
        return  # verify_partition.py reports it
    entries = list(offset_entries(content, base))
    log = map_file(log_path)
    if entries and entries[0] == (base, 0) and not _holds_offset(log, base):
        return  # zeros only: the preallocated index of an active segment
    for number, why in islice(wrong_offset_entries(entries, _columns(log, log_path)), 1):
        yield f"entry {number}: {why}"


def _time_index_faults(path: str) -> Iterator[str]:
    base = base_offset_of(path)
    content = map_file(path)
    entries = list(time_entries(content, base))
    if content[:12] == bytes(12):
        return  # zeros only: the preallocated index of an active segment
    used = content[: len(entries) * 12]
    if any(content[len(entries) * 12 :]):
        used = content
    fault = time_index_fault(path, used, base)
    if fault is not None:
        yield fault
        return
    log_path = _log_of(path)
    if not os.path.exists(log_path):
        return
    columns = _columns(map_file(log_path), log_path)
    for number, why in islice(wrong_time_entries(entries, columns), 1):
        yield f"entry {number}: {why}"


def _columns(log: memoryview, path: str) -> BatchColumns:
    rows: list[tuple[int, int, int, int]] = []
    base = base_offset_of(path)
    for position, header in batches(log, path):
        # The header of a batch before magic 2 holds the last offset; the first one follows the
        # batch before.
        first = base if header.record_count == UNKNOWN_COUNT else header.base_offset
        rows.append((position, first, header.last_offset, header.max_timestamp))
        base = header.next_offset
    return BatchColumns(*([row[field] for row in rows] for field in range(4)))


def _transaction_index_faults(path: str) -> Iterator[str]:
    index = TransactionIndex(base_offset_of(path), bytes(map_file(path)))
    try:
        fault = index.check()
    except CorruptTransactionIndex as error:
        fault = str(error)
    if fault is not None:
        yield fault


def _snapshot_faults(path: str) -> Iterator[str]:
    try:
        decode_snapshot(bytes(map_file(path)))
    except CorruptSnapshot as error:
        yield str(error)


def _log_of(path: str) -> str:
    return os.path.splitext(path)[0] + ".log"


def _holds_offset(log: memoryview, offset: int) -> bool:
    """Return whether it is in the first batch."""
    try:
        header = read_stored_header(log, 0)
    except CorruptBatch:
        return False
    is_behind_start = header.base_offset <= offset or header.record_count == UNKNOWN_COUNT
    return is_behind_start and offset <= header.last_offset


_BY_SUFFIX: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    ".log": _log_faults,
    ".checkpoint": _log_faults,
    ".index": _offset_index_faults,
    ".timeindex": _time_index_faults,
    ".txnindex": _transaction_index_faults,
    ".snapshot": _snapshot_faults,
}

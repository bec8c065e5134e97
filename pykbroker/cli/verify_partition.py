"""Faults of a partition's directory as a whole: its files compared with each other.

In      the directory of one partition; the checkpoints of its log directory.
Out     (file, fault): missing files, missing offsets between segments, a log that ends before its
        recovery point, a log start after the end, topics and ids that do not agree, a transaction
        index that does not match the markers.
Invariants
    What the checks of single files find is not reported again. Gaps are no faults if compaction
    may have made them: if the cleaner's checkpoint names the partition or cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from pykbroker.cli.command import CommandError
from pykbroker.cli.log_files import base_offset_of, batches, map_file
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.log.directories.checkpoints import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    CorruptCheckpoint,
    PartitionMetadata,
    parse_offsets,
)
from pykbroker.log.directories.partition_directories import parse_directory_name
from pykbroker.log.recovery.log_loader import is_segment_name
from pykbroker.log.segments.index_verification import (
    NO_MARKER,
    Aborted,
    OpenTransactions,
    wrong_aborted,
)
from pykbroker.log.segments.txn_index import CorruptTransactionIndex, TransactionIndex
from pykbroker.protocol.control_records import decode_type
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import BatchHeader, iter_records
from pykbroker.types import TopicPartition

Fault = tuple[str, str]
Topics = dict[str | bytes, tuple[str | bytes, str]]
"""Topic -> its id and the file that says so; id -> its topic and that file."""


def partition_faults(directory: str, names: Sequence[str], topics: Topics) -> Iterator[Fault]:
    """Yield the faults of a directory with these files; none for a directory that is not of a
    partition in use.
    """
    parsed = parse_directory_name(os.path.basename(os.path.abspath(directory)))
    logs = sorted(name for name in names if name.endswith(".log") and is_segment_name(name))
    if parsed is None or parsed.kind:
        return
    yield from _missing_files(directory, names)
    if parsed.topic_partition.topic != CLUSTER_METADATA_TOPIC:
        yield from _topic_faults(directory, names, logs, parsed.topic_partition.topic, topics)
    if logs:
        yield from _offset_faults(directory, logs, parsed.topic_partition)
    with suppress(CommandError, CorruptBatch):  # the check of the file says it
        yield from _transaction_faults([os.path.join(directory, name) for name in logs])


def _missing_files(directory: str, names: Sequence[str]) -> Iterator[Fault]:
    present = set(names)
    for name in sorted(names):
        stem, suffix = os.path.splitext(name)
        path = os.path.join(directory, name)
        if not is_segment_name(name):
            continue
        if suffix in (".index", ".timeindex", ".txnindex") and f"{stem}.log" not in present:
            yield path, f"there is no {stem}.log"
        elif suffix == ".log" and os.path.getsize(path):
            for index in (f"{stem}.index", f"{stem}.timeindex"):
                if index not in present:
                    yield path, f"there is no {index}"


def _topic_faults(
    directory: str, names: Sequence[str], logs: Sequence[str], topic: str, topics: Topics
) -> Iterator[Fault]:
    path = os.path.join(directory, PARTITION_METADATA)
    if PARTITION_METADATA not in names:
        if any(os.path.getsize(os.path.join(directory, name)) for name in logs):
            yield path, "is missing beside records"
        return
    try:
        topic_id = PartitionMetadata.from_bytes(bytes(map_file(path))).topic_id
    except CorruptCheckpoint:
        return  # the check of the file says it
    for one, other in ((topic, topic_id), (topic_id, topic)):
        known, where = topics.setdefault(one, (other, path))
        if known != other:
            yield path, f"does not agree with {where} on which topic has which id"
            return


def _offset_faults(
    directory: str, logs: Sequence[str], topic_partition: TopicPartition
) -> Iterator[Fault]:
    parent = os.path.dirname(os.path.abspath(directory))
    cleaned = _offsets(parent, CLEANER_OFFSET_CHECKPOINT)
    may_have_gaps = cleaned is None or topic_partition in cleaned
    end: int | None = None
    for name in logs:
        path = os.path.join(directory, name)
        base = base_offset_of(path)
        if end is not None and end != base and not may_have_gaps:
            yield path, f"the segment before it ends at offset {end}"
        try:
            end = base
            for _, header in batches(map_file(path), path):
                end = header.next_offset
        except CommandError:
            end = None  # the check of the file says it
    if end is None:
        return
    synced = (_offsets(parent, RECOVERY_POINT_CHECKPOINT) or {}).get(topic_partition, 0)
    start = (_offsets(parent, LOG_START_OFFSET_CHECKPOINT) or {}).get(topic_partition, 0)
    last = os.path.join(directory, logs[-1])
    if synced > end:
        yield last, f"ends at offset {end}, but the log was synced up to {synced}"
    elif start > end:
        yield last, f"ends at offset {end}, but {LOG_START_OFFSET_CHECKPOINT} says {start}"


def _transaction_faults(log_paths: Sequence[str]) -> Iterator[Fault]:
    """Compare the transaction indexes with the markers: aborted records missing there are served to
    read_committed.
    """
    transactions = OpenTransactions()
    next_offset = log_start = base_offset_of(log_paths[0]) if log_paths else 0
    has_gaps = False
    for log_path in log_paths:
        found: set[Aborted] = set()
        content = map_file(log_path)
        for position, header in batches(content, log_path):
            has_gaps = has_gaps or header.base_offset > next_offset
            next_offset = header.next_offset
            batch = content[position : position + header.size_bytes]
            ended = transactions.feed(header, _marker(batch, header))
            if ended is not None:
                found.add(ended)
        index_path = f"{os.path.splitext(log_path)[0]}.txnindex"
        payload = bytes(map_file(index_path)) if os.path.exists(index_path) else b""
        index = TransactionIndex(base_offset_of(log_path), payload)
        try:
            if index.check() is not None:
                continue  # the check of the file says it
            indexed = {(each.producer_id, each.first_offset, each.last_offset) for each in index}
        except CorruptTransactionIndex:
            continue
        for _, why in wrong_aborted(indexed, found, log_start=log_start, has_gaps=has_gaps):
            yield index_path, why


def _marker(batch: memoryview, header: BatchHeader) -> int:
    if not (header.is_control and header.is_transactional):
        return NO_MARKER
    return next((decode_type(record.key) for record in iter_records(batch, header)), NO_MARKER)


def _offsets(directory: str, name: str) -> dict[TopicPartition, int] | None:
    """Return the offsets; None if the file exists but cannot be read."""
    try:
        return parse_offsets(bytes(map_file(os.path.join(directory, name))), name)
    except FileNotFoundError:
        return {}
    except (CorruptCheckpoint, OSError):
        return None

"""Reading partitions for a Fetch.

    FetchPartition (asked) -> read_partition -> PartitionData of the response, records a FileSlice
    read_all_partitions: one after another, with shrinking size limits (KIP-74)

State: none: these are plain functions over the values of `fetch_request.py`.
In:  partitions, limits. Out: response entries; client errors never raise.
Invariants: the records of an answer are slices of files, whose bytes are not copied; the first
batch that is found is returned whole even when it is larger than every limit, later ones are not.
Source: `ReplicaManager.readFromLog`, `Partition.readRecords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from pykbroker.environment.files import ColdRead, LogDirFailure
from pykbroker.environment.slices import Breathe, paced_if
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    PartitionData,
)
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from pykbroker.replication.partition import READ_COMMITTED, READ_UNCOMMITTED, Partition
from pykbroker.replication.replica_manager import ReplicaManager
from pykbroker.replication.truncation import diverging_epoch

NO_RECORDS = b""
UNKNOWN_CODES = (int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.UNKNOWN_TOPIC_ID))


def error_entry(index: int, code: int) -> PartitionData:
    """Return a response entry for an error: every offset is -1 (even for OFFSET_OUT_OF_RANGE)."""
    entry = unread_entry(index, code)
    entry.aborted_transactions = None
    return entry


def unread_entry(index: int, code: int) -> PartitionData:
    """Return an `error_entry` of a partition that was not read: Kafka leaves
    the list at its default.
    """
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[],
        records=NO_RECORDS,
    )


def read_all_partitions(
    manager: ReplicaManager,
    params: FetchParams,
    wanted: list[FetchPartition],
    skip_unchanged: bool = False,
    breathe: Breathe | None = None,
) -> FetchResult:
    """Read `wanted` in order; a follower's progress is noted by the manager, not here.

    `skip_unchanged`: of a session: it has told consumers all about partitions at their end
    (KIP-227), and its answer would leave them out; those of a follower are `at_end`. ColdRead when
    look-ups of some must not wait for the disk. `breathe` is called between partitions
    (`environment/slices.py`).
    """
    result = FetchResult(wanted)
    answers = result.answers
    left_bytes = params.max_bytes
    total = 0
    min_one_batch = True
    followed_at_end = skip_unchanged and params.replica_id >= 0 and not manager.is_stale(params)
    if params.selector is not None or params.replica_id >= 0:
        skip_unchanged = False  # repeat the preferred replica; note followers
    missing: list[Callable[[], None]] = []
    for asked in paced_if(wanted, breathe):
        partition: Partition | int | None = asked.partition
        if partition is None or not partition.hosted:  # type: ignore[union-attr]
            partition = manager.resolve(asked)
        if isinstance(partition, int):
            if partition in UNKNOWN_CODES:
                result.unknown.append((asked, unread_entry(asked.index, partition)))
                continue
            entry = error_entry(asked.index, partition)
        elif skip_unchanged and is_unchanged(partition, asked):
            continue
        elif followed_at_end and is_follower_at_end(partition, params.replica_id, asked):
            result.at_end.append(asked)
            continue
        else:
            try:
                entry = read_partition(partition, params, asked, left_bytes, min_one_batch)
            except LogDirFailure as failure:
                manager.on_directory_failure(failure)
                entry = error_entry(asked.index, int(ErrorCode.KAFKA_STORAGE_ERROR))
            except ColdRead as cold:
                missing.append(cold.warm)
                continue
        answers.append((asked, entry))
        size = len(entry.records)  # type: ignore[arg-type]
        if size:
            min_one_batch = False
            total += size
            left_bytes = left_bytes - size if left_bytes > size else 0
        elif (
            entry.error_code
            or entry.diverging_epoch is not None
            or entry.preferred_read_replica >= 0
        ):
            result.must_answer = True
    if missing:
        raise ColdRead(partial(_call_all, missing))
    result.size_bytes = total
    if result.unknown:
        unknown = {id(asked) for asked, _ in paced_if(result.unknown, breathe)}
        result.read = [asked for asked in paced_if(wanted, breathe) if id(asked) not in unknown]
    return result


def _call_all(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        call()


def is_unchanged(partition: Partition, asked: FetchPartition) -> bool:
    """Is the consumer at the high watermark, and was it told so? In doubt no: then it is read."""
    high_watermark = partition.high_watermark
    leader_epoch = partition.leader_epoch
    return (
        asked.fetch_offset == high_watermark
        and asked.sent_high_watermark == high_watermark
        and asked.sent_log_start_offset == partition.log.local.log_start_offset
        and partition.is_leader
        and (asked.current_leader_epoch == leader_epoch or asked.current_leader_epoch == -1)
        and (asked.last_fetched_epoch == leader_epoch or asked.last_fetched_epoch == -1)
    )


def is_follower_at_end(partition: Partition, replica_id: int, asked: FetchPartition) -> bool:
    """Does the follower have all of the log, and would a read say so? In doubt no: it is read."""
    leader_epoch = partition.leader_epoch
    return (
        asked.fetch_offset == partition.log.local.log_end_offset
        and asked.current_leader_epoch == leader_epoch
        and asked.last_fetched_epoch in (leader_epoch, -1)
        and partition.is_leader
        and replica_id in partition.followers
    )


def add_untold(result: FetchResult) -> None:
    """Add the partitions at their end that the follower's session has to tell something of."""
    for asked in result.at_end:
        partition = asked.partition
        if partition is not None and (
            asked.sent_high_watermark != partition.high_watermark
            or asked.sent_log_start_offset != partition.log.log_start_offset
        ):
            high_watermark = partition.high_watermark
            entry = PartitionData(
                partition_index=asked.index,
                high_watermark=high_watermark,
                last_stable_offset=partition.log.last_stable_offset(high_watermark),
                log_start_offset=partition.log.log_start_offset,
                aborted_transactions=None,
                records=NO_RECORDS,
            )
            result.answers.append((asked, entry))


def read_partition(
    partition: Partition,
    params: FetchParams,
    asked: FetchPartition,
    left_bytes: int,
    min_one_batch: bool,
) -> PartitionData:
    """Return the response entry of one partition. Raises LogDirFailure, ColdRead."""
    code = partition.check_epoch(asked.current_leader_epoch, params.leader_only)
    if not code and params.replica_id >= 0:
        code = partition.check_follower(
            params.replica_id, params.replica_epoch, asked.current_leader_epoch
        )
    if code:
        return error_entry(asked.index, code)
    log = partition.log
    local = log.local
    high_watermark = partition.high_watermark
    isolation = params.isolation
    committed_only = isolation == READ_COMMITTED
    offset = asked.fetch_offset
    last_stable_offset = log.last_stable_offset(high_watermark)
    preferred = -1 if params.selector is None else params.selector.choose(partition, offset)
    entry = PartitionData(
        partition_index=asked.index,
        high_watermark=high_watermark,
        last_stable_offset=last_stable_offset,
        log_start_offset=local.log_start_offset,
        aborted_transactions=[] if committed_only and preferred < 0 else None,
        preferred_read_replica=preferred,
        records=NO_RECORDS,
    )
    if preferred >= 0:
        return entry
    try:
        last_epoch = asked.last_fetched_epoch
        if last_epoch >= 0 and not (
            last_epoch == partition.leader_epoch
            and partition.is_leader
            and offset <= local.log_end_offset
        ):
            diverging = diverging_epoch(log, last_epoch, offset)
            if diverging is not None:
                entry.diverging_epoch = EpochEndOffset(epoch=diverging[0], end_offset=diverging[1])
                entry.aborted_transactions = None
                return entry
        if offset < local.log_start_offset or offset > local.log_end_offset:
            return error_entry(asked.index, int(ErrorCode.OFFSET_OUT_OF_RANGE))
        if isolation == READ_UNCOMMITTED:
            bound = high_watermark
        elif committed_only:
            bound = last_stable_offset
        else:
            bound = local.log_end_offset
        if offset >= bound:
            return entry
        max_bytes = asked.max_bytes if asked.max_bytes < left_bytes else left_bytes
        found = log.read(offset, max_bytes, bound, min_one_batch)
        if found.slice is not None:
            entry.records = found.slice
            if committed_only:
                entry.aborted_transactions = [
                    AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
                    for producer_id, first_offset in log.aborted_in_slice(offset, found)
                ]
        elif found.is_first_batch_too_large and max_bytes:
            entry.aborted_transactions = None  # Kafka has dropped what it read
    except KafkaError as error:
        return error_entry(asked.index, error.code)
    return entry


def has_enough(
    manager: ReplicaManager,
    params: FetchParams,
    wanted: Iterable[FetchPartition],
) -> bool:
    """Return whether a read now would have something to return: `min_bytes` readable, or a change.

    As in Kafka's DelayedFetch, an offset in a segment that others follow, gone or moved partitions,
    another leader epoch, a diverging log, an offset beyond the bound (a truncated log), a failed or
    damaged one end the wait immediately.
    Raises ColdRead if a look-up must not wait for the disk.
    """
    try:
        return _finds_enough(manager, params, wanted)
    except LogDirFailure as failure:
        manager.on_directory_failure(failure)
        return True
    except KafkaError:
        return True


def _finds_enough(
    manager: ReplicaManager, params: FetchParams, wanted: Iterable[FetchPartition]
) -> bool:
    available = 0
    min_bytes = params.min_bytes
    isolation = params.isolation
    for asked in wanted:
        partition: Partition | int | None = asked.partition
        if partition is None or not partition.hosted:  # type: ignore[union-attr]
            partition = manager.resolve(asked)
        if isinstance(partition, int):
            return True
        if partition.check_epoch(asked.current_leader_epoch, params.leader_only):
            return True
        bound = partition.bound(isolation)
        offset = asked.fetch_offset
        if offset < bound:
            if min_bytes <= 1 or _is_on_older_segment(partition.log, offset, bound):
                return True
            available += min(asked.max_bytes, partition.log.bytes_between(offset, bound))
            if available >= min_bytes:
                return True
        elif offset > bound:
            return True
        last_epoch = asked.last_fetched_epoch
        if last_epoch >= 0 and diverging_epoch(partition.log, last_epoch, offset) is not None:
            return True
    return False


def _is_on_older_segment(log: PartitionLog, offset: int, end_offset: int) -> bool:
    """A read stops at the end of its segment: what is left of one is not held back for more."""
    segments = log.local.segments
    return segments.floor(offset) is not segments.floor(end_offset)

"""Reading partitions for a Fetch: what is asked, what is found, what waits for more.

    FetchPartition (asked) -> read_partition -> PartitionData of the response, records a FileSlice
    read_all_partitions: one after the other, the size limits shrinking on the way (KIP-74)

State: `FetchPartition` is one entry of a fetch, and of a fetch session from one request to the
next; everything else here is a plain function.
In:  partitions, limits. Out: response entries; never an exception for what a client did.
Invariants: record bytes are never read here; the first batch that is found is returned whole even
when it is larger than every limit, later ones are not.
Source: `ReplicaManager.readFromLog`, `Partition.readRecords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.environment.files import ColdRead, LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    PartitionData,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import LOG_END, READ_COMMITTED, READ_UNCOMMITTED, Partition

if TYPE_CHECKING:
    from pykbroker.replication.replica_manager import ReplicaManager

NO_RECORDS = b""
FUTURE_REPLICA_ID = -3
UNKNOWN_CODES = (int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.UNKNOWN_TOPIC_ID))


class FetchPartition:
    """One partition of a fetch: what the client asked, and what it was last told (sessions)."""

    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "index",
        "key",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "partition",
        "sent_high_watermark",
        "sent_log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(
        self,
        topic: str | None,
        topic_id: bytes,
        index: int,
        fetch_offset: int,
        max_bytes: int,
        current_leader_epoch: int = -1,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
    ) -> None:
        self.key: tuple[str | bytes, int] = (
            topic or "" if topic_id == ZERO_UUID else topic_id,
            index,
        )
        self.topic = topic  # None: the id was never resolved
        self.topic_id = topic_id  # ZERO_UUID: asked by name
        self.index = index
        self.fetch_offset = fetch_offset
        self.max_bytes = max_bytes
        self.current_leader_epoch = current_leader_epoch
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition: Partition | None = None  # found last time; valid while it is hosted
        self.sent_high_watermark = -1
        self.sent_log_start_offset = -1


class FetchParams:
    """What a fetch asks of all its partitions. Units: milliseconds, bytes."""

    __slots__ = (
        "isolation",
        "leader_only",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "replica_epoch",
        "replica_id",
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 0x7FFFFFFF,
        isolation: int = READ_UNCOMMITTED,
        leader_only: bool = False,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.max_wait_ms = max_wait_ms
        self.max_bytes = max_bytes
        self.min_bytes = min(min_bytes, max_bytes)
        # Consumers choose between two isolations; followers, and the future replica of a move
        # between directories, read to the log end.
        if replica_id >= 0 or replica_id == FUTURE_REPLICA_ID:
            self.isolation = LOG_END
        elif isolation in (READ_UNCOMMITTED, READ_COMMITTED):
            self.isolation = isolation
        else:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        self.leader_only = leader_only or replica_id >= 0


class FetchResult:
    """What a read found: `answers`, in the order asked.

    `read` are the partitions that there are, also those left out as unchanged. `unknown` has the
    partitions that no topic of the cluster has: they are answered last, and do not end the wait for
    the others (a client of a deleted topic must not spin).
    """

    __slots__ = ("answers", "must_answer", "read", "size_bytes", "unchanged", "unknown")

    def __init__(self, wanted: list[FetchPartition]) -> None:
        self.read = wanted
        self.answers: list[tuple[FetchPartition, PartitionData]] = []
        self.unchanged: list[FetchPartition] = []  # left out of a follower's answer
        self.unknown: list[tuple[FetchPartition, PartitionData]] = []
        self.size_bytes = 0
        self.must_answer = False  # an error or a diverging epoch: waiting would not help


def error_entry(index: int, code: int) -> PartitionData:
    """A response entry of an error: every offset is -1 (also for OFFSET_OUT_OF_RANGE)."""
    entry = unread_entry(index, code)
    entry.aborted_transactions = None
    return entry


def unread_entry(index: int, code: int) -> PartitionData:
    """An `error_entry` of a partition that was not read: Kafka leaves the list at its default."""
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
) -> FetchResult:
    """Read `wanted` in order; a follower's progress is noted by the manager, not here.

    `skip_unchanged`: the session has told all about partitions at their end (KIP-227), and its
    answer would leave them out. ColdRead when look-ups of some must not wait for the disk.
    """
    result = FetchResult(wanted)
    answers = result.answers
    left_bytes = params.max_bytes
    total = 0
    min_one_batch = True
    is_follower = params.replica_id >= 0
    missing: list[Callable[[], None]] = []
    for asked in wanted:
        partition: Partition | int | None = asked.partition
        if partition is None or not partition.hosted:  # type: ignore[union-attr]
            partition = manager.resolve(asked)
        if isinstance(partition, int):
            if partition in UNKNOWN_CODES:
                result.unknown.append((asked, unread_entry(asked.index, partition)))
                continue
            entry = error_entry(asked.index, partition)
        elif skip_unchanged and not is_follower and is_unchanged(partition, asked):
            continue
        elif skip_unchanged and is_follower and is_unchanged_for_follower(partition, params, asked):
            result.unchanged.append(asked)
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
        elif entry.error_code or entry.diverging_epoch is not None:
            result.must_answer = True
    if missing:
        raise ColdRead(partial(_call_all, missing))
    result.size_bytes = total
    if result.unknown:
        unknown = {id(asked) for asked, _ in result.unknown}
        result.read = [asked for asked in wanted if id(asked) not in unknown]
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
        and asked.sent_log_start_offset == partition.log.log_start_offset
        and partition.is_leader
        and (asked.current_leader_epoch == leader_epoch or asked.current_leader_epoch == -1)
        and (asked.last_fetched_epoch == leader_epoch or asked.last_fetched_epoch == -1)
    )


def is_unchanged_for_follower(
    partition: Partition, params: FetchParams, asked: FetchPartition
) -> bool:
    """Is the follower at the log end, and was it told all else? In doubt no: then it is read."""
    leader_epoch = partition.leader_epoch
    return (
        asked.fetch_offset == partition.log.log_end_offset
        and asked.sent_high_watermark == partition.high_watermark
        and asked.sent_log_start_offset == partition.log.log_start_offset
        and partition.is_leader
        and asked.current_leader_epoch == leader_epoch
        and asked.last_fetched_epoch in (leader_epoch, -1)
        and not partition.check_follower(params.replica_id, params.replica_epoch, leader_epoch)
    )


def followed(result: FetchResult) -> Iterator[FetchPartition]:
    """The partitions of a follower's fetch that were read without an error or a divergence.

    Only these say how far the follower's log goes.
    """
    yield from result.unchanged
    for asked, entry in result.answers:
        if not entry.error_code and entry.diverging_epoch is None:
            yield asked


def read_partition(
    partition: Partition,
    params: FetchParams,
    asked: FetchPartition,
    left_bytes: int,
    min_one_batch: bool,
) -> PartitionData:
    """The response entry of one partition."""
    code = partition.check_epoch(asked.current_leader_epoch, params.leader_only)
    if not code and params.replica_id >= 0:
        code = partition.check_follower(
            params.replica_id, params.replica_epoch, asked.current_leader_epoch
        )
    if code:
        return error_entry(asked.index, code)
    log = partition.log
    high_watermark = partition.high_watermark
    isolation = params.isolation
    committed_only = isolation == READ_COMMITTED
    offset = asked.fetch_offset
    last_stable_offset = log.last_stable_offset(high_watermark)
    entry = PartitionData(
        partition_index=asked.index,
        high_watermark=high_watermark,
        last_stable_offset=last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=[] if committed_only else None,
        records=NO_RECORDS,
    )
    try:
        if asked.last_fetched_epoch >= 0:
            diverging = partition.diverging_epoch(asked.last_fetched_epoch, offset)
            if diverging is not None:
                entry.diverging_epoch = EpochEndOffset(epoch=diverging[0], end_offset=diverging[1])
                entry.aborted_transactions = None
                return entry
        if offset < log.log_start_offset or offset > log.log_end_offset:
            return error_entry(asked.index, int(ErrorCode.OFFSET_OUT_OF_RANGE))
        if isolation == READ_UNCOMMITTED:
            bound = high_watermark
        elif committed_only:
            bound = last_stable_offset
        else:
            bound = log.log_end_offset
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
    """Would a read now have something to say: `min_bytes` readable, or something changed?

    Cases as in Kafka's DelayedFetch: gone or moved partitions, a fenced epoch, a diverging log, an
    offset beyond the bound (a truncated log) end the wait at once.
    """
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
            if min_bytes <= 1:
                return True
            available += min(asked.max_bytes, partition.log.bytes_between(offset, bound))
            if available >= min_bytes:
                return True
        elif offset > bound:
            return True
        if asked.last_fetched_epoch >= 0:
            try:
                if partition.diverging_epoch(asked.last_fetched_epoch, offset) is not None:
                    return True
            except KafkaError:
                return True
    return False

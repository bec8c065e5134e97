"""The parameters and results of a fetch: the values that readers and waiters share.

`FetchPartition` is one entry of a fetch, and of a fetch session from one request to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.partition import LOG_END, READ_COMMITTED, READ_UNCOMMITTED, Partition

if TYPE_CHECKING:  # imported by the first fetch
    from pykbroker.protocol.messages.fetch_response import PartitionData
    from pykbroker.replication.read_replica import RackAwareSelector

FUTURE_REPLICA_ID = -3


class FetchPartition:
    """One partition of a fetch: the client's parameters, and what was last reported (sessions)."""

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
    """The parameters of a fetch for all its partitions. Units: milliseconds, bytes."""

    __slots__ = (
        "isolation",
        "leader_only",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "replica_epoch",
        "replica_id",
        "selector",
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
        selector: RackAwareSelector | None = None,
    ) -> None:
        """selector: of consumers that may be sent to a follower. Raises KafkaError for an unknown
        isolation of a consumer.
        """
        self.selector = selector
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
    """The result of a read: `answers`, in the order of reading.

    `read` are the existing partitions, including those omitted as unchanged. `unknown` has the
    partitions of which the metadata here knows nothing: they are answered last, and do not end the
    wait for the others (a client of a deleted topic must not spin). `at_end` are those of which the
    follower of a session has everything; what it was not told of them is added to its answer.
    """

    __slots__ = ("answers", "at_end", "must_answer", "read", "size_bytes", "unknown")

    def __init__(self, wanted: list[FetchPartition]) -> None:
        self.read = wanted
        self.answers: list[tuple[FetchPartition, PartitionData]] = []
        self.at_end: list[FetchPartition] = []
        self.unknown: list[tuple[FetchPartition, PartitionData]] = []
        self.size_bytes = 0
        self.must_answer = False  # an error, a diverging epoch, another replica: do not wait

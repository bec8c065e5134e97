"""An append whose reply waits: for the round's write, then (acks=all) for the high watermark.

The replies are built when the batches are queued, with their assigned offsets; they are not sent
before the wait is over.

    queued --end of round: written-> acks 0, 1: answered
                                     acks -1:   every partition past its required offset, or
                                                failed? answered
                                                else in the purgatory until it is, or the timeout
    queued --end of round: write failed-> that partition an error, the others continue

State: the partitions that are not yet acknowledged, with the offset each has to reach.
Source: Kafka's `DelayedProduce`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.purgatory import DelayedOperation, WatchKey
from pykbroker.replication.partition import Partition


class PendingAppend:
    """One append of a waiting operation."""

    __slots__ = ("partition", "reply", "required_offset")

    def __init__(self, partition: Partition, required_offset: int, reply: Any) -> None:
        self.partition = partition
        self.required_offset = required_offset
        self.reply = reply


class DelayedAcknowledgement(DelayedOperation):
    """What waits until partitions have acknowledged what was appended to them."""

    __slots__ = ("deadline_ms",)

    KIND = "Produce"

    def __init__(self, deadline_ms: int | None) -> None:
        super().__init__()
        self.deadline_ms = deadline_ms

    @abstractmethod
    def keys(self) -> Iterable[WatchKey]:
        """Return the `produce_key` of each partition that has not acknowledged it yet, once."""


class DelayedProduce(DelayedAcknowledgement):
    """All appends of one request and the reply to them."""

    __slots__ = ("acks_all", "deferred", "pending", "reply")

    def __init__(self, acks_all: bool, deadline_ms: int | None, deferred: Deferred) -> None:
        super().__init__(deadline_ms)
        self.acks_all = acks_all
        self.deferred = deferred
        self.pending: list[PendingAppend] = []
        self.reply: Any = None

    def add(self, partition: Partition, required_offset: int, reply: Any) -> None:
        """Wait for `partition` to be acknowledged up to `required_offset` (exclusive)."""
        self.pending.append(PendingAppend(partition, required_offset, reply))

    def keys(self) -> Iterable[WatchKey]:
        return {append.partition.produce_key: None for append in self.pending}

    @abstractmethod
    def fail_part(self, reply: Any, code: int) -> None:
        """Turn the reply of one append into an error; each kind of reply has its own fields."""

    def finished(self) -> Any:
        """Return the value for `deferred`, when the wait is over."""
        return self.reply

    def on_turn_written(self, failed: Container[Partition]) -> DelayedProduce | None:
        """Handle the end of the round's writes, of which `failed` failed; return self if not
        answered yet.
        """
        if failed:
            still = []
            for append in self.pending:
                if append.partition in failed:
                    code = append.partition.offline_code
                    self.fail_part(append.reply, code or int(ErrorCode.KAFKA_STORAGE_ERROR))
                else:
                    still.append(append)
            self.pending = still
        if self.acks_all:
            return None if self.try_complete() else self
        self.deferred.resolve(self.finished())
        return None

    def try_complete(self) -> bool:
        still = []
        for append in self.pending:
            code = append.partition.acknowledged(append.required_offset)
            if code is None:
                still.append(append)
            elif code:
                self.fail_part(append.reply, code)
        self.pending = still
        if still:
            return False
        self.deferred.resolve(self.finished())
        return True

    def expire(self) -> None:
        for append in self.pending:
            self.fail_part(append.reply, int(ErrorCode.REQUEST_TIMED_OUT))
        self.deferred.resolve(self.finished())

"""A coordinator's log in memory and an event loop in virtual time: the world of these tests.

`MemoryLog` holds the partitions of one topic. By default a batch is committed as soon as
`end_turn()` is called; a test can hold commits back, refuse the next append, or lose
what is queued.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import partial
from typing import Any

from pykbroker.coordinator.coordinator_log import Appended, LogBounds
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.producers.verification import VerificationGuard
from pykbroker.protocol.record_batch import assign_offset, iter_records, read_header
from pykbroker.types import TopicPartition

TOPIC = "__consumer_offsets"


class MemoryPartition:
    """One partition: whole batches, and what of them is written and committed."""

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.end = 0
        self.written = 0
        self.high_watermark = 0
        self.listeners: list[Any] = []


class MemoryLog:
    """Implements `CoordinatorLog`; see the module's text."""

    topic = "__consumer_offsets"

    def __init__(self) -> None:
        self.partitions: dict[int, MemoryPartition] = {}
        self.hold_commits = False
        self.refuse_with = 0
        self.on_append: Callable[[int, bytes], None] = lambda partition, batch: None
        self.wakes = 0
        self.appended_with: tuple[VerificationGuard | None, int] = (None, 0)

    def host(self, partition: int) -> MemoryPartition:
        return self.partitions.setdefault(partition, MemoryPartition())

    def append(
        self,
        partition: int,
        batch: bytearray,
        leader_epoch: int,
        now_ms: int,
        guard: VerificationGuard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        self.appended_with = (guard, transaction_version)
        if self.refuse_with:
            code, self.refuse_with = self.refuse_with, 0
            return Appended(-1, -1, code)
        hosted = self.partitions[partition]
        base_offset = hosted.end
        assign_offset(batch, base_offset, leader_epoch)
        hosted.batches.append(bytes(batch))
        hosted.end = read_header(batch).next_offset
        self.on_append(partition, bytes(batch))
        return Appended(base_offset, hosted.end)

    def bounds(self, partition: int) -> LogBounds:
        hosted = self.partitions.get(partition)
        if hosted is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return LogBounds(0, hosted.end, hosted.high_watermark, hosted.written)

    def read(self, partition: int, offset: int, max_bytes: int) -> bytes:
        chunk = b""
        for batch in self.partitions[partition].batches:
            header = read_header(batch)
            if header.next_offset <= offset:
                continue
            if header.next_offset > self.partitions[partition].written:
                break
            if chunk and len(chunk) + len(batch) > max_bytes:
                return (chunk + batch)[: max(max_bytes, len(chunk))]  # cut off, as Kafka's log
            chunk += batch
        return chunk

    def watch(self, partition: int, listener: Any) -> None:
        self.host(partition).listeners.append(listener)

    def unwatch(self, partition: int, listener: Any) -> None:
        self.host(partition).listeners.remove(listener)

    def wake(self) -> None:
        self.wakes += 1

    def end_turn(self) -> None:
        """Write what is queued; commit it unless commits are held."""
        for hosted in self.partitions.values():
            hosted.written = hosted.end
        if not self.hold_commits:
            self.commit()

    def commit(self) -> None:
        """Move every high watermark to the end of what is written."""
        for index, hosted in self.partitions.items():
            if hosted.high_watermark < hosted.written:
                hosted.high_watermark = hosted.written
                for listener in list(hosted.listeners):
                    listener.on_high_watermark(TopicPartition(TOPIC, index), hosted.written)

    def lose_queued(self, code: int) -> None:
        """The write at the turn's end fails: queued batches are gone."""
        for index, hosted in self.partitions.items():
            if hosted.end == hosted.written:
                continue
            hosted.batches = [
                batch
                for batch in hosted.batches
                if read_header(batch).next_offset <= hosted.written
            ]
            hosted.end = hosted.written
            for listener in list(hosted.listeners):
                listener.on_failed(TopicPartition(TOPIC, index), code)

    def records(self, partition: int) -> list[tuple[int, bytes | None, bytes | None]]:
        """(offset, key, value) of everything in the partition."""
        return [
            (record.offset, record.key, record.value)
            for batch in self.partitions[partition].batches
            for record in iter_records(batch)
        ]


class _Call:
    def __init__(self, at_ms: float, number: int, callback: Callable[[], object]) -> None:
        self.at_ms = at_ms
        self.number = number
        self.callback = callback
        self.cancelled = False

    def __lt__(self, other: _Call) -> bool:
        return (self.at_ms, self.number) < (other.at_ms, other.number)

    def cancel(self) -> None:
        self.cancelled = True


class VirtualLoop:
    """The scheduler and the clock of an environment, in a time that only `advance` moves."""

    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.time_ms = now_ms
        self._calls: list[_Call] = []
        self._number = 0

    def now_ms(self) -> int:
        return self.time_ms

    def wall_ms(self) -> int:
        return self.time_ms

    def monotonic_ns(self) -> int:
        return self.time_ms * 1_000_000

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> _Call:
        return self.call_later(0, callback, *arguments)

    def sleep(self, delay_ms: float) -> Deferred:
        deferred = Deferred()
        self.call_later(delay_ms, deferred.resolve, None)
        return deferred

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> _Call:
        self._number += 1
        due_ms = self.time_ms + max(delay_ms, 0)
        call = _Call(due_ms, self._number, partial(callback, *arguments))
        heapq.heappush(self._calls, call)
        return call

    def advance(self, by_ms: int, after_each: Callable[[], None] = lambda: None) -> None:
        """Let time pass; everything due runs at its own time."""
        until = self.time_ms + by_ms
        while self._calls and self._calls[0].at_ms <= until:
            call = heapq.heappop(self._calls)
            if call.cancelled:
                continue
            self.time_ms = max(self.time_ms, round(call.at_ms))
            call.callback()
            after_each()
        self.time_ms = until

"""Sends records through kafka-python, counts the results, and limits what is in flight."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from pykbroker.cli.client_library import NO_VALUE, error_text
from pykbroker.cli.command import CommandError
from pykbroker.values import NamedTuple

_MOST_WAITING_BYTES: Final = 32 * 1024 * 1024
_RECORD_BYTES: Final = 100  # the size of a record in addition to its key and value
_MOST_REPORTS: Final = 10

Headers = list[tuple[str, bytes]]


class OutgoingRecord(NamedTuple):
    """A record to send; if partition or timestamp is None, the client chooses it."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = []
    partition: int | None = None
    timestamp_ms: int | None = None


class RecordSender:
    """`acknowledged` and `failed` count records; the first failures are reported one by one.

    `synchronous`: each record is acknowledged, or has failed, before the next one is sent.
    """

    def __init__(
        self, producer: Any, *, synchronous: bool = False, most_bytes: int = _MOST_WAITING_BYTES
    ) -> None:
        self._producer = producer
        self._synchronous = synchronous
        self._most_bytes = most_bytes
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self.acknowledged = 0
        self.failed = 0
        self.partitions: set[int] = set()

    def send(self, record: OutgoingRecord, then: Callable[[], None] | None = None) -> None:
        """Pass a record to the client; waits while too much is unacknowledged.

        `then` is called once the record is acknowledged, in another thread.
        """
        from kafka.errors import KafkaError

        size = _RECORD_BYTES + len(record.key or b"") + len(record.value or b"")
        with self._changed:
            # A single record may have any size.
            while self._waiting_bytes and self._waiting_bytes + size > self._most_bytes:
                self._changed.wait(1)
            self._waiting_bytes += size
        try:
            future = self._producer.send(
                record.topic,
                value=NO_VALUE if record.value is None else record.value,
                key=record.key,
                headers=record.headers,
                partition=record.partition,
                timestamp_ms=record.timestamp_ms,
            )
        except (KafkaError, ValueError, AssertionError) as error:
            self._fail(error, size)
            return
        future.add_callback(lambda metadata: self._succeed(metadata.partition, size, then))
        future.add_errback(lambda error: self._fail(error, size))
        if self._synchronous:
            self._producer.flush()

    def close(self) -> None:
        """Wait until every record is acknowledged or has failed, and close the client."""
        self._producer.close()

    def check(self) -> None:
        """Raise CommandError if a record failed."""
        if self.failed:
            raise CommandError(f"{self.failed} of {self.failed + self.acknowledged} records failed")

    def _succeed(self, partition: int, size: int, then: Callable[[], None] | None) -> None:
        if then is not None:
            then()
        with self._changed:
            self.acknowledged += 1
            self.partitions.add(partition)
            self._waiting_bytes -= size
            self._changed.notify()

    def _fail(self, error: BaseException, size: int) -> None:
        with self._changed:
            self.failed += 1
            self._waiting_bytes -= size
            self._changed.notify()
            if self.failed <= _MOST_REPORTS:
                print(f"A record was not sent: {error_text(error)}", file=sys.stderr)

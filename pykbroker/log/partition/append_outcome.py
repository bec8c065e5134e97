"""The origin and the outcome of an append."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from pykbroker.log.validation.validation_rules import CLIENT, COORDINATOR, REPLICATION


class AppendOrigin(IntEnum):
    """The origin of an append, which determines the checks."""

    CLIENT = CLIENT
    COORDINATOR = COORDINATOR
    REPLICATION = REPLICATION


class AppendOutcome:
    """The outcome of one append; `error` is a Kafka error code, 0 if queued, a duplicate, or if a
    follower got nothing to append.
    """

    __slots__ = (
        "base_offset",
        "duplicate",
        "error",
        "error_message",
        "last_offset",
        "log_append_time_ms",
        "queued",
        "record_errors",
    )

    def __init__(
        self,
        base_offset: int = -1,
        last_offset: int = -1,
        log_append_time_ms: int = -1,
        error: int = 0,
        error_message: str | None = None,
        record_errors: Sequence[tuple[int, str | None]] | None = None,
        duplicate: bool = False,
        queued: bool = False,
    ) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.log_append_time_ms = log_append_time_ms
        self.error = error
        self.error_message = error_message
        self.record_errors = record_errors if record_errors is not None else ()
        self.duplicate = duplicate
        self.queued = queued

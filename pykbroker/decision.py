"""What a decide/replay machine answers: the records to write, the replies, the timers.

A machine's `decide` methods read its state and return a `Decision`; they never change the state
that must survive. The driver appends the records to the machine's log, hands each to `replay` (the
only mutator, the same for live writes and for recovery), and releases the replies once the records
are committed.

    request -> decide -> Decision -> log append -> replay -> (commit) -> replies

Machines know callers by opaque ids and hold no future: `replies` names the caller of each reply.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Record = TypeVar("Record")


@dataclass(slots=True, frozen=True)
class MetadataRecord:
    """A record of `__cluster_metadata`: a generated message and the version to write it in."""

    message: Any
    version: int = 0


@dataclass(slots=True, frozen=True)
class CoordinatorRecord:
    """A record of a coordinator's log: generated key and value messages; no value: tombstone."""

    key: Any
    value: Any | None
    value_version: int = 0


@dataclass(slots=True, frozen=True)
class StartTimer:
    """Tell the machine `key` at `deadline_ms`; replaces a timer of the same key."""

    key: Hashable
    deadline_ms: int


@dataclass(slots=True, frozen=True)
class CancelTimer:
    """Forget the timer `key`; nothing happens when there is none."""

    key: Hashable


@dataclass(slots=True)
class Decision(Generic[Record]):
    """The outcome of one decide step.

    reply: what the request's own caller gets once `records` are committed; None while it waits
        (the machine remembers the caller's id and names it in the `replies` of a later decision).
    replies: (caller id, reply) of others that this step answers, also after the commit.
    timers: what to start and cancel, at once.
    atomic: all records in one batch (a metadata transaction or one coordinator batch).
    """

    records: list[Record] = field(default_factory=list)
    reply: Any = None
    replies: list[tuple[Hashable, Any]] = field(default_factory=list)
    timers: list[StartTimer | CancelTimer] = field(default_factory=list)
    atomic: bool = True

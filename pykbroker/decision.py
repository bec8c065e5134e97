"""The result of a decide/replay machine: records to write, replies and timers.

A machine's `decide` methods read its state and return a `Decision`; they never change the state
that must survive. The driver appends the records to the machine's log, hands each to `replay` (the
only mutator, the same for live writes and for recovery), and releases the replies once the records
are committed. (The controller's driver replays first: a quorum of one commits what it appends.)

    request -> decide -> Decision -> log append -> replay -> (commit) -> replies

Machines identify callers by opaque ids and hold no futures: `replies` names the caller of each
reply.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pykbroker.values import NamedTuple, value

Record = TypeVar("Record")


@value
class MetadataRecord:
    """A record of `__cluster_metadata`: a generated message and the version to write it in."""

    message: Any
    version: int = 0


class CoordinatorRecord(NamedTuple):
    """A record of a coordinator's log: the key and the value that its codec takes (generated
    messages, unless the codec says otherwise). Without a value it is a tombstone.
    """

    key: Any
    value: Any | None
    value_version: int = 0


@value
class StartTimer:
    """Call the machine with `key` at `deadline_ms`; replaces a timer with the same key."""

    key: Hashable
    deadline_ms: int


@value
class CancelTimer:
    """Cancel the timer `key`; does nothing if there is none."""

    key: Hashable


@dataclass(slots=True)
class Decision(Generic[Record]):
    """The outcome of one decide step.

    reply: the response to the request's own caller once `records` are committed; None if there is
        no caller or it has to wait (the machine remembers its id and names it in the `replies` of
        a later decision).
    replies: (caller id, reply) of other callers that this step answers, also after the commit.
    timers: the timers to start and cancel, immediately.
    atomic: write all records in one batch; without it the driver may cut very many into several
        batches, and a new leader may find only the first ones.
    """

    records: list[Record] = field(default_factory=list)
    reply: Any = None
    replies: list[tuple[Hashable, Any]] = field(default_factory=list)
    timers: list[StartTimer | CancelTimer] = field(default_factory=list)
    atomic: bool = True

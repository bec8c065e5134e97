"""One partition of a coordinator's topic on this node: its machine and waiting callers.

    LOADING ---all records replayed---> ACTIVE ---a step failed---> LOADING
       '------the log cannot be read--> FAILED (NOT_COORDINATOR until the next election)
    ACTIVE ---a long operation begins--> BUSY ---it and later requests are done--> ACTIVE

An empty partition is ACTIVE at once. A BUSY machine whose step fails is loaded again as well; a
partition whose log directory fails is FAILED.

State: the machine; `waiting`: callers the machine has parked, by id; `parked`: replies that wait
    until their offset is committed, in the order of the offsets; the running timers; `later`: what
    is done once the machine is loaded, or not busy any more; `is_operating`: an operation that may
    breathe has begun.
Invariant: `parked` is not empty only while `committed < next_offset`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from typing import Any, Protocol

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.decision import CoordinatorRecord
from pykbroker.deferred import Deferred
from pykbroker.offset_queue import OffsetQueue
from pykbroker.timing_wheel import TimerTask
from pykbroker.values import NamedTuple

Refuse = Callable[[Any, Any, int], Any]


class Shard(Protocol):
    """A coordinator's machine for one partition of its topic."""

    def replay(self, record: CoordinatorRecord, offset: int, producer_id: int = -1) -> None:
        """Replay one record of the log."""

    def replay_end_of_transaction(self, producer_id: int, committed: bool) -> None:
        """Replay a transaction's end marker."""

    def loaded(self, now_ms: int) -> ShardDecision:
        """Handle the end of loading; requests follow."""

    def timer_expired(self, key: Hashable, now_ms: int) -> ShardDecision:
        """Handle a timer that a decision started."""


class HostState(Enum):
    """The states of a hosted partition."""

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"
    BUSY = "busy"


class Later(NamedTuple):
    """Work to do later, in a job if it has a `long_name`. `refuse(code)` tells its caller that it
    will not be done; None: there is no caller, and the work is kept for the next machine.
    """

    run: Callable[[], None]
    refuse: Callable[[int], None] | None = None
    long_name: str = ""


class Waiting:
    """A waiting caller: its Deferred, and the function that rejects its request."""

    __slots__ = ("context", "deferred", "refuse", "request")

    def __init__(self, deferred: Deferred, request: Any, context: Any, refuse: Refuse) -> None:
        self.deferred = deferred
        self.request = request
        self.context = context
        self.refuse = refuse

    def fail(self, code: int) -> None:
        """Answer with an error."""
        self.deferred.resolve(self.refuse(self.request, self.context, code))


class HostedShard:
    """One partition of a coordinator's topic on this node.

    `shard` is None until loading begins (in an empty partition: until its first request), and once
    it is discarded.
    """

    __slots__ = (
        "commit_timer",
        "committed",
        "is_operating",
        "later",
        "leader_epoch",
        "loader",
        "next_offset",
        "parked",
        "partition",
        "shard",
        "state",
        "timers",
        "waiting",
    )

    def __init__(self, partition: int, leader_epoch: int) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.state = HostState.LOADING
        self.shard: Any = None
        self.loader: Iterator[bool] | None = None
        self.waiting: dict[int, Waiting] = {}
        self.parked: OffsetQueue[tuple[Waiting, Any]] = OffsetQueue()
        self.timers: dict[Hashable, TimerTask[Any]] = {}
        self.commit_timer: TimerTask[Any] | None = None
        self.next_offset = 0
        self.committed = 0
        self.later: deque[Later] = deque()
        self.is_operating = False

    @property
    def is_ready(self) -> bool:
        """Whether the partition is loaded; an empty one may have no machine yet."""
        return self.state in (HostState.ACTIVE, HostState.BUSY)

    def refuse_later(self, code: int) -> None:
        """Reject the callers whose operations have not begun."""
        later, self.later = self.later, deque()
        for each in later:
            if each.refuse is None:
                self.later.append(each)
            else:
                each.refuse(code)

    def clear(self) -> list[Waiting]:
        """Discard the machine and all timers; return the callers of `parked` and `waiting`."""
        for task in self.timers.values():
            task.cancel()
        self.timers.clear()
        if self.commit_timer is not None:
            self.commit_timer.cancel()
            self.commit_timer = None
        everybody = [waiting for waiting, _ in self.parked.clear()]
        everybody.extend(self.waiting.values())
        self.waiting.clear()
        self.shard = None
        self.loader = None
        self.is_operating = False
        return everybody

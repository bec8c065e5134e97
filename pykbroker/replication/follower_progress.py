"""The progress of one follower of a partition, as its leader knows it from the follower's fetches.

A follower that is in sync, asks in a fetch session and has everything is *idle*: each fetch of the
session would say the same of it again. So the session notes only the time of its fetches, and the
follower was caught up at the last of them. When something changes, the progress settles: that time
is copied here.

State: the follower's log end, log start, when it last had everything; the session it asks in.
Invariants: `caught_up_ms` never goes back within a leader epoch.
Source: Kafka's `Replica.java`, `ReplicaState.java`.
"""

from __future__ import annotations

from typing import Any, Protocol

from pykbroker.replication.brokers import NO_FETCH_YET

UNKNOWN_OFFSET = -1


class AskingSession(Protocol):
    """The fetch session in which a follower asks for a partition."""

    last_fetch_ms: int

    def touch(self, asked: Any) -> None:
        """Its next answer must look at `asked`, its entry for the partition."""

    def wake(self, asked: Any) -> None:
        """The same, and a fetch that waits may have an answer now."""


class FollowerProgress:
    """The progress of one follower of a partition that this node leads."""

    __slots__ = (
        "asked",
        "broker_epoch",
        "is_idle",
        "last_caught_up_ms",
        "last_fetch_leader_end_offset",
        "last_fetch_ms",
        "log_end_offset",
        "log_start_offset",
        "replica_id",
        "session",
    )

    def __init__(self, replica_id: int) -> None:
        self.replica_id = replica_id
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.last_caught_up_ms = 0  # both as of the last fetch that was noted here
        self.last_fetch_ms = 0
        self.last_fetch_leader_end_offset = 0
        self.broker_epoch = NO_FETCH_YET
        self.session: AskingSession | None = None
        self.asked: Any = None
        self.is_idle = False

    def reset(
        self, now_ms: int, leader_end_offset: int, *, is_new_leader: bool, is_in_isr: bool
    ) -> None:
        """Start a leader epoch: a member of the ISR counts as caught up.

        A node that was already the leader keeps the known offsets of the follower.
        """
        self.settle()
        self.last_caught_up_ms = now_ms if is_in_isr else 0
        if is_new_leader:
            self.log_end_offset = UNKNOWN_OFFSET
            self.log_start_offset = UNKNOWN_OFFSET
            self.last_fetch_ms = 0
            self.last_fetch_leader_end_offset = UNKNOWN_OFFSET
            self.broker_epoch = NO_FETCH_YET
        else:
            self.last_fetch_ms = now_ms if is_in_isr else 0
            self.last_fetch_leader_end_offset = leader_end_offset

    def on_fetch(
        self,
        fetch_offset: int,
        log_start_offset: int,
        leader_end_offset: int,
        broker_epoch: int,
        now_ms: int,
    ) -> None:
        """Record that the follower asked for `fetch_offset`: it has everything before it.

        It is caught up as of now if it requests the leader's end; as of its previous fetch if it
        requests what was the leader's end then (it has read everything up to that time).
        """
        if self.is_idle:
            self.changed()  # it fetches in another way, too
        if fetch_offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif fetch_offset >= self.last_fetch_leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_end_offset = fetch_offset
        self.log_start_offset = log_start_offset
        self.last_fetch_leader_end_offset = max(
            self.last_fetch_leader_end_offset, leader_end_offset
        )
        self.last_fetch_ms = now_ms
        self.broker_epoch = broker_epoch

    @property
    def caught_up_ms(self) -> int:
        """When it last had everything, the fetches of an idle session included."""
        if self.is_idle and self.session is not None:
            return max(self.last_caught_up_ms, self.session.last_fetch_ms)
        return self.last_caught_up_ms

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_max_ms: int) -> bool:
        """Return whether it is at the leader's end, as far as known, or was there within the last
        `lag_max_ms` (replica.lag.time.max.ms).
        """
        return self.log_end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_max_ms

    # ---- the session

    def join(self, session: AskingSession, asked: Any) -> None:
        """The follower asks in `session` from now on; an older one has to look again."""
        if self.session is not session or self.asked is not asked:
            self.leave()
            self.session = session
            self.asked = asked

    def leave(self) -> None:
        """No session asks for it any more."""
        self.changed()
        self.session = None
        self.asked = None

    def rest(self) -> None:
        """It has everything and knows all: the session's fetches stand for it until `settle`."""
        self.is_idle = True

    def settle(self) -> None:
        """Take over what the session's fetches said while this was idle."""
        session = self.session
        if self.is_idle and session is not None:
            self.is_idle = False
            self.last_caught_up_ms = max(self.last_caught_up_ms, session.last_fetch_ms)

    def changed(self) -> None:
        """Have the session, if there is one, look at the partition for its next answer."""
        if self.session is not None:
            self.settle()
            self.session.touch(self.asked)

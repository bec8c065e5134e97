"""How far one follower of a partition has come, as its leader knows from the follower's fetches.

State: the follower's log end, log start, and when it last had everything.
In:  `on_fetch`, `reset`.
Invariants: `last_caught_up_ms` never goes back within a leader epoch.
Source: Kafka's `Replica.java`, `ReplicaState.java`.
"""

from __future__ import annotations

from pykbroker.replication.brokers import NO_FETCH_YET

UNKNOWN_OFFSET = -1


class FollowerProgress:
    """One follower of a partition that this node leads."""

    __slots__ = (
        "broker_epoch",
        "last_caught_up_ms",
        "last_fetch_leader_end_offset",
        "last_fetch_ms",
        "log_end_offset",
        "log_start_offset",
        "replica_id",
    )

    def __init__(self, replica_id: int) -> None:
        self.replica_id = replica_id
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.last_caught_up_ms = 0
        self.last_fetch_ms = 0
        self.last_fetch_leader_end_offset = 0
        self.broker_epoch = NO_FETCH_YET

    def reset(
        self, now_ms: int, leader_end_offset: int, *, is_new_leader: bool, is_in_isr: bool
    ) -> None:
        """Start a leader epoch: a member of the ISR counts as caught up.

        A node that led the epoch before keeps the offsets that it knows of the follower.
        """
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

        It is caught up as of now when it asks for the leader's end; as of its previous fetch when
        it asks for what was the leader's end then (it read all there was, and more came since).
        """
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

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_max_ms: int) -> bool:
        """At the leader's end, or there at some time within `replica.lag.time.max.ms`."""
        return (
            self.log_end_offset == leader_end_offset
            or now_ms - self.last_caught_up_ms <= lag_max_ms
        )

"""One member of a classic group: the data of its JoinGroup, and its parked requests."""

from __future__ import annotations

from collections.abc import Collection, Hashable

EMPTY_ASSIGNMENT = b""
NO_TIMER = 1 << 62


class ClassicMember:
    """A member, dynamic or static (`group_instance_id`).

    protocols: (name, metadata) in the member's order of preference.
    assignment: bytes of the last completed rebalance; kept while the next one is prepared, but lost
        if that is interrupted while members wait for theirs.
    awaiting_join, awaiting_sync: the caller id of the parked JoinGroup or SyncGroup, or None.
    join_version: the version of the last parked JoinGroup (error replies differ by version).
    session_deadline_ms: when the session expires, unless it is extended.
    timer_deadline_ms: when the running session timer fires (`NO_TIMER` without one): a heartbeat
        moves only `session_deadline_ms`, the timer looks again when it fires.
    is_new: it has not received its first JoinGroup answer, so it cannot send heartbeats yet.
    """

    __slots__ = (
        "assignment",
        "awaiting_join",
        "awaiting_sync",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "join_version",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_deadline_ms",
        "session_timeout_ms",
        "timer_deadline_ms",
    )

    def __init__(
        self,
        *,
        member_id: str,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocol_type: str,
        protocols: tuple[tuple[str, bytes], ...],
        assignment: bytes = EMPTY_ASSIGNMENT,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.assignment = assignment
        self.awaiting_join: Hashable | None = None
        self.awaiting_sync: Hashable | None = None
        self.join_version = 0
        self.session_deadline_ms = 0
        self.timer_deadline_ms = NO_TIMER
        self.is_new = False

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return the member's metadata for one protocol. Raises KeyError if it
        does not support it.
        """
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        raise KeyError(f"member {self.member_id} does not support protocol {protocol_name}")

    def vote(self, candidates: Collection[str]) -> str:
        """Return the first of its protocols that is a candidate. Raises KeyError if none is."""
        for name, _ in self.protocols:
            if name in candidates:
                return name
        raise KeyError(f"member {self.member_id} supports none of {sorted(candidates)}")

    @property
    def keeps_session(self) -> bool:
        """Whether the member counts as alive because it waits for a rebalance. New members do not:
        a client that gave up on its first JoinGroup and retried would leave a dead member behind
        each time.
        """
        return not self.is_new and (
            self.awaiting_join is not None or self.awaiting_sync is not None
        )

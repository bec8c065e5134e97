"""Broker sessions: which brokers are alive, and how far they have read the metadata log.

State: per broker the time of its last sign of life, the offset it reported, and the offset that
others must have read before it may stop. It is soft state: a controller that becomes active gives
every broker that is not fenced a full session to report.
Source: Kafka's `BrokerHeartbeatManager.java`, `BrokerHeartbeatTracker.java`.
"""

from __future__ import annotations


class _Session:
    __slots__ = ("controlled_shutdown_offset", "epoch", "last_heard_ms", "metadata_offset")

    def __init__(self, epoch: int, now_ms: int) -> None:
        self.epoch = epoch
        self.last_heard_ms = now_ms
        self.metadata_offset = -1
        self.controlled_shutdown_offset = -1


class BrokerSessions:
    """The heartbeat sessions of all brokers."""

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._sessions: dict[int, _Session] = {}

    def touch(self, broker_id: int, epoch: int, now_ms: int, metadata_offset: int = -1) -> None:
        """Record a sign of life from the broker."""
        session = self._sessions.get(broker_id)
        if session is None or session.epoch != epoch:
            session = _Session(epoch, now_ms)
            self._sessions[broker_id] = session
        session.last_heard_ms = now_ms
        session.metadata_offset = max(session.metadata_offset, metadata_offset)

    def begin_controlled_shutdown(self, broker_id: int, offset: int) -> None:
        """Record that the broker may stop once every other active broker has read
        up to `offset`.
        """
        session = self._sessions.get(broker_id)
        if session is not None and session.controlled_shutdown_offset < 0:
            session.controlled_shutdown_offset = offset

    def controlled_shutdown_offset(self, broker_id: int) -> int:
        """Return the offset that `begin_controlled_shutdown` recorded; -1 if the broker is not
        shutting down.
        """
        session = self._sessions.get(broker_id)
        return -1 if session is None else session.controlled_shutdown_offset

    def lowest_offset(self, broker_ids: list[int]) -> int:
        """Return how far the slowest of these brokers has read; a large number if there is none."""
        sessions = [self._sessions[key] for key in broker_ids if key in self._sessions]
        return min((session.metadata_offset for session in sessions), default=2**63 - 1)

    def has_reported(self, broker_id: int) -> bool:
        """Return whether this incarnation has told this controller how far it has read, by a
        heartbeat.
        """
        session = self._sessions.get(broker_id)
        return session is not None and session.metadata_offset >= 0

    def is_valid(self, broker_id: int, epoch: int, now_ms: int) -> bool:
        """Return whether the session of this incarnation has not expired."""
        session = self._sessions.get(broker_id)
        if session is None or session.epoch != epoch:
            return False
        return now_ms - session.last_heard_ms < self.timeout_ms

    def expired(self, now_ms: int) -> int | None:
        """Return a broker whose session has expired (oldest first), None if there is none."""
        oldest: int | None = None
        oldest_heard = now_ms - self.timeout_ms
        for broker_id, session in self._sessions.items():
            if session.last_heard_ms <= oldest_heard:
                oldest, oldest_heard = broker_id, session.last_heard_ms
        return oldest

    def forget(self, broker_id: int) -> None:
        """Forget a broker that is fenced, removed, or has another incarnation."""
        self._sessions.pop(broker_id, None)

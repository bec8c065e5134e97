"""UpdateRaftVoter: a voter tells the leader its endpoints and supported kraft.version (KIP-853).

    kraft.version 0   the voters are static: nothing is recorded
    kraft.version 1   a difference from the voter set in the log becomes a new VotersRecord; the
                      answer is sent when that is committed

Waiting answers are in the purgatory.
Not done: Kafka's call to the voter at its new endpoint, its checks of pending updates, of the high
watermark and of the default listener, and its voters in memory at kraft.version 0.
Source: Kafka's `UpdateVoterHandler.java`.
"""

from __future__ import annotations

from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.kraft.metadata_version import VersionRange
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode
from pykbroker.protocol.messages.update_raft_voter_response import (
    CurrentLeader,
    UpdateRaftVoterResponse,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.purgatory import DelayedOperation, Purgatory


class VoterUpdates:
    """Handles UpdateRaftVoter. `key` is the purgatory key that is checked when
    more is committed.
    """

    def __init__(self, driver: RaftDriver, purgatory: Purgatory, key: str) -> None:
        self.driver = driver
        self._purgatory = purgatory
        self._key = key

    def update(
        self, message: Any, leader_only: int, deadline_ms: int
    ) -> UpdateRaftVoterResponse | Deferred:
        """Return the response, or a Deferred of it while the record is not committed; `leader_only`
        is the error code of a node that is not the leader, 0 on a leader.
        """
        if leader_only:
            return self.answer(leader_only)
        node = voter_of(message)
        if node is None:
            return self.answer(ErrorCode.INVALID_REQUEST)
        history = self.driver.raft.history
        if history.kraft_version == 0:
            return self.answer(ErrorCode.NONE)
        if history.kraft_version not in node.kraft_versions:
            return self.answer(ErrorCode.INVALID_REQUEST)
        known = history.voters.nodes.get(node.key.id)
        if known is None or not known.key.matches(node.key):
            return self.answer(ErrorCode.VOTER_NOT_FOUND)
        if known == node:
            return self.answer(ErrorCode.NONE)
        offset = self.driver.append_voters(history.voters.with_voter(node))
        waiting = _WaitingUpdate(self, offset)
        if waiting.try_complete():
            return self.answer(ErrorCode.NONE)
        self._purgatory.watch(waiting, (self._key,), deadline_ms)
        return waiting.deferred

    def answer(self, code: int) -> UpdateRaftVoterResponse:
        """Return a response with this code and the current leader."""
        raft = self.driver.raft
        return UpdateRaftVoterResponse(
            error_code=int(code),
            current_leader=CurrentLeader(leader_id=raft.leader_id, leader_epoch=raft.epoch),
        )


class _WaitingUpdate(DelayedOperation):
    """An update whose record is not committed yet."""

    __slots__ = ("_epoch", "_offset", "_updates", "deferred")

    KIND = "UpdateRaftVoter"

    def __init__(self, updates: VoterUpdates, offset: int) -> None:
        super().__init__()
        self._updates = updates
        self._offset = offset
        self._epoch = updates.driver.raft.epoch
        self.deferred = Deferred()

    def try_complete(self) -> bool:
        raft = self._updates.driver.raft
        if not raft.is_leader or raft.epoch != self._epoch:
            self.deferred.resolve(self._updates.answer(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return True
        if raft.high_watermark <= self._offset:
            return False
        self.deferred.resolve(self._updates.answer(ErrorCode.NONE))
        return True

    def expire(self) -> None:
        self.deferred.resolve(self._updates.answer(ErrorCode.REQUEST_TIMED_OUT))


def voter_of(message: Any) -> VoterNode | None:
    """Return the voter described by a request; None if it is invalid."""
    feature = message.kraft_version_feature
    low, high = feature.min_supported_version, feature.max_supported_version
    if message.voter_id < 0 or message.voter_directory_id == ZERO_UUID or not message.listeners:
        return None
    if not 0 <= low <= high:
        return None
    return VoterNode(
        ReplicaKey(message.voter_id, message.voter_directory_id),
        tuple(VoterEndpoint(at.name, at.host, at.port) for at in message.listeners),
        VersionRange(low, high),
    )

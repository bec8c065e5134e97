"""Sends raft's messages to other voters, and returns their answers as events.

    SendVote         retried while the election lasts and the voter has not answered; an answer
                     that arrives after this node has stood again does not count
    SendBeginEpoch   sent once: the machine repeats it by its own deadline
    SendEndEpoch     retried while this node is in the resigned state of that epoch

State: how many messages are in flight; each is a coroutine.
In:    effects of the machine. Out: requests through `send`; events through `step`.
Source: Kafka's `KafkaRaftClient.java` (`maybeSendVoteRequests`, `pollResigned`,
`resetConnections`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pykbroker.deferred import spawn
from pykbroker.environment.scheduler import Scheduler
from pykbroker.errors import ErrorCode, KafkaError, error_name
from pykbroker.kraft.controller_channel_driver import Send, value_of
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft import raft_rpc
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_peers import RaftPeers
from pykbroker.kraft.raft.raft_roles import Candidate, Prospective, Resigned
from pykbroker.protocol.primitives import Message

_log = logging.getLogger(__name__)


class RaftMessenger:
    """Sends raft's messages to other voters."""

    def __init__(
        self,
        *,
        raft: Raft,
        peers: RaftPeers,
        cluster_id: str,
        send: Send,
        step: Callable[[ev.Event], None],
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        request_timeout_ms: int,
        retry_backoff_ms: int,
    ) -> None:
        self._raft = raft
        self._peers = peers
        self._cluster_id = cluster_id
        self._send = send
        self._step = step
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._stopped = False
        self.in_flight = 0

    def stop(self) -> None:
        """Stop retrying; the driver drops answers that still arrive."""
        self._stopped = True

    def send_vote(self, effect: ev.SendVote) -> None:
        """Ask for a vote, unless the election has ended in the meantime; the log must be on disk
        up to the end given in the effect.
        """
        role = self._raft.role
        if self._raft.epoch != effect.epoch:
            return
        if isinstance(role, Prospective if effect.pre_vote else Candidate):
            spawn(self._vote(effect, role))

    def send_begin_epoch(self, effect: ev.SendBeginEpoch) -> None:
        """Tell a voter that this node leads."""
        spawn(self._begin_epoch(effect))

    def send_end_epoch(self, effect: ev.SendEndEpoch) -> None:
        """Tell a voter that this node resigns."""
        spawn(self._end_epoch(effect))

    async def _vote(self, effect: ev.SendVote, asker: Prospective | Candidate) -> None:
        """Ask for a vote for `asker`, which is another object each time this node stands."""
        message = raft_rpc.make_vote(
            self._cluster_id,
            effect.voter,
            self._raft.local.key,
            effect.epoch,
            effect.log_end,
            effect.pre_vote,
        )
        while self._is_wanted(effect.voter.id, asker):
            not_supported = ev.PreVoteNotSupported(effect.epoch) if effect.pre_vote else None
            known, partition = await self._ask(effect.voter.id, message, not_supported)
            if self._raft.role is not asker:
                return
            if partition is None:
                await self._scheduler.sleep(self._retry_backoff_ms)
                continue
            self._step(
                ev.VoteAnswered(
                    effect.voter.id,
                    known.epoch,
                    self._peers.reachable(known.leader_id),
                    partition.vote_granted,
                    effect.pre_vote,
                )
            )
            return

    def _is_wanted(self, voter_id: int, asker: Prospective | Candidate) -> bool:
        """Return whether this election still lasts and the voter has not answered."""
        if self._stopped or self._raft.role is not asker:
            return False
        return voter_id not in asker.granted | asker.rejected

    async def _begin_epoch(self, effect: ev.SendBeginEpoch) -> None:
        message = raft_rpc.make_begin_epoch(
            self._cluster_id, effect.voter, self._raft.local, effect.epoch
        )
        known, partition = await self._ask(effect.voter.id, message)
        if partition is not None:
            self._step(ev.NewsReceived(known.epoch, self._peers.reachable(known.leader_id)))

    async def _end_epoch(self, effect: ev.SendEndEpoch) -> None:
        message = raft_rpc.make_end_epoch(
            self._cluster_id, self._raft.local, effect.epoch, effect.preferred_successors
        )
        while True:
            known, partition = await self._ask(effect.voter.id, message)
            if partition is not None:
                self._step(ev.NewsReceived(known.epoch, self._peers.reachable(known.leader_id)))
                return
            role = self._raft.role
            if self._stopped or self._raft.epoch != effect.epoch or not isinstance(role, Resigned):
                return
            await self._scheduler.sleep(self._retry_backoff_ms)

    async def _ask(
        self, voter_id: int, message: Message, not_supported: ev.Event | None = None
    ) -> tuple[raft_rpc.Known, Any | None]:
        """Return (the voter's view of the quorum, its entry); no entry if the voter is unreachable,
        or its response invalid or an error. `not_supported` is the event if the voter is too old
        for the message.
        """
        nothing = raft_rpc.Known(-1, -1, None)
        peer = self._peers.find(voter_id)
        if peer is None:
            return nothing, None
        deadline_ms = self._now_ms() + self._request_timeout_ms
        self.in_flight += 1
        outcome = await value_of(self._send(peer, message, deadline_ms))
        self.in_flight -= 1
        if isinstance(outcome, KafkaError):
            if outcome.code == ErrorCode.UNSUPPORTED_VERSION and not_supported is not None:
                self._step(not_supported)
            return nothing, None
        if outcome.error_code:
            _log.error(
                "%s rejected %s: %s",
                peer,
                type(message).__name__,
                error_name(outcome.error_code),
            )
            return nothing, None
        partition = raft_rpc.only_partition(outcome)
        if partition is None:
            _log.error("%s answered %s without its partition", peer, type(message).__name__)
            return nothing, None
        if partition.error_code == ErrorCode.INVALID_VOTER_KEY:
            _log.warning("%s is not voter %d: its directory id differs", peer, voter_id)
        known = raft_rpc.known_by(outcome, partition)
        self._peers.learn(known.leader_id, known.endpoint)
        return known, partition

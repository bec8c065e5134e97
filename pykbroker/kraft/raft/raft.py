"""KRaft: the leader of the metadata quorum, and the offset up to which its log is committed.

State: `raft_state`.
In:    `step(event, now_ms)`, events of `raft_events`.
Out:   a list of effects, to be carried out in their order; `next_deadline_ms()`.
Invariants: the epoch and the high watermark never decrease; there is one vote per epoch; a leader
counts its own log only as far as it is on disk, and commits nothing before a record of its own
epoch.

A quorum of one elects itself in one step, in a new epoch at each start, as Kafka does.
Source: Kafka's `KafkaRaftClient.java`.
"""

from __future__ import annotations

from typing import assert_never

from pykbroker.kraft.raft import raft_elections, raft_following, raft_leading
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.raft_events import Effect, Event
from pykbroker.kraft.raft.raft_roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from pykbroker.kraft.raft.raft_state import RaftState


class Raft(RaftState):
    """One replica of the quorum."""

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Process an event; return the effects to carry out now."""
        self.effects = []
        self._take_in(event, now_ms)
        return self.effects

    def _take_in(self, event: Event, now_ms: int) -> None:  # noqa: C901 - one line an event
        match event:
            case ev.Flushed():
                self.flushed_offset = max(self.flushed_offset, event.offset)
                raft_leading.advance_high_watermark(self)
            case ev.Appended():
                self.log_end = event.log_end
            case ev.Truncated():
                self.log_end = event.log_end
                self.flushed_offset = min(self.flushed_offset, event.log_end.offset)
            case ev.SnapshotLoaded():
                raft_following.snapshot_loaded(self, event)
            case ev.Tick():
                self._tick(now_ms)
            case ev.Started():
                self._start(event, now_ms)
            case ev.VoteRequested():
                raft_elections.vote_requested(self, event, now_ms)
            case ev.VoteAnswered():
                raft_elections.vote_answered(self, event, now_ms)
            case ev.PreVoteNotSupported():
                raft_elections.pre_vote_not_supported(self, event, now_ms)
            case ev.BeginEpochRequested():
                raft_following.begin_epoch_requested(self, event, now_ms)
            case ev.EndEpochRequested():
                raft_following.end_epoch_requested(self, event, now_ms)
            case ev.FollowerFetched():
                raft_leading.follower_fetched(self, event, now_ms)
            case ev.FollowerFetchedSnapshot():
                raft_leading.follower_fetched_snapshot(self, event, now_ms)
            case ev.LeaderAnswered():
                raft_following.leader_answered(self, event, now_ms)
            case ev.NewsReceived():
                raft_following.follow_news(self, event.epoch, event.leader_id, now_ms)
            case ev.Resign():
                self.resign(now_ms)
            case _:
                assert_never(event)

    def _start(self, event: ev.Started, now_ms: int) -> None:
        """Take the role implied by the quorum-state file."""
        self.log_end = event.log_end
        self.flushed_offset = event.log_end.offset
        saved = event.saved or ElectionState(0)
        self.epoch = max(saved.epoch, event.log_end.epoch)
        timeout = self.election_deadline(now_ms)
        if saved.epoch < event.log_end.epoch:
            self.role = Unattached(timeout)
        elif saved.leader_id == self.local.key.id and self.is_voter:
            self.role = Resigned(timeout)
        elif saved.leader_id == self.local.key.id:  # a voter no more: there is another leader
            self.epoch += 1
            self.role = Unattached(timeout)
        elif self.is_voter and saved.voted is not None and saved.voted.matches(self.local.key):
            self.role = Candidate(timeout, granted={self.local.key.id})
        elif saved.leader_id >= 0 and saved.leader_id in self.voters.nodes:
            self.role = Follower(saved.leader_id, now_ms + self.fetch_timeout_ms, saved.voted)
        else:
            self.role = Unattached(timeout, saved.leader_id, saved.voted)
        self.save()
        if self.voters.is_only_voter(self.local.key):
            self.become_prospective(now_ms)
        elif isinstance(self.role, Candidate):
            self.send_votes(pre_vote=False)
        elif isinstance(self.role, Resigned):
            self.send_end_epoch(self.role)

    def _tick(self, now_ms: int) -> None:
        role = self.role
        if isinstance(role, Leader):
            if now_ms >= role.check_quorum_deadline_ms:
                self.resign(now_ms)
            elif now_ms >= role.begin_epoch_deadline_ms:
                self.send_begin_epoch(role, now_ms)
        elif isinstance(role, Follower):
            if now_ms >= role.fetch_deadline_ms and self.is_voter:
                self.become_prospective(now_ms)
        elif now_ms >= role.election_deadline_ms:
            if isinstance(role, Resigned):
                # In a later epoch: in this one the node was the leader, which it no longer is.
                self.become_unattached(self.epoch + 1, now_ms)
            elif isinstance(role, Prospective):
                # The pre-vote was not lost, only unanswered: ask again immediately.
                raft_elections.lose_pre_vote(self, role, now_ms, role.election_deadline_ms)
            elif self.is_voter:
                self.become_prospective(now_ms)

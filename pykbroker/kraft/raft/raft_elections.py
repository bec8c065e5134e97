"""Votes and pre-votes: requests and answers of other replicas (KIP-595, KIP-996).

Source: Kafka's `KafkaRaftClient.handleVoteRequest`, `handleVoteResponse`.
"""

from __future__ import annotations

from pykbroker.errors import ErrorCode
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_following import follow_news
from pykbroker.kraft.raft.raft_roles import Candidate, Prospective, Role, Unattached, grants_vote
from pykbroker.kraft.raft.raft_state import RaftState
from pykbroker.kraft.raft.voters import ReplicaKey


def vote_requested(raft: RaftState, event: ev.VoteRequested, now_ms: int) -> None:
    """Handle a vote request of a candidate or, with `pre_vote`, of a prospective candidate."""
    illegal = event.log_end.epoch > event.epoch
    if not event.pre_vote:
        illegal = event.log_end.epoch >= event.epoch
    if illegal or event.log_end.offset < 0 or event.log_end.epoch < 0:
        raft.reply(event.reply_to, ErrorCode.INVALID_REQUEST)
        return
    if event.epoch < raft.epoch:
        raft.reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
        return
    if event.epoch > raft.epoch:
        raft.become_unattached(event.epoch, now_ms)
    if event.voter is not None and not event.voter.matches(raft.local.key):
        raft.reply(event.reply_to, ErrorCode.INVALID_VOTER_KEY)
        return
    up_to_date = event.log_end >= raft.log_end
    granted = grants_vote(raft.role, event.candidate, up_to_date, pre_vote=event.pre_vote)
    if granted and not event.pre_vote:
        record_vote(raft, event.candidate, now_ms)
    raft.reply(event.reply_to, ErrorCode.NONE, granted=granted)


def record_vote(raft: RaftState, candidate: ReplicaKey, now_ms: int) -> None:
    """Record that this epoch's vote is given."""
    role = raft.role
    if isinstance(role, (Unattached, Prospective)) and role.voted is None:
        role.voted = candidate
        role.election_deadline_ms = raft.election_deadline(now_ms)
        raft.save()


def vote_answered(raft: RaftState, event: ev.VoteAnswered, now_ms: int) -> None:
    """Handle a voter's answer: vote granted or rejected."""
    if follow_news(raft, event.epoch, event.leader_id, now_ms):
        return
    role = raft.role
    wanted: type[Role] = Prospective if event.pre_vote else Candidate
    if not isinstance(role, (Prospective, Candidate)) or not isinstance(role, wanted):
        return
    (role.granted if event.granted else role.rejected).add(event.voter_id)
    if len(role.granted) >= raft.voters.majority:
        if isinstance(role, Prospective):
            raft.become_candidate(now_ms)
        else:
            raft.become_leader(now_ms)
    elif len(raft.voters) - len(role.rejected) >= raft.voters.majority:
        return
    elif isinstance(role, Prospective):
        # A candidate waits until its timeout expires, so that voters do not chase each other.
        lose_pre_vote(raft, role, now_ms, raft.election_deadline(now_ms))


def pre_vote_not_supported(raft: RaftState, event: ev.PreVoteNotSupported, now_ms: int) -> None:
    """Stand for election at once: a voter without pre-votes cannot say whether it would vote."""
    if isinstance(raft.role, Prospective) and event.epoch == raft.epoch:
        raft.become_candidate(now_ms)


def lose_pre_vote(raft: RaftState, role: Prospective, now_ms: int, deadline_ms: int) -> None:
    """Give up a pre-vote that was lost or not answered in time: follow the known leader if it is a
    voter, else wait until `deadline_ms` before asking again.
    """
    if role.leader_id >= 0 and role.leader_id in raft.voters.nodes:
        raft.become_follower(raft.epoch, role.leader_id, now_ms)
        return
    raft.role = Unattached(deadline_ms, role.leader_id, role.voted)
    raft.save()

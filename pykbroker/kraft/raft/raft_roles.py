"""The roles of a raft replica. Each contains the fields that are meaningful only in that role.

    role          a Vote request gets              left when
    ------------  -------------------------------  ------------------------------------------------
    Unattached    pre-vote: if its log is as long  a leader is known -> Follower; election timeout
                  vote: the same, once an epoch,   -> Prospective
                  while no leader is known
    Prospective   as Unattached                    a majority would vote, or a voter does not know
                                                   pre-votes -> Candidate; lost or timed out ->
                                                   Follower of the known leader, else Unattached
    Candidate     pre-vote: if its log is as long  a majority voted -> Leader; timed out ->
                  vote: no (it voted for itself)   Prospective; a leader is known -> Follower
    Leader        no                               a later epoch -> Unattached; no majority fetches,
                                                   or asked to -> Resigned
    Follower      pre-vote: as Unattached, until   fetch timeout -> Prospective; a later epoch or
                  it has fetched; vote: no         a resigning leader -> Unattached, Prospective
    Resigned      pre-vote: if its log is as long  election timeout -> Unattached in the next epoch
                  vote: no

An observer (not a voter) is Unattached or Follower. A higher epoch leads to Unattached, or to
Follower if its leader is known; an announcement by the leader of the epoch leads an Unattached, a
Prospective or a Candidate to Follower. A role is compared by identity: each time that a replica
takes one is another (`raft_messenger_driver` relies on that).
Source: Kafka's `QuorumState.java` and the `…State.java` beside it; pre-votes: KIP-996.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykbroker.kraft.raft.quorum_state import UNKNOWN_LEADER
from pykbroker.kraft.raft.voters import ReplicaKey

NEVER = 2**63 - 1


@dataclass(slots=True, eq=False, repr=False)
class Unattached:
    """Knows the epoch, and perhaps its leader, but does not follow it."""

    election_deadline_ms: int
    leader_id: int = UNKNOWN_LEADER
    voted: ReplicaKey | None = None


@dataclass(slots=True, eq=False, repr=False)
class Prospective:
    """Asks whether an election would be won, without raising the epoch."""

    election_deadline_ms: int
    leader_id: int = UNKNOWN_LEADER
    voted: ReplicaKey | None = None
    granted: set[int] = field(default_factory=set)
    rejected: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False, repr=False)
class Candidate:
    """Asks for votes in a new epoch."""

    election_deadline_ms: int
    granted: set[int] = field(default_factory=set)
    rejected: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False, repr=False)
class VoterProgress:
    """The progress of a voter or an observer as seen by the leader; -1: unknown.

    `leader_end_offset` is the end of the leader's log at the last fetch.
    """

    end_offset: int = -1
    last_fetch_ms: int = -1
    leader_end_offset: int = -1
    last_caught_up_ms: int = -1


@dataclass(slots=True, eq=False, repr=False)
class Leader:
    """Appends, and tracks the progress of the other replicas."""

    epoch_start_offset: int
    granting_voters: tuple[int, ...]
    progress: dict[int, VoterProgress]
    check_quorum_deadline_ms: int = NEVER
    begin_epoch_deadline_ms: int = NEVER
    fetched_since_check: set[int] = field(default_factory=set)
    observers: dict[ReplicaKey, VoterProgress] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Follower:
    """Fetches from the leader."""

    leader_id: int
    fetch_deadline_ms: int
    voted: ReplicaKey | None = None
    has_fetched: bool = False
    leader_high_watermark: int = -1


@dataclass(slots=True, eq=False, repr=False)
class Resigned:
    """Led this epoch and has resigned; waits for another leader to be elected."""

    election_deadline_ms: int
    preferred_successors: tuple[ReplicaKey, ...] = ()


Role = Unattached | Prospective | Candidate | Leader | Follower | Resigned


def grants_vote(role: Role, candidate: ReplicaKey, up_to_date: bool, *, pre_vote: bool) -> bool:
    """Return whether to grant a vote (second column of the table); `up_to_date`: the candidate's
    log is not behind this one (see `LogEnd`).
    """
    if isinstance(role, Leader):
        return False
    if isinstance(role, Follower):
        return pre_vote and up_to_date and not role.has_fetched
    if pre_vote:
        return up_to_date
    if isinstance(role, (Candidate, Resigned)):
        return False
    if role.voted is not None:
        return role.voted.matches(candidate)
    return up_to_date and role.leader_id == UNKNOWN_LEADER

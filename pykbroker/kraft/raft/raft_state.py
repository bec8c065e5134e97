"""The state of one replica of the metadata quorum, and the transitions between its roles.

State: the epoch, the role (`raft_roles`), the end of the local log and how much of it is on disk,
       the high watermark. The voters are read from the `QuorumHistory` that the driver feeds.
In:    transitions, called by the modules that handle events: `raft` (start, time, resigning),
       `raft_elections` (votes), `raft_following` (the leader's messages).
Out:   `effects` of the current step.
Source: Kafka's `QuorumState.java`, `LeaderState.java` and the other `...State.java` beside them.
"""

from __future__ import annotations

from pykbroker.environment.randomness import RandomSource
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.quorum_state import UNKNOWN_LEADER, ElectionState
from pykbroker.kraft.raft.raft_events import Effect, LogEnd
from pykbroker.kraft.raft.raft_roles import (
    NEVER,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
    VoterProgress,
)
from pykbroker.kraft.raft.voters import QuorumHistory, ReplicaKey, VoterNode, VoterSet
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.leader_change_message import LeaderChangeMessage, Voter

# LeaderState.java: the leader resigns if no majority has fetched for 1.5 fetch timeouts.
CHECK_QUORUM_FACTOR = 1.5


class RaftState:
    """The state of one replica, and the transitions between its roles."""

    def __init__(
        self,
        *,
        local: VoterNode,
        history: QuorumHistory,
        election_timeout_ms: int,
        fetch_timeout_ms: int,
        election_backoff_max_ms: int,
        random: RandomSource,
    ) -> None:
        self.local = local
        self.history = history
        self.election_timeout_ms = election_timeout_ms
        self.fetch_timeout_ms = fetch_timeout_ms
        self.election_backoff_max_ms = election_backoff_max_ms
        self.random = random
        self.epoch = 0
        self.role: Role = Unattached(NEVER)
        self.log_end = LogEnd(0, 0)
        self.flushed_offset = 0
        self.high_watermark = -1
        self.effects: list[Effect] = []
        self._announced: tuple[int, int] | None = None

    @property
    def voters(self) -> VoterSet:
        """The latest voters."""
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        """Whether this replica may vote and lead."""
        return self.voters.is_voter(self.local.key)

    @property
    def is_leader(self) -> bool:
        """Whether this replica leads."""
        return type(self.role) is Leader

    @property
    def leader_id(self) -> int:
        """The leader of the epoch, -1 if it is unknown."""
        role = self.role
        if isinstance(role, (Leader, Resigned)):
            return self.local.key.id
        return UNKNOWN_LEADER if isinstance(role, Candidate) else role.leader_id

    @property
    def reported_high_watermark(self) -> int:
        """The high watermark that this leader reports: -1 until a majority has a record of its
        epoch. Before, another replica may know a later one, and Kafka's replicas stop if they are
        given an earlier one than they know.
        """
        role = self.role
        is_known = isinstance(role, Leader) and self.high_watermark > role.epoch_start_offset
        return self.high_watermark if is_known else -1

    def election(self) -> ElectionState:
        """The content for the quorum-state file."""
        role = self.role
        if isinstance(role, Candidate):
            return ElectionState(self.epoch, voted=self.local.key)
        if isinstance(role, (Leader, Resigned)):
            return ElectionState(self.epoch, self.local.key.id)
        return ElectionState(self.epoch, role.leader_id, role.voted)

    def next_deadline_ms(self) -> int | None:
        """When to send `Tick`; None: no deadline."""
        role = self.role
        if isinstance(role, Leader):
            deadline = min(role.check_quorum_deadline_ms, role.begin_epoch_deadline_ms)
        elif isinstance(role, Follower):
            # An observer looks for another leader by itself: it has no election to start.
            deadline = role.fetch_deadline_ms if self.is_voter else NEVER
        else:
            deadline = role.election_deadline_ms
        return None if deadline == NEVER else deadline

    # Roles.

    def election_deadline(self, now_ms: int) -> int:
        """Return when to stand for election: after a random time of one to two election timeouts;
        NEVER for a replica that is no voter.
        """
        if not self.is_voter:
            return NEVER
        timeout = self.election_timeout_ms
        return now_ms + timeout + (self.random.randrange(timeout) if timeout > 0 else 0)

    def become_prospective(self, now_ms: int) -> None:
        """Become prospective: ask whether an election would be won."""
        role = self.role
        voted = self.election().voted
        leader = UNKNOWN_LEADER if isinstance(role, (Resigned, Candidate)) else self.leader_id
        me = self.local.key.id
        self.role = Prospective(self.election_deadline(now_ms), leader, voted, granted={me})
        if self.voters.majority <= 1:
            self.become_candidate(now_ms)
        else:
            self.send_votes(pre_vote=True)

    def become_candidate(self, now_ms: int) -> None:
        """Become a candidate: ask for votes in a new epoch."""
        self.epoch += 1
        self.role = Candidate(self.election_deadline(now_ms), granted={self.local.key.id})
        self.save()
        if self.voters.majority <= 1:
            self.become_leader(now_ms)
        else:
            self.announce()
            self.send_votes(pre_vote=False)

    def send_votes(self, *, pre_vote: bool) -> None:
        """Ask every other voter."""
        for key in self._others:
            self.effects.append(ev.SendVote(key, self.epoch, self.log_end, pre_vote))

    def become_leader(self, now_ms: int) -> None:
        """Become the leader, after a majority has voted for this replica."""
        candidate = self.role
        granted = candidate.granted if isinstance(candidate, Candidate) else set()
        role = Leader(
            epoch_start_offset=self.log_end.offset,
            granting_voters=tuple(sorted(granted)),
            progress={voter: VoterProgress() for voter in self.voters.nodes},
        )
        self.role = role
        if len(self.voters) > 1:
            role.check_quorum_deadline_ms = now_ms + self.check_quorum_ms
        self.save()
        self.effects.append(ev.AppendControl(self.epoch, self.start_of_epoch(role)))
        self.send_begin_epoch(role, now_ms)
        self.announce()

    @property
    def check_quorum_ms(self) -> int:
        """How long a leader stays without fetches from a majority."""
        return int(self.fetch_timeout_ms * CHECK_QUORUM_FACTOR)

    def start_of_epoch(self, role: Leader) -> tuple[object, ...]:
        """Return the control records that begin the epoch: a LeaderChange, and from kraft.version 1
        on also that version and the voters, if the log lacks them or its entry of this voter
        differs.
        """
        change = LeaderChangeMessage(
            leader_id=self.local.key.id,
            voters=[Voter(voter_id=voter) for voter in self.voters.nodes],
            granting_voters=[Voter(voter_id=voter) for voter in role.granting_voters],
        )
        if self.history.kraft_version == 0:
            return (change,)
        known = self.voters.nodes.get(self.local.key.id)
        if self.history.voters_offset != -1 and known == self.local:
            return (change,)
        voters = self.voters.with_voter(self.local)
        version = KRaftVersionRecord(kraft_version=self.history.kraft_version)
        return (change, version, voters.to_record())

    def send_begin_epoch(self, role: Leader, now_ms: int) -> None:
        """Announce this leader to the voters that do not fetch: they may not know it, or may have
        given it up.
        """
        interval_ms = self.fetch_timeout_ms // 2
        others = self._others
        for key in others:
            fetched_ms = role.progress.setdefault(key.id, VoterProgress()).last_fetch_ms
            if fetched_ms < 0 or now_ms - fetched_ms >= interval_ms:
                self.effects.append(ev.SendBeginEpoch(key, self.epoch))
        role.begin_epoch_deadline_ms = now_ms + interval_ms if others else NEVER

    def resign(self, now_ms: int) -> None:
        """Resign: tell the others who should follow."""
        role = self.role
        if not isinstance(role, Leader):
            return
        successors = sorted(self._others, key=lambda key: -self._end_offset_of(role, key.id))
        self.role = Resigned(self.election_deadline(now_ms), tuple(successors))
        self.send_end_epoch(self.role)
        self.announce(leader_id=UNKNOWN_LEADER)

    @property
    def _others(self) -> list[ReplicaKey]:
        """The other voters."""
        return [node.key for node in self.voters.nodes.values() if node.key.id != self.local.key.id]

    def send_end_epoch(self, role: Resigned) -> None:
        """Tell the other voters that this leader has resigned, so that they need not wait for
        their timeouts.
        """
        for key in self._others:
            self.effects.append(ev.SendEndEpoch(key, self.epoch, role.preferred_successors))

    def _end_offset_of(self, role: Leader, voter: int) -> int:
        progress = role.progress.get(voter)
        return -1 if progress is None else progress.end_offset

    def become_follower(self, epoch: int, leader_id: int, now_ms: int) -> None:
        """Become a follower of this leader. The vote of the epoch is kept."""
        voted = self.election().voted if epoch == self.epoch else None
        self.epoch = epoch
        self.role = Follower(leader_id, now_ms + self.fetch_timeout_ms, voted)
        self.save()
        self.announce()

    def become_unattached(self, epoch: int, now_ms: int, leader_id: int = UNKNOWN_LEADER) -> None:
        """Enter a later epoch, in which this replica has not voted."""
        role = self.role
        deadline = self.election_deadline(now_ms)
        if not isinstance(role, (Leader, Follower)):
            # Epochs raised by others must not postpone this replica's own election forever.
            deadline = min(deadline, role.election_deadline_ms)
        self.epoch = epoch
        self.role = Unattached(deadline, leader_id)
        self.save()
        self.announce()

    # Effects.

    def save(self) -> None:
        """Save the quorum-state file. Of two saves in a row only the last is written."""
        effects = self.effects
        if effects and isinstance(effects[-1], ev.SaveElection):
            effects.pop()
        effects.append(ev.SaveElection(self.election()))

    def announce(self, leader_id: int | None = None) -> None:
        """Tell the node who leads, if that has changed."""
        news = (self.leader_id if leader_id is None else leader_id, self.epoch)
        if news != self._announced:
            self._announced = news
            self.effects.append(ev.LeaderChanged(*news))

    def reply(self, reply_to: object, error_code: int, *, granted: bool = False) -> None:
        """Answer a request of another replica."""
        self.effects.append(
            ev.Reply(reply_to, int(error_code), self.epoch, self.leader_id, granted)
        )

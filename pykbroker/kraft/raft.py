"""KRaft: who leads the metadata quorum, and up to which offset its log is committed.

State: the epoch, the role (`raft_roles`), the end of the local log and how much of it is on disk,
       the high watermark. The voters are read from the `QuorumHistory` that the driver feeds.
In:    `step(event, now_ms)`, events of `raft_events`.
Out:   a list of effects, to be carried out in their order; `next_deadline_ms()`.
Invariants: the epoch and the high watermark never go back; one vote in an epoch; a leader counts
its own log only as far as it is on disk, and commits nothing before a record of its own epoch.

A quorum of one elects itself in one step, in a new epoch at each start, as Kafka does.
Source: Kafka's `KafkaRaftClient.java`, `QuorumState.java`, `LeaderState.java`.
"""

from __future__ import annotations

from pykbroker.environment.randomness import RandomSource
from pykbroker.errors import ErrorCode
from pykbroker.kraft import raft_events as ev
from pykbroker.kraft.quorum_state import UNKNOWN_LEADER, ElectionState
from pykbroker.kraft.raft_events import Effect, Event, LogEnd
from pykbroker.kraft.raft_roles import (
    NEVER,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
    VoterProgress,
    grants_vote,
)
from pykbroker.kraft.voters import QuorumHistory, ReplicaKey, VoterNode, VoterSet
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.leader_change_message import LeaderChangeMessage, Voter

# LeaderState.java: the leader resigns when no majority fetched for 1.5 fetch timeouts.
CHECK_QUORUM_FACTOR = 1.5


class Raft:
    """One replica of the quorum; see the module's text."""

    def __init__(
        self,
        *,
        local: VoterNode,
        history: QuorumHistory,
        election_timeout_ms: int,
        fetch_timeout_ms: int,
        random: RandomSource,
    ) -> None:
        self.local = local
        self.history = history
        self.election_timeout_ms = election_timeout_ms
        self.fetch_timeout_ms = fetch_timeout_ms
        self._random = random
        self.epoch = 0
        self.role: Role = Unattached(NEVER)
        self.log_end = LogEnd(0, 0)
        self.flushed_offset = 0
        self.high_watermark = -1
        self._effects: list[Effect] = []
        self._announced: tuple[int, int] | None = None

    @property
    def voters(self) -> VoterSet:
        """The latest voters."""
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        """May this replica vote and lead?"""
        return self.voters.is_voter(self.local.key)

    @property
    def is_leader(self) -> bool:
        """Does this replica lead?"""
        return type(self.role) is Leader

    @property
    def leader_id(self) -> int:
        """The leader of the epoch, -1 when it is not known."""
        role = self.role
        if isinstance(role, (Leader, Resigned)):
            return self.local.key.id
        return UNKNOWN_LEADER if isinstance(role, Candidate) else role.leader_id

    def election(self) -> ElectionState:
        """What the quorum-state file has to hold."""
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
            deadline = role.fetch_deadline_ms
        else:
            deadline = role.election_deadline_ms
        return None if deadline == NEVER else deadline

    # Events.

    def step(self, event: Event, now_ms: int) -> list[Effect]:
        """Take in an event; answers what has to be done now."""
        self._effects = []
        if isinstance(event, ev.Flushed):
            self.flushed_offset = max(self.flushed_offset, event.offset)
            self._advance_high_watermark()
        elif isinstance(event, ev.Appended):
            self.log_end = event.log_end
        elif isinstance(event, ev.Truncated):
            self.log_end = event.log_end
            self.flushed_offset = min(self.flushed_offset, event.log_end.offset)
        elif isinstance(event, ev.Tick):
            self._tick(now_ms)
        elif isinstance(event, ev.Started):
            self._start(event, now_ms)
        elif isinstance(event, ev.VoteRequested):
            self._vote_requested(event, now_ms)
        elif isinstance(event, ev.VoteAnswered):
            self._vote_answered(event, now_ms)
        elif isinstance(event, ev.BeginEpochRequested):
            self._begin_epoch_requested(event, now_ms)
        elif isinstance(event, ev.BeginEpochAnswered):
            self._begin_epoch_answered(event, now_ms)
        elif isinstance(event, ev.EndEpochRequested):
            self._end_epoch_requested(event, now_ms)
        elif isinstance(event, ev.FollowerFetched):
            self._follower_fetched(event, now_ms)
        elif isinstance(event, ev.LeaderAnswered):
            self._leader_answered(event, now_ms)
        else:
            self._resign(now_ms)
        return self._effects

    def _start(self, event: ev.Started, now_ms: int) -> None:
        """Take the role up that the quorum-state file implies."""
        self.log_end = event.log_end
        self.flushed_offset = event.log_end.offset
        saved = event.saved or ElectionState(0)
        self.epoch = max(saved.epoch, event.log_end.epoch)
        timeout = self._election_deadline(now_ms)
        if saved.epoch < event.log_end.epoch:
            self.role = Unattached(timeout)
        elif saved.leader_id == self.local.key.id:
            self.role = Resigned(timeout)
        elif saved.voted is not None and saved.voted.matches(self.local.key):
            self.role = Candidate(timeout, granted={self.local.key.id})
        elif saved.leader_id >= 0 and saved.leader_id in self.voters.nodes:
            self.role = Follower(saved.leader_id, now_ms + self.fetch_timeout_ms, saved.voted)
        else:
            self.role = Unattached(timeout, saved.leader_id, saved.voted)
        self._save()
        if self.voters.is_only_voter(self.local.key):
            self._become_prospective(now_ms)
        elif isinstance(self.role, Candidate):
            self._send_votes(pre_vote=False)

    def _tick(self, now_ms: int) -> None:
        role = self.role
        if isinstance(role, Leader):
            if now_ms >= role.check_quorum_deadline_ms:
                self._resign(now_ms)
            elif now_ms >= role.begin_epoch_deadline_ms:
                self._send_begin_epoch(role, now_ms)
        elif isinstance(role, Follower):
            if now_ms >= role.fetch_deadline_ms and self.is_voter:
                self._become_prospective(now_ms)
        elif now_ms >= role.election_deadline_ms:
            if isinstance(role, Resigned):
                # In a later epoch: in this one the node is the leader, which it is no more.
                self._become_unattached(self.epoch + 1, now_ms)
            elif isinstance(role, Prospective):
                self._lose_pre_vote(role, now_ms)
            elif self.is_voter:
                self._become_prospective(now_ms)

    # Elections.

    def _election_deadline(self, now_ms: int) -> int:
        if not self.is_voter:
            return NEVER
        timeout = self.election_timeout_ms
        return now_ms + timeout + (self._random.randrange(timeout) if timeout > 0 else 0)

    def _become_prospective(self, now_ms: int) -> None:
        role = self.role
        voted = role.voted if isinstance(role, (Unattached, Follower)) else None
        leader = UNKNOWN_LEADER if isinstance(role, (Resigned, Candidate)) else self.leader_id
        me = self.local.key.id
        self.role = Prospective(self._election_deadline(now_ms), leader, voted, granted={me})
        if self.voters.majority <= 1:
            self._become_candidate(now_ms)
        else:
            self._send_votes(pre_vote=True)

    def _become_candidate(self, now_ms: int) -> None:
        self.epoch += 1
        self.role = Candidate(self._election_deadline(now_ms), granted={self.local.key.id})
        self._save()
        if self.voters.majority <= 1:
            self._become_leader(now_ms)
        else:
            self._announce()
            self._send_votes(pre_vote=False)

    def _send_votes(self, *, pre_vote: bool) -> None:
        for node in self.voters.nodes.values():
            if node.key.id != self.local.key.id:
                self._effects.append(ev.SendVote(node.key, self.epoch, self.log_end, pre_vote))

    def _vote_requested(self, event: ev.VoteRequested, now_ms: int) -> None:
        illegal = event.log_end.epoch > event.epoch
        if not event.pre_vote:
            illegal = event.log_end.epoch >= event.epoch
        if illegal or event.log_end.offset < 0 or event.log_end.epoch < 0:
            self._reply(event.reply_to, ErrorCode.INVALID_REQUEST)
            return
        if event.epoch < self.epoch:
            self._reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
            return
        if event.epoch > self.epoch:
            self._become_unattached(event.epoch, now_ms)
        if event.voter is not None and not event.voter.matches(self.local.key):
            self._reply(event.reply_to, ErrorCode.INVALID_VOTER_KEY)
            return
        up_to_date = event.log_end >= self.log_end
        granted = grants_vote(self.role, event.candidate, up_to_date, pre_vote=event.pre_vote)
        if granted and not event.pre_vote:
            self._record_vote(event.candidate, now_ms)
        self._reply(event.reply_to, ErrorCode.NONE, granted=granted)

    def _record_vote(self, candidate: ReplicaKey, now_ms: int) -> None:
        """This epoch's vote is given away; a follower gave it before."""
        role = self.role
        if isinstance(role, (Unattached, Prospective)) and role.voted is None:
            role.voted = candidate
            role.election_deadline_ms = self._election_deadline(now_ms)
            self._save()

    def _vote_answered(self, event: ev.VoteAnswered, now_ms: int) -> None:
        if self._follow_news(event.epoch, event.leader_id, now_ms):
            return
        role = self.role
        wanted: type[Role] = Prospective if event.pre_vote else Candidate
        if not isinstance(role, (Prospective, Candidate)) or not isinstance(role, wanted):
            return
        (role.granted if event.granted else role.rejected).add(event.voter_id)
        if len(role.granted) >= self.voters.majority:
            if isinstance(role, Prospective):
                self._become_candidate(now_ms)
            else:
                self._become_leader(now_ms)
        elif len(self.voters) - len(role.rejected) >= self.voters.majority:
            return
        elif isinstance(role, Prospective):
            # A candidate waits its timeout out, so that voters do not chase each other.
            self._lose_pre_vote(role, now_ms)

    def _lose_pre_vote(self, role: Prospective, now_ms: int) -> None:
        if role.leader_id >= 0 and role.leader_id in self.voters.nodes:
            self._become_follower(self.epoch, role.leader_id, now_ms, voted=role.voted)
            return
        self.role = Unattached(self._election_deadline(now_ms), role.leader_id, role.voted)
        self._save()

    # Leading.

    def _become_leader(self, now_ms: int) -> None:
        candidate = self.role
        granted = candidate.granted if isinstance(candidate, Candidate) else set()
        role = Leader(
            epoch_start_offset=self.log_end.offset,
            granting_voters=tuple(sorted(granted)),
            progress={voter: VoterProgress() for voter in self.voters.nodes},
        )
        self.role = role
        if len(self.voters) > 1:
            role.check_quorum_deadline_ms = now_ms + self._check_quorum_ms
        self._save()
        self._effects.append(ev.AppendControl(self.epoch, self._start_of_epoch(role)))
        self._send_begin_epoch(role, now_ms)
        self._announce()

    @property
    def _check_quorum_ms(self) -> int:
        return int(self.fetch_timeout_ms * CHECK_QUORUM_FACTOR)

    def _start_of_epoch(self, role: Leader) -> tuple[object, ...]:
        """LeaderChange; and the voters, when the log lacks them or this leader has moved."""
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

    def _send_begin_epoch(self, role: Leader, now_ms: int) -> None:
        waiting = False
        for node in self.voters.nodes.values():
            progress = role.progress.setdefault(node.key.id, VoterProgress())
            if node.key.id != self.local.key.id and not progress.acknowledged:
                self._effects.append(ev.SendBeginEpoch(node.key, self.epoch))
                waiting = True
        role.begin_epoch_deadline_ms = now_ms + self.fetch_timeout_ms // 2 if waiting else NEVER

    def _begin_epoch_answered(self, event: ev.BeginEpochAnswered, now_ms: int) -> None:
        if self._follow_news(event.epoch, event.leader_id, now_ms):
            return
        role = self.role
        if isinstance(role, Leader) and event.voter_id in role.progress:
            role.progress[event.voter_id].acknowledged = True

    def _follower_fetched(self, event: ev.FollowerFetched, now_ms: int) -> None:
        role = self.role
        if not isinstance(role, Leader):
            return
        if not self.voters.is_voter(event.replica):
            progress = role.observers.setdefault(event.replica, VoterProgress())
        else:
            progress = role.progress.setdefault(event.replica.id, VoterProgress())
            progress.acknowledged = True
            role.fetched_since_check.add(event.replica.id)
            # The leader itself is one of the majority.
            if len(role.fetched_since_check) + 1 >= self.voters.majority:
                role.fetched_since_check.clear()
                role.check_quorum_deadline_ms = now_ms + self._check_quorum_ms
        progress.last_fetch_ms = now_ms
        if event.offset >= self.log_end.offset:
            progress.last_caught_up_ms = now_ms
        progress.end_offset = max(progress.end_offset, event.offset)
        self._advance_high_watermark()

    def _advance_high_watermark(self) -> None:
        """The offset that a majority of the voters, this one included, has on disk."""
        role = self.role
        if not isinstance(role, Leader):
            return
        ends = []
        for voter in self.voters.nodes:
            if voter == self.local.key.id:
                ends.append(self.flushed_offset)
            else:
                progress = role.progress.get(voter)
                ends.append(-1 if progress is None else progress.end_offset)
        if not ends:
            return
        offset = sorted(ends, reverse=True)[len(ends) // 2]
        # A record of this epoch must be among them (section 5.4.2 of the raft paper).
        if offset > role.epoch_start_offset and offset > self.high_watermark:
            self.high_watermark = offset
            self._effects.append(ev.HighWatermarkMoved(offset))

    def _resign(self, now_ms: int) -> None:
        role = self.role
        if not isinstance(role, Leader):
            return
        others = [key for key in role.progress if key != self.local.key.id]
        successors = tuple(sorted(others, key=lambda key: -role.progress[key].end_offset))
        self.role = Resigned(self._election_deadline(now_ms), successors)
        for voter in others:
            node = self.voters.nodes.get(voter)
            if node is not None:
                self._effects.append(ev.SendEndEpoch(node.key, self.epoch, successors))
        self._announce(leader_id=UNKNOWN_LEADER)

    # Following.

    def _begin_epoch_requested(self, event: ev.BeginEpochRequested, now_ms: int) -> None:
        if event.epoch < self.epoch:
            self._reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
            return
        self._follow_news(event.epoch, event.leader_id, now_ms, from_leader=True)
        self._reply(event.reply_to, ErrorCode.NONE)

    def _end_epoch_requested(self, event: ev.EndEpochRequested, now_ms: int) -> None:
        if event.epoch < self.epoch:
            self._reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
            return
        self._follow_news(event.epoch, event.leader_id, now_ms)
        role = self.role
        if isinstance(role, Follower) and role.leader_id == event.leader_id and self.is_voter:
            # The first named stands at once, the others a little later, by their place.
            me = self.local.key.id
            place = (
                event.preferred_successors.index(me)
                if me in event.preferred_successors
                else len(event.preferred_successors)
            )
            if place == 0:
                self._become_prospective(now_ms)
            else:
                role.fetch_deadline_ms = now_ms + min(
                    self.election_timeout_ms, 100 * place + self._random.randrange(100)
                )
        self._reply(event.reply_to, ErrorCode.NONE)

    def _leader_answered(self, event: ev.LeaderAnswered, now_ms: int) -> None:
        self._follow_news(event.epoch, event.leader_id, now_ms, from_leader=True)
        role = self.role
        if not isinstance(role, Follower) or event.epoch != self.epoch:
            return
        role.has_fetched = True
        role.fetch_deadline_ms = now_ms + self.fetch_timeout_ms
        offset = min(event.high_watermark, self.log_end.offset)
        if offset > self.high_watermark:
            self.high_watermark = offset
            self._effects.append(ev.HighWatermarkMoved(offset))

    def _follow_news(
        self, epoch: int, leader_id: int, now_ms: int, *, from_leader: bool = False
    ) -> bool:
        """Another replica told an epoch and a leader; True when that changed our role.

        A replica that looks for another leader follows the old one again when that speaks itself,
        not because others still know it.
        """
        if epoch < self.epoch:
            return True  # old news: nothing in that message counts
        if leader_id == self.local.key.id:
            return epoch > self.epoch
        known = leader_id in self.voters.nodes
        if known and (epoch > self.epoch or self.leader_id == UNKNOWN_LEADER):
            self._become_follower(epoch, leader_id, now_ms)
            return True
        if known and from_leader and isinstance(self.role, (Unattached, Prospective)):
            self._become_follower(epoch, leader_id, now_ms, voted=self.role.voted)
            return True
        if epoch > self.epoch:
            self._become_unattached(epoch, now_ms, leader_id)
            return True
        return False

    def _become_follower(
        self, epoch: int, leader_id: int, now_ms: int, voted: ReplicaKey | None = None
    ) -> None:
        role = self.role
        if epoch == self.epoch and voted is None and isinstance(role, (Unattached, Prospective)):
            voted = role.voted
        self.epoch = epoch
        self.role = Follower(leader_id, now_ms + self.fetch_timeout_ms, voted)
        self._save()
        self._announce()

    def _become_unattached(self, epoch: int, now_ms: int, leader_id: int = UNKNOWN_LEADER) -> None:
        """A later epoch: nobody has this replica's vote in it."""
        role = self.role
        deadline = self._election_deadline(now_ms)
        if isinstance(role, (Unattached, Candidate)):
            # An epoch raised by others must not put this replica's own election off for ever.
            deadline = min(deadline, role.election_deadline_ms)
        self.epoch = epoch
        self.role = Unattached(deadline, leader_id)
        self._save()
        self._announce()

    # Effects.

    def _save(self) -> None:
        """The quorum-state file has to change. Of two in a row only the last is written."""
        effects = self._effects
        if effects and isinstance(effects[-1], ev.SaveElection):
            effects.pop()
        effects.append(ev.SaveElection(self.election()))

    def _announce(self, leader_id: int | None = None) -> None:
        news = (self.leader_id if leader_id is None else leader_id, self.epoch)
        if news != self._announced:
            self._announced = news
            self._effects.append(ev.LeaderChanged(*news))

    def _reply(self, reply_to: object, error_code: int, *, granted: bool = False) -> None:
        self._effects.append(
            ev.Reply(reply_to, int(error_code), self.epoch, self.leader_id, granted)
        )

"""Messages of followers to their leader: how much of the log they have.

Source: Kafka's `LeaderState.java`, `KafkaRaftClient.handleFetchRequest`.
"""

from __future__ import annotations

from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_roles import Leader, VoterProgress
from pykbroker.kraft.raft.raft_state import RaftState
from pykbroker.kraft.raft.voters import ReplicaKey

# LeaderState.java: an observer that has not fetched for this long is no longer described.
OBSERVER_SESSION_MS = 300_000


def follower_fetched(raft: RaftState, event: ev.FollowerFetched, now_ms: int) -> None:
    """Handle a fetch: the replica has everything before the offset, a voter on its disk."""
    role = raft.role
    if not isinstance(role, Leader) or event.replica.id == raft.local.key.id:
        return
    if not raft.voters.is_voter(event.replica):
        if event.replica.id < 0:
            return  # a debugging consumer: nothing depends on it
        forget_silent_observers(role, now_ms)
        progress = role.observers.setdefault(event.replica, VoterProgress())
    else:
        progress = role.progress.setdefault(event.replica.id, VoterProgress())
        note_voter_alive(raft, role, event.replica, now_ms)
    note_progress(progress, event.offset, raft.log_end.offset, now_ms)
    advance_high_watermark(raft)


def note_progress(
    progress: VoterProgress, offset: int, leader_end_offset: int, now_ms: int
) -> None:
    """Record a fetch from `offset`. A replica that has fetched all that there was at its last fetch
    was caught up then, however fast the log grows.
    """
    if offset >= leader_end_offset:
        progress.last_caught_up_ms = now_ms
    elif 0 < progress.leader_end_offset <= offset:
        progress.last_caught_up_ms = progress.last_fetch_ms
    progress.leader_end_offset = leader_end_offset
    progress.last_fetch_ms = now_ms
    progress.end_offset = offset  # a lower one, too: the voter has lost what follows


def forget_silent_observers(role: Leader, now_ms: int) -> None:
    """Forget observers that have stopped fetching, since they do not announce it."""
    silent = [
        key
        for key, progress in role.observers.items()
        if now_ms - progress.last_fetch_ms > OBSERVER_SESSION_MS
    ]
    for key in silent:
        del role.observers[key]


def follower_fetched_snapshot(
    raft: RaftState, event: ev.FollowerFetchedSnapshot, now_ms: int
) -> None:
    """Record that a voter fetches a snapshot: it is alive, although its log end does not move."""
    role = raft.role
    if not isinstance(role, Leader) or event.replica.id == raft.local.key.id:
        return
    if raft.voters.is_voter(event.replica):
        note_voter_alive(raft, role, event.replica, now_ms)


def note_voter_alive(raft: RaftState, role: Leader, voter: ReplicaKey, now_ms: int) -> None:
    """Record that a voter is alive: the leader stays while a majority, including
    itself, fetches.
    """
    role.fetched_since_check.add(voter.id)
    others_needed = raft.voters.majority - (1 if raft.is_voter else 0)
    if len(role.fetched_since_check) >= others_needed:
        role.fetched_since_check.clear()
        role.check_quorum_deadline_ms = now_ms + raft.check_quorum_ms


def advance_high_watermark(raft: RaftState) -> None:
    """Advance the high watermark to the offset that a majority of voters has on disk (this one
    counts as one of them), once that includes a record of this epoch.
    """
    role = raft.role
    if not isinstance(role, Leader):
        return
    ends = []
    for voter in raft.voters.nodes:
        if voter == raft.local.key.id:
            ends.append(raft.flushed_offset)
        else:
            progress = role.progress.get(voter)
            ends.append(-1 if progress is None else progress.end_offset)
    if not ends:
        return
    offset = sorted(ends, reverse=True)[len(ends) // 2]
    # A record of this epoch must be included (section 5.4.2 of the raft paper).
    if offset > role.epoch_start_offset and offset > raft.high_watermark:
        raft.high_watermark = offset
        raft.effects.append(ev.HighWatermarkMoved(offset))

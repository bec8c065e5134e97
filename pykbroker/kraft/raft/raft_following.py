"""Messages of a leader: that it leads, that it resigns, how much is committed.

Source: Kafka's `KafkaRaftClient.java` (`handleBeginQuorumEpochRequest`, `handleFetchResponse`,
`maybeHandleCommonResponse`).
"""

from __future__ import annotations

from pykbroker.errors import ErrorCode
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.quorum_state import UNKNOWN_LEADER
from pykbroker.kraft.raft.raft_roles import Follower, Prospective, Unattached
from pykbroker.kraft.raft.raft_state import RaftState
from pykbroker.kraft.raft.voters import ReplicaKey


def begin_epoch_requested(raft: RaftState, event: ev.BeginEpochRequested, now_ms: int) -> None:
    """Handle the announcement of a leader."""
    if event.epoch < raft.epoch:
        raft.reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
        return
    follow_news(raft, event.epoch, event.leader_id, now_ms, from_leader=True)
    raft.reply(event.reply_to, ErrorCode.NONE)


def end_epoch_requested(raft: RaftState, event: ev.EndEpochRequested, now_ms: int) -> None:
    """Handle the resignation of a leader, which names its preferred successors."""
    if event.epoch < raft.epoch:
        raft.reply(event.reply_to, ErrorCode.FENCED_LEADER_EPOCH)
        return
    follow_news(raft, event.epoch, event.leader_id, now_ms)
    role = raft.role
    if isinstance(role, Follower) and role.leader_id == event.leader_id and raft.is_voter:
        backoff_ms = successor_backoff_ms(
            event.preferred_successors, raft.local.key, raft.election_backoff_max_ms
        )
        if backoff_ms == 0:
            raft.become_prospective(now_ms)
        else:
            role.fetch_deadline_ms = now_ms + backoff_ms
    raft.reply(event.reply_to, ErrorCode.NONE)


def successor_backoff_ms(
    successors: tuple[ReplicaKey, ...], me: ReplicaKey, longest_ms: int
) -> int:
    """Return how long a voter waits before standing for election after its leader has resigned.

    The leader names its successors, best first: the first stands immediately, each one after the
    second waits twice as long as the one before it, and a voter that is not named waits
    `longest_ms`. A leader that has just started
    names none, since it does not know what the others have: all stand immediately.
    """
    place = next((at for at, key in enumerate(successors) if key.matches(me)), len(successors))
    if place == 0:
        return 0
    if place >= len(successors):
        return longest_ms
    shortest_ms = longest_ms >> (len(successors) - 1)
    return min(longest_ms, shortest_ms << (place - 1))


def leader_answered(raft: RaftState, event: ev.LeaderAnswered, now_ms: int) -> None:
    """Handle an answer of the leader to a Fetch or a FetchSnapshot."""
    follow_news(raft, event.epoch, event.leader_id, now_ms, from_leader=True)
    role = raft.role
    if not isinstance(role, Follower) or event.epoch != raft.epoch:
        return
    role.has_fetched = True
    role.leader_high_watermark = max(role.leader_high_watermark, event.high_watermark)
    role.fetch_deadline_ms = now_ms + raft.fetch_timeout_ms
    offset = min(event.high_watermark, raft.log_end.offset)
    if offset > raft.high_watermark:
        raft.high_watermark = offset
        raft.effects.append(ev.HighWatermarkMoved(offset))


def snapshot_loaded(raft: RaftState, event: ev.SnapshotLoaded) -> None:
    """Handle a loaded snapshot of the leader; everything in a snapshot is committed."""
    raft.log_end = event.log_end
    raft.flushed_offset = event.log_end.offset
    raft.high_watermark = max(raft.high_watermark, event.log_end.offset)


def follow_news(
    raft: RaftState, epoch: int, leader_id: int, now_ms: int, *, from_leader: bool = False
) -> bool:
    """Handle an epoch and a leader reported by another replica; True if the
    message is to be ignored.

    `leader_id` is also UNKNOWN_LEADER if this replica cannot reach that leader. An unattached or
    prospective replica that knows the leader of its epoch follows it because of a message of that
    leader (`from_leader`), not because others still report it.
    """
    if epoch < raft.epoch:
        return True  # outdated: ignore the message
    if leader_id == raft.local.key.id:
        return epoch > raft.epoch
    known = leader_id != UNKNOWN_LEADER
    if known and (epoch > raft.epoch or raft.leader_id == UNKNOWN_LEADER):
        raft.become_follower(epoch, leader_id, now_ms)
        return True
    if known and from_leader and isinstance(raft.role, (Unattached, Prospective)):
        raft.become_follower(epoch, leader_id, now_ms)
        return True
    if epoch > raft.epoch:
        raft.become_unattached(epoch, now_ms, leader_id)
        return True
    return False

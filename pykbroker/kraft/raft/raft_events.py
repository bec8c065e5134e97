"""The inputs (events) and outputs (effects) of a raft replica.

Both are closed sets: this module is the complete interface of `Raft.step`. Effects are carried out
in order; `SaveElection` must be on disk before any later effect. `reply_to` is an opaque id of the
caller, which is returned in the reply.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.voters import ReplicaKey
from pykbroker.values import NamedTuple, value


class LogEnd(NamedTuple):
    """The end of a replica's log: the epoch of its last record, and the next offset.

    Compares as raft does: a later epoch wins, then a longer log.
    """

    epoch: int
    offset: int


# Events.


@value
class Started:
    """The log is loaded; `saved` is the content of the quorum-state file."""

    saved: ElectionState | None
    log_end: LogEnd


@value
class Tick:
    """Time has passed: the deadline of `Raft.next_deadline_ms` is reached."""


@value
class Appended:
    """The log has grown up to `log_end`; it need not be on disk yet."""

    log_end: LogEnd


@value
class Truncated:
    """The log was cut back to `log_end`, where it diverged from the leader's."""

    log_end: LogEnd


@value
class SnapshotLoaded:
    """The log was replaced by a snapshot of the leader, and begins at `log_end`."""

    log_end: LogEnd


@value
class Flushed:
    """Everything below `offset` is on disk."""

    offset: int


@value
class VoteRequested:
    """A Vote request of a candidate or, with `pre_vote`, of a prospective candidate."""

    candidate: ReplicaKey
    epoch: int
    log_end: LogEnd
    pre_vote: bool
    voter: ReplicaKey | None
    reply_to: Hashable


@value
class VoteAnswered:
    """The answer of a voter to our Vote request."""

    voter_id: int
    epoch: int
    leader_id: int
    granted: bool
    pre_vote: bool


@value
class PreVoteNotSupported:
    """A voter does not know pre-votes (Kafka before 4.0), which were asked for in `epoch`."""

    epoch: int


@value
class BeginEpochRequested:
    """A BeginQuorumEpoch request: a leader announces itself."""

    leader_id: int
    epoch: int
    reply_to: Hashable


@value
class EndEpochRequested:
    """An EndQuorumEpoch request: the leader resigns and names who should follow, best first."""

    leader_id: int
    epoch: int
    preferred_successors: tuple[ReplicaKey, ...]
    reply_to: Hashable


@value
class NewsReceived:
    """A response of another replica, of which only the epoch and the leader that it knows count."""

    epoch: int
    leader_id: int


@value
class FollowerFetchedSnapshot:
    """A replica fetched a part of a snapshot."""

    replica: ReplicaKey


@value
class FollowerFetched:
    """A replica fetched from `offset`: it has everything below, a voter on disk."""

    replica: ReplicaKey
    offset: int


@value
class LeaderAnswered:
    """An answer of the leader, which is alive, to a Fetch or a FetchSnapshot; `high_watermark` is
    -1 if the answer tells none.
    """

    leader_id: int
    epoch: int
    high_watermark: int


@value
class Resign:
    """Resign leadership, because the node is shutting down."""


Event = (
    Started
    | Tick
    | Appended
    | Truncated
    | SnapshotLoaded
    | Flushed
    | VoteRequested
    | VoteAnswered
    | PreVoteNotSupported
    | BeginEpochRequested
    | EndEpochRequested
    | NewsReceived
    | FollowerFetched
    | FollowerFetchedSnapshot
    | LeaderAnswered
    | Resign
)

# Effects.


@value
class SaveElection:
    """Write the quorum-state file and sync it before any later effect."""

    election: ElectionState


@value
class AppendControl:
    """Append one control batch with these messages in `epoch`: the leader's first, or voters."""

    epoch: int
    messages: tuple[Any, ...]


@value
class LeaderChanged:
    """Another leader or epoch is known; `leader_id` -1: no leader. With this replica's id, the
    controller may begin once everything before the epoch has been delivered.
    """

    leader_id: int
    epoch: int


@value
class HighWatermarkMoved:
    """Everything below `offset` is committed."""

    offset: int


@value
class SendVote:
    """Ask a voter for its vote. The log must be on disk up to `log_end` before this is sent;
    otherwise an election could be won with records that a crash then loses.
    """

    voter: ReplicaKey
    epoch: int
    log_end: LogEnd
    pre_vote: bool


@value
class SendBeginEpoch:
    """Tell a voter that this replica leads."""

    voter: ReplicaKey
    epoch: int


@value
class SendEndEpoch:
    """Tell a voter that this replica resigns."""

    voter: ReplicaKey
    epoch: int
    preferred_successors: tuple[ReplicaKey, ...]


@value
class Reply:
    """Answer a request of another replica; `granted` has a meaning only for votes."""

    reply_to: Hashable
    error_code: int
    epoch: int
    leader_id: int
    granted: bool = False


Effect = (
    SaveElection
    | AppendControl
    | LeaderChanged
    | HighWatermarkMoved
    | SendVote
    | SendBeginEpoch
    | SendEndEpoch
    | Reply
)

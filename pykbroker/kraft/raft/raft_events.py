"""What a raft replica is told (events) and what it wants done (effects).

Both are closed sets: this page is the whole interface of `Raft.step`. Effects are carried out in
their order; `SaveElection` must be on disk before anything behind it is done. `reply_to` is an
opaque id of the caller, which comes back in the reply.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.voters import ReplicaKey


class LogEnd(NamedTuple):
    """The end of a replica's log: the epoch of its last record, and the next offset.

    Compares as raft does: a later epoch wins, then a longer log.
    """

    epoch: int
    offset: int


# Events.


@dataclass(slots=True, frozen=True)
class Started:
    """The log is loaded; `saved` is what the quorum-state file held."""

    saved: ElectionState | None
    log_end: LogEnd


@dataclass(slots=True, frozen=True)
class Tick:
    """Time has passed: the deadline of `Raft.next_deadline_ms` is reached."""


@dataclass(slots=True, frozen=True)
class Appended:
    """The log has grown up to `log_end`; it need not be on disk yet."""

    log_end: LogEnd


@dataclass(slots=True, frozen=True)
class Truncated:
    """The log was cut back to `log_end`, where it parted from the leader's."""

    log_end: LogEnd


@dataclass(slots=True, frozen=True)
class SnapshotLoaded:
    """The log was replaced by a snapshot of the leader, and begins at `log_end`."""

    log_end: LogEnd


@dataclass(slots=True, frozen=True)
class Flushed:
    """Everything below `offset` is on disk."""

    offset: int


@dataclass(slots=True, frozen=True)
class VoteRequested:
    """A Vote request: a candidate (or with `pre_vote` one that would like to be) asks."""

    candidate: ReplicaKey
    epoch: int
    log_end: LogEnd
    pre_vote: bool
    voter: ReplicaKey | None
    reply_to: Hashable


@dataclass(slots=True, frozen=True)
class VoteAnswered:
    """The answer of a voter to our Vote request."""

    voter_id: int
    epoch: int
    leader_id: int
    granted: bool
    pre_vote: bool


@dataclass(slots=True, frozen=True)
class BeginEpochRequested:
    """A BeginQuorumEpoch request: a new leader makes itself known."""

    leader_id: int
    epoch: int
    reply_to: Hashable


@dataclass(slots=True, frozen=True)
class BeginEpochAnswered:
    """A voter knows that we lead."""

    voter_id: int
    epoch: int
    leader_id: int


@dataclass(slots=True, frozen=True)
class EndEpochRequested:
    """An EndQuorumEpoch request: the leader resigns and names who should follow, best first."""

    leader_id: int
    epoch: int
    preferred_successors: tuple[ReplicaKey, ...]
    reply_to: Hashable


@dataclass(slots=True, frozen=True)
class EndEpochAnswered:
    """A voter knows that we have resigned."""

    voter_id: int
    epoch: int
    leader_id: int


@dataclass(slots=True, frozen=True)
class NewsReceived:
    """A response of another replica that says nothing but which epoch and leader it knows."""

    epoch: int
    leader_id: int


@dataclass(slots=True, frozen=True)
class FollowerFetchedSnapshot:
    """A replica fetched a part of a snapshot."""

    replica: ReplicaKey


@dataclass(slots=True, frozen=True)
class FollowerFetched:
    """A replica fetched from `offset`: it has, on disk, everything below."""

    replica: ReplicaKey
    offset: int


@dataclass(slots=True, frozen=True)
class LeaderAnswered:
    """A Fetch answer of the leader: it lives, and this much is committed."""

    leader_id: int
    epoch: int
    high_watermark: int


@dataclass(slots=True, frozen=True)
class Resign:
    """Give leadership up: the node is shutting down, or its disk failed."""


Event = (
    Started
    | Tick
    | Appended
    | Truncated
    | SnapshotLoaded
    | Flushed
    | VoteRequested
    | VoteAnswered
    | BeginEpochRequested
    | BeginEpochAnswered
    | EndEpochRequested
    | EndEpochAnswered
    | NewsReceived
    | FollowerFetched
    | FollowerFetchedSnapshot
    | LeaderAnswered
    | Resign
)

# Effects.


@dataclass(slots=True, frozen=True)
class SaveElection:
    """Write the quorum-state file and sync it, before what follows."""

    election: ElectionState


@dataclass(slots=True, frozen=True)
class AppendControl:
    """Append one control batch with these messages in `epoch`, as the leader's first."""

    epoch: int
    messages: tuple[Any, ...]


@dataclass(slots=True, frozen=True)
class LeaderChanged:
    """Who leads is known (or -1: unknown again). With our own id: the controller may begin."""

    leader_id: int
    epoch: int


@dataclass(slots=True, frozen=True)
class HighWatermarkMoved:
    """Everything below `offset` is committed."""

    offset: int


@dataclass(slots=True, frozen=True)
class SendVote:
    """Ask a voter for its vote. The log must be on disk up to `log_end` before this goes out: or an
    election is won with records that a crash then takes away."""

    voter: ReplicaKey
    epoch: int
    log_end: LogEnd
    pre_vote: bool


@dataclass(slots=True, frozen=True)
class SendBeginEpoch:
    """Tell a voter that we lead."""

    voter: ReplicaKey
    epoch: int


@dataclass(slots=True, frozen=True)
class SendEndEpoch:
    """Tell a voter that we resign."""

    voter: ReplicaKey
    epoch: int
    preferred_successors: tuple[ReplicaKey, ...]


@dataclass(slots=True, frozen=True)
class Reply:
    """Answer a request of another replica; `granted` means something for votes alone."""

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

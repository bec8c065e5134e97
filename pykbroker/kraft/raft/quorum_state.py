"""The durable election state of a replica of the quorum: epoch, vote, leader.

    __cluster_metadata-0/quorum-state, one line of JSON:
    {"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}

Version 0 (kraft.version 0) also contains the voters, and no directory id.
Source: Kafka's `ElectionState.java`, `FileQuorumStateStore.java`, `QuorumStateData.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from pykbroker.kraft.raft.voters import ReplicaKey
from pykbroker.protocol.primitives import uuid_from_str, uuid_to_str
from pykbroker.values import NamedTuple

QUORUM_STATE_FILE: Final = "quorum-state"
UNKNOWN_LEADER: Final = -1
NOT_VOTED: Final = -1


class CorruptQuorumState(Exception):
    """A quorum-state file is damaged."""


class ElectionState(NamedTuple):
    """The state of the election in an epoch."""

    epoch: int
    leader_id: int = UNKNOWN_LEADER
    voted: ReplicaKey | None = None


def encode_quorum_state(
    election: ElectionState, kraft_version: int, voter_ids: Iterable[int]
) -> bytes:
    """Return the file's content, as Apache Kafka writes it for this kraft.version."""
    voted = election.voted
    voted_id = NOT_VOTED if voted is None else voted.id
    fields: dict[str, Any]
    if kraft_version == 0:
        fields = {
            "clusterId": "",
            "leaderId": election.leader_id,
            "leaderEpoch": election.epoch,
            "votedId": voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in voter_ids],
            "data_version": 0,
        }
    else:
        fields = {
            "leaderId": election.leader_id,
            "leaderEpoch": election.epoch,
            "votedId": voted_id,
            "votedDirectoryId": uuid_to_str(bytes(16) if voted is None else voted.directory_id),
            "data_version": 1,
        }
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_quorum_state(text: bytes) -> ElectionState:
    """Decode the file. Raises CorruptQuorumState if it is damaged or of a later version."""
    try:
        fields = json.loads(text)
        version = fields["data_version"]
        if version not in (0, 1):
            raise CorruptQuorumState(f"data_version {version} is not 0 or 1")
        voted = None
        if fields["votedId"] != NOT_VOTED:
            directory = fields["votedDirectoryId"] if version >= 1 else uuid_to_str(bytes(16))
            voted = ReplicaKey(int(fields["votedId"]), uuid_from_str(directory))
        return ElectionState(int(fields["leaderEpoch"]), int(fields["leaderId"]), voted)
    except (ValueError, KeyError, TypeError) as fault:
        raise CorruptQuorumState(f"the quorum state cannot be read: {fault}") from None

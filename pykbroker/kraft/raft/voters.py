"""The voters of the metadata quorum, and the changes of the voter set along the log (KIP-853).

From kraft.version 1 on, a voter is a node id *and* the id of its log directory: a node that lost
its disk is a different voter.
Source: Kafka's `VoterSet.java`, `ReplicaKey.java`, `VoterSetHistory.java`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from pykbroker.kraft.metadata_version import KRAFT_VERSION, SUPPORTED_FEATURES, VersionRange
from pykbroker.protocol.messages.voters_record import (
    Endpoint,
    KRaftVersionFeature,
    Voter,
    VotersRecord,
)
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.values import NamedTuple


class ReplicaKey(NamedTuple):
    """A replica of the metadata log. A directory id of zero means unknown."""

    id: int
    directory_id: bytes = ZERO_UUID

    def matches(self, other: ReplicaKey) -> bool:
        """Return whether both may be the same replica: unknown directory ids match any."""
        if self.id != other.id:
            return False
        known = ZERO_UUID not in (self.directory_id, other.directory_id)
        return not known or self.directory_id == other.directory_id


class VoterEndpoint(NamedTuple):
    """A controller listener of a voter."""

    name: str
    host: str
    port: int


class VoterNode(NamedTuple):
    """A voter, its endpoints, and the kraft.version levels it supports."""

    key: ReplicaKey
    endpoints: tuple[VoterEndpoint, ...]
    kraft_versions: VersionRange = SUPPORTED_FEATURES[KRAFT_VERSION]


class VoterSet:
    """Voters by node id. Immutable."""

    __slots__ = ("nodes",)

    def __init__(self, nodes: Iterable[VoterNode] = ()) -> None:
        self.nodes: dict[int, VoterNode] = {node.key.id: node for node in nodes}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self.nodes == other.nodes

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.nodes.values())))

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"VoterSet({list(self.nodes.values())!r})"

    @property
    def ids(self) -> list[int]:
        """The node ids, in the set's order."""
        return list(self.nodes)

    @property
    def majority(self) -> int:
        """How many voters form a majority."""
        return len(self.nodes) // 2 + 1

    def is_voter(self, key: ReplicaKey) -> bool:
        """Return whether this replica, including its directory if both are known, is a voter."""
        node = self.nodes.get(key.id)
        return node is not None and node.key.matches(key)

    def is_only_voter(self, key: ReplicaKey) -> bool:
        """Return whether this replica is the whole quorum."""
        return len(self.nodes) == 1 and self.is_voter(key)

    def with_voter(self, node: VoterNode) -> VoterSet:
        """Return the set with this voter added or updated."""
        return VoterSet([*(self.nodes | {node.key.id: node}).values()])

    @classmethod
    def from_record(cls, record: Any) -> VoterSet:
        """Create from a `VotersRecord`."""
        return cls(
            VoterNode(
                ReplicaKey(voter.voter_id, voter.voter_directory_id),
                tuple(VoterEndpoint(at.name, at.host, at.port) for at in voter.endpoints),
                VersionRange(
                    voter.kraft_version_feature.min_supported_version,
                    voter.kraft_version_feature.max_supported_version,
                ),
            )
            for voter in record.voters
        )

    def to_record(self) -> VotersRecord:
        """Return the `VotersRecord` of this set."""
        return VotersRecord(
            voters=[
                Voter(
                    voter_id=node.key.id,
                    voter_directory_id=node.key.directory_id,
                    endpoints=[
                        Endpoint(name=at.name, host=at.host, port=at.port) for at in node.endpoints
                    ],
                    kraft_version_feature=KRaftVersionFeature(
                        min_supported_version=node.kraft_versions.min,
                        max_supported_version=node.kraft_versions.max,
                    ),
                )
                for node in self.nodes.values()
            ]
        )


class QuorumHistory:
    """kraft.version and voters, by the offset of the control record that set them, or of the last
    record in the snapshot that holds them.

    Uncommitted voters take effect immediately (KIP-853), so a truncation of the log must revert
    them. Offset -1 means that the value is not from the log but from the bootstrap checkpoint. A
    static list, which applies where there is nothing else, has no offset.
    """

    def __init__(self, static_voters: VoterSet) -> None:
        self._static = static_voters
        self._voters: list[tuple[int, VoterSet]] = []
        self._kraft_versions: list[tuple[int, int]] = []

    @property
    def voters(self) -> VoterSet:
        """The latest voters."""
        return self._voters[-1][1] if self._voters else self._static

    @property
    def voters_offset(self) -> int | None:
        """The offset of the latest voters, -1 if they are from the bootstrap checkpoint; None if
        only a static list applies.
        """
        return self._voters[-1][0] if self._voters else None

    @property
    def kraft_version(self) -> int:
        """The latest kraft.version."""
        return self._kraft_versions[-1][1] if self._kraft_versions else 0

    def add_voters(self, offset: int, voters: VoterSet) -> None:
        """Add a `VotersRecord` at `offset`."""
        self._voters.append((offset, voters))

    def add_kraft_version(self, offset: int, kraft_version: int) -> None:
        """Add a `KRaftVersionRecord` at `offset`."""
        self._kraft_versions.append((offset, kraft_version))

    def truncate_to(self, offset: int) -> None:
        """Remove entries from `offset` on, because the log was truncated."""
        del self._voters[bisect_left([at for at, _ in self._voters], offset) :]
        del self._kraft_versions[bisect_left([at for at, _ in self._kraft_versions], offset) :]

    def at(self, offset: int) -> tuple[int, VoterSet]:
        """Return kraft.version and voters as of a snapshot that ends at `offset` (exclusive)."""
        kraft_version = next((v for at, v in reversed(self._kraft_versions) if at < offset), 0)
        voters = next((v for at, v in reversed(self._voters) if at < offset), self._static)
        return kraft_version, voters

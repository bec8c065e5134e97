"""Voters, and their history along the log."""

from __future__ import annotations

from pykbroker.kraft.raft.voters import (
    QuorumHistory,
    ReplicaKey,
    VoterEndpoint,
    VoterNode,
    VoterSet,
)


def node(node_id: int, directory: bytes = b"d" * 16, port: int = 9093) -> VoterNode:
    return VoterNode(ReplicaKey(node_id, directory), (VoterEndpoint("CONTROLLER", "h", port),))


def test_a_directory_makes_a_voter() -> None:
    voters = VoterSet([node(1)])
    assert voters.is_only_voter(ReplicaKey(1, b"d" * 16))
    assert voters.is_voter(ReplicaKey(1))  # the directory is not known yet
    assert not voters.is_voter(ReplicaKey(1, b"e" * 16))
    assert not voters.is_voter(ReplicaKey(2, b"d" * 16))


def test_majorities() -> None:
    sizes = {count: VoterSet(node(at) for at in range(count)).majority for count in (1, 2, 3, 4, 5)}
    assert sizes == {1: 1, 2: 2, 3: 2, 4: 3, 5: 3}


def test_a_record_makes_the_same_set() -> None:
    voters = VoterSet([node(1), node(2, port=9094)])
    assert VoterSet.from_record(voters.to_record()) == voters
    assert hash(VoterSet([node(1)])) == hash(VoterSet([node(1)]))


def test_a_voter_moves() -> None:
    moved = VoterSet([node(1)]).with_voter(node(1, port=1))
    assert moved.nodes[1].endpoints[0].port == 1
    assert moved.with_voter(node(2)).ids == [1, 2]


def test_history_is_cut_with_the_log() -> None:
    static, first, second = VoterSet([node(9)]), VoterSet([node(1)]), VoterSet([node(1), node(2)])
    history = QuorumHistory(static)
    assert (history.voters, history.voters_offset, history.kraft_version) == (static, None, 0)
    history.add_kraft_version(-1, 1)
    history.add_voters(-1, first)
    history.add_voters(20, second)
    assert (history.voters, history.voters_offset, history.kraft_version) == (second, 20, 1)
    assert history.at(20) == (1, first)
    assert history.at(21) == (1, second)
    history.truncate_to(20)
    assert (history.voters, history.voters_offset) == (first, -1)

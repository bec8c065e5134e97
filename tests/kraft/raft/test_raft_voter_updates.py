"""Voters report their endpoints to the leader."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.kraft.raft import raft_rpc
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode
from tests.kraft.quorum_world import QuorumNode, QuorumWorld, over_the_wire

MOVED = VoterNode(ReplicaKey(2, b"2" * 16), (VoterEndpoint("CONTROLLER", "elsewhere", 7),))


def ask(world: QuorumWorld, node: QuorumNode, voter: VoterNode, **changes: Any) -> Any:
    message = raft_rpc.make_update_voter(world.cluster_id, voter, node.raft.epoch)
    for name, value in changes.items():
        setattr(message, name, value)
    outcome, _ = node.handle(over_the_wire(message, type(message), 0), 0)
    if isinstance(outcome, Deferred):
        outcome = world.settle(outcome)
    return ErrorCode(outcome.error_code)


@pytest.fixture
def world() -> QuorumWorld:
    world = QuorumWorld(3)
    world.leader()
    world.advance(1_000)
    return world


def test_static_voters_stay_as_they_are(world: QuorumWorld) -> None:
    leader = world.leader()
    before = leader.raft.voters
    assert ask(world, leader, MOVED) is ErrorCode.NONE
    assert leader.raft.voters == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"current_leader_epoch": 99}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ({"voter_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"voter_directory_id": bytes(16)}, ErrorCode.INVALID_REQUEST),
        ({"listeners": []}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_refusals(world: QuorumWorld, changes: dict[str, Any], code: ErrorCode) -> None:
    assert ask(world, world.leader(), MOVED, **changes) is code


def test_a_follower_does_not_answer(world: QuorumWorld) -> None:
    leader = world.leader()
    follower = next(node for node in world.nodes.values() if node is not leader)
    assert ask(world, follower, MOVED) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_voters_in_the_log_are_updated_and_committed(world: QuorumWorld) -> None:
    leader = world.leader()
    moving = next(node for node in world.nodes.values() if node is not leader)
    key = moving.raft.local.key
    for node in world.nodes.values():  # as if the quorum had been upgraded to kraft.version 1
        node.raft.history.add_kraft_version(0, 1)
        node.raft.history.add_voters(
            0, node.raft.voters.with_voter(moving.raft.local._replace(key=key))
        )
    moved = VoterNode(key, (VoterEndpoint("CONTROLLER", "127.0.0.1", 9000 + key.id),) * 2)
    assert ask(world, leader, moved) is ErrorCode.NONE
    world.advance(1_000)
    for node in world.nodes.values():
        assert node.raft.voters.nodes[key.id] == moved
    stranger = moved._replace(key=ReplicaKey(77, b"7" * 16))
    assert ask(world, leader, stranger) is ErrorCode.VOTER_NOT_FOUND

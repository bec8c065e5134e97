"""Quorums of several voters through the real drivers: elections, failover, observers, snapshots."""

from __future__ import annotations

import random

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.raft import raft_events as ev
from tests.kraft.quorum_world import QuorumWorld


def test_three_voters_elect_and_replicate() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    for via in world.nodes.values():
        reply = world.settle(world.change(via, via.node_id))
        assert reply.error_code == 0
    world.advance(1_000)
    for node in world.nodes.values():
        assert all(world.has(node, number) for number in (1, 2, 3))
    world.agree()
    assert leader.raft.high_watermark > 3


def test_an_observer_follows_and_learns_of_a_new_leader() -> None:
    world = QuorumWorld(3, observers=1)
    old = world.leader()
    observer = world.nodes[4]
    world.advance(2_000)
    assert observer.raft.leader_id == old.node_id
    assert observer.driver.image.offset > 0
    before = observer.driver.image.offset
    old.kill()
    new = world.leader()
    world.advance(5_000)
    assert observer.raft.leader_id == new.node_id
    assert observer.driver.image.offset > before


def test_a_leader_that_died_follows_when_it_comes_back() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    old.kill()
    new = world.leader()
    world.settle(world.change(new, 1))
    old.start()
    world.advance(5_000)
    assert old.raft.leader_id == new.node_id
    world.agree()


def test_records_that_only_a_lost_leader_had_are_cut() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    others = [node.node_id for node in world.nodes.values() if node is not old]
    world.cut |= {(old.node_id, other) for other in others}
    world.cut |= {(other, old.node_id) for other in others}
    lost = world.change(old, 1, timeout_ms=500)
    world.advance(10_000)
    assert isinstance(lost.value, KafkaError)
    new = world.leader() if world.leader() is not old else None
    assert new is not None
    world.settle(world.change(new, 2))
    world.cut.clear()
    world.advance(5_000)
    world.agree()
    assert (world.has(old, 1), world.has(old, 2)) == (False, True)
    assert not old.raft.is_leader


def test_a_lagging_voter_fetches_a_snapshot() -> None:
    world = QuorumWorld(3, metadata_max_retention_bytes="1")
    leader = world.leader()
    late = next(node for node in world.nodes.values() if node is not leader)
    late.kill()
    for number in range(5):
        world.settle(world.change(leader, number))
    leader.driver.take_snapshot()
    world.advance(120_000)
    assert leader.driver.raft.log.start_offset > 0
    late.start()
    world.advance(10_000)
    world.agree()
    assert late.driver.raft.log.start_offset > 0


def test_a_leader_that_leaves_hands_over_at_once() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    epoch = old.raft.epoch
    from pykbroker.deferred import spawn

    leaving = spawn(old.driver.leave_quorum())
    began = world.now_ms
    while not any(n.raft.is_leader for n in world.nodes.values() if n is not old):
        world.advance(10)
        assert world.now_ms - began < 1_000, "the others waited for their fetch timeouts"
    world.settle(leaving)
    assert world.leader().raft.epoch > epoch


def test_a_minority_decides_nothing() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    for node in world.nodes.values():
        if node is not leader:
            node.kill()
    world.advance(10_000)
    assert not leader.raft.is_leader
    reply = world.change(leader, 1, timeout_ms=1_000)
    world.advance(2_000)
    assert reply.value.code == ErrorCode.REQUEST_TIMED_OUT


@pytest.mark.parametrize("seed", range(6))
def test_faults_lose_and_change_nothing_that_was_committed(seed: int) -> None:
    """Crashes, cut links and lost messages; the checks stand in QuorumWorld."""
    world = QuorumWorld(3 + seed % 2 * 2, observers=1, seed=seed)
    dice = random.Random(seed)
    world.loss = 0.02
    pending = []
    voters = [node for node in world.nodes.values() if node.config.is_controller]
    for number in range(60):
        node = dice.choice(voters)
        action = dice.randrange(6)
        down = [each for each in voters if not each.up]
        if action == 0 and len(down) < (len(voters) - 1) // 2 and node.up:
            node.kill()
        elif action == 1 and down:
            dice.choice(down).start()
        elif action == 2:
            other = dice.choice(voters)
            world.cut.add((node.node_id, other.node_id))
        elif action == 3:
            world.cut.clear()
        elif node.up:
            pending.append((number, world.change(node, number, timeout_ms=8_000)))
        world.advance(dice.randint(10, 1_500))
    world.cut.clear()
    world.loss = 0.0
    for node in voters:
        if not node.up:
            node.start()
    world.advance(15_000)
    leader = world.leader()
    world.agree()
    promised = [
        number
        for number, reply in pending
        if reply.done and not isinstance(reply.value, KafkaError)
    ]
    assert promised, f"seed {seed}: nothing was decided"
    for number in promised:
        assert world.has(leader, number), f"seed {seed}: change {number} was promised and is lost"


def test_a_vote_that_cannot_be_written_is_not_given() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    voter, other = (node for node in world.nodes.values() if node is not old)

    def fail(name: str, path: str) -> OSError | None:
        return OSError(5, "bad disk", path) if path.endswith("quorum-state.tmp") else None

    voter.files.fail = fail
    epoch = voter.raft.epoch + 1
    vote = ev.VoteRequested(
        other.raft.local.key,
        epoch,
        ev.LogEnd(epoch - 1, 1_000_000),
        pre_vote=False,
        voter=None,
        reply_to=1,
    )
    with pytest.raises(KafkaError) as refused:
        voter.driver.raft.answer(vote)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert len(voter.fatal) == 1
    with pytest.raises(KafkaError):  # not from memory either
        voter.driver.raft.answer(vote)
    assert len(voter.fatal) == 1

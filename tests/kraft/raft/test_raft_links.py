"""What a replica of several voters asks of the others, and that a lone one asks nothing."""

from __future__ import annotations

from tests.kraft.node_world import NodeWorld
from tests.kraft.quorum_world import QuorumWorld


def test_a_lone_voter_has_nobody_to_ask() -> None:
    world = NodeWorld().open()
    assert world.node._links is None
    assert world.settle(world.create("t")).topics[0].error_code == 0


def test_voters_and_observers_follow_until_they_stop() -> None:
    world = QuorumWorld(3, observers=1)
    leader = world.leader()
    world.settle(world.change(leader, 1))
    world.advance(1_000)
    observer = world.nodes[4]
    links = observer.driver._links
    assert links is not None
    assert world.has(observer, 1)
    links.stop()
    world.settle(world.change(leader, 2))
    world.advance(5_000)
    assert not world.has(observer, 2)
    links.start()
    world.advance(5_000)
    assert world.has(observer, 2)


def test_votes_in_flight_are_counted_until_they_are_answered() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    others = [node for node in world.nodes.values() if node is not leader]
    leader.kill()
    world.cut |= {(a.node_id, b.node_id) for a in others for b in others if a is not b}
    counts = set()
    for _ in range(500):
        world.advance(10)
        counts |= {node.driver._links.in_flight for node in others if node.driver._links}
    assert max(counts) > 0
    world.cut.clear()
    world.leader()
    world.advance(10_000)
    assert all(node.driver._links.in_flight <= 1 for node in others if node.driver._links)

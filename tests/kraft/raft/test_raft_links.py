"""What a replica of several voters asks of the others, and that a lone one asks nothing."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.protocol.messages.fetch_request import FetchRequest
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


def test_a_voter_that_nobody_answers_does_not_ask_more_and_more() -> None:
    world = QuorumWorld(3)
    alone = world.leader()
    for node in world.nodes.values():
        if node is not alone:
            node.kill()
    world.advance(40_000)
    links = alone.driver._links
    assert links is not None
    counts = []
    for _ in range(1_000):
        world.advance(10)
        counts.append(links.in_flight)
    assert 1 <= max(counts) <= 4  # the last question to each of two voters, and the one before


@pytest.mark.parametrize("can_become_voter", [False, True])
def test_what_a_future_voter_reports_is_on_its_disk(
    monkeypatch: pytest.MonkeyPatch, can_become_voter: bool
) -> None:
    world = QuorumWorld(3, observers=1)
    observer = world.nodes[4]
    assert observer.driver._links is not None
    observer.driver._links._fetcher._can_become_voter = can_become_voter
    carry, unsynced = world.carry, []

    def watched(sender: Any, peer: Any, message: Any, deadline_ms: int) -> Any:
        if sender is observer and isinstance(message, FetchRequest):
            (topic,) = message.topics
            if topic.partitions[0].fetch_offset > sender.raft.flushed_offset:
                unsynced.append(topic.partitions[0].fetch_offset)
        return carry(sender, peer, message, deadline_ms)

    monkeypatch.setattr(world, "carry", watched)
    leader = world.leader()
    for number in range(1, 20):
        world.settle(world.change(leader, number))
    world.agree()
    assert bool(unsynced) is not can_become_voter

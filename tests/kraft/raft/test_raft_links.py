"""What a replica of several voters asks of the others, and that a lone one asks nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_messenger_driver import RaftMessenger
from pykbroker.kraft.raft.raft_roles import Prospective
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.protocol.messages import vote_response
from pykbroker.protocol.messages.fetch_request import FetchRequest
from tests.kraft.node_world import NodeWorld
from tests.kraft.quorum_world import QuorumWorld
from tests.kraft.raft_world import voter


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


def test_the_answer_to_an_earlier_question_does_not_count() -> None:
    answers: list[Deferred] = []
    events: list[ev.Event] = []

    def send(peer: object, message: object, deadline_ms: int) -> Deferred:
        answers.append(Deferred())
        return answers[-1]

    parts: Any = {
        "raft": SimpleNamespace(local=voter(1), epoch=3, role=Prospective(1000)),
        "peers": SimpleNamespace(
            find=lambda node_id: node_id, reachable=lambda node_id: node_id, learn=lambda *_: None
        ),
        "scheduler": None,
    }
    messenger = RaftMessenger(
        **parts,
        cluster_id="cluster",
        send=send,
        step=events.append,
        now_ms=lambda: 0,
        request_timeout_ms=1000,
        retry_backoff_ms=10,
    )
    for _ in range(2):
        messenger.send_vote(ev.SendVote(voter(2).key, 3, ev.LogEnd(2, 10), True))
    for answer, granted in zip(answers, (False, True), strict=True):
        partition = vote_response.PartitionData(
            partition_index=0, leader_id=-1, leader_epoch=3, vote_granted=granted
        )
        topic = vote_response.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
        answer.resolve(vote_response.VoteResponse(topics=[topic]))
    assert events == [ev.VoteAnswered(2, 3, -1, True, True)]


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

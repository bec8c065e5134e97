"""Lives of a quorum of three simulated nodes under faults.

PYKBROKER_QUORUM_SEEDS=1000 runs more of them; a failure prints the command that repeats its seed.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.kraft.raft.raft_roles import Candidate, Prospective, Unattached
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.testing.world.__main__ import Kind, live
from pykbroker.testing.world.node import NodeState
from pykbroker.testing.world.quorum_invariants import QuorumRules
from pykbroker.testing.world.three_voters import ThreeVoters
from pykbroker.testing.world.world import Violation
from tests.log.log_makers import append, memory_disk, open_orders

SEEDS = int(os.environ.get("PYKBROKER_QUORUM_SEEDS", "40"))
CHUNKS = 4
THREE = Kind(nodes=3)
LARGE = (Kind(nodes=5), Kind(nodes=7), Kind(nodes=3, controllers=5), Kind(nodes=3, controllers=7))
LARGE_SEEDS = max(2, SEEDS // 20)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_lives(chunk: int) -> None:
    for seed in range(chunk, SEEDS, CHUNKS):
        _, failure = live(seed, THREE)
        assert not failure, failure


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE, ids=lambda kind: f"{kind.nodes} {kind.controllers}")
def test_lives_of_large_quorums(kind: Kind) -> None:
    """Up to seven voters; with controllers apart, three brokers observe them."""
    for seed in range(LARGE_SEEDS):
        _, failure = live(seed, kind)
        assert not failure, failure


def test_a_seed_repeats() -> None:
    assert live(2, THREE) == live(2, THREE)


def test_lives_are_full_of_events() -> None:
    epochs = changes = faults = starts = committed = 0
    for seed in range(8):
        life = ThreeVoters(seed)
        with life.world.logs_captured():
            life.run()
        assert life.faults is not None
        faults += life.faults.count
        epochs += life.rules.epochs_led
        committed += life.rules.committed_end
        changes += sum(client.changes for client in life.administrators)
        starts += sum(node.starts for node in life.nodes)
    assert epochs > 12
    assert committed > 300
    assert changes > 60
    assert faults > 40
    assert starts > 40


class Stage:
    """Nodes that are played, and the rules that look at them."""

    def __init__(self) -> None:
        self.nodes = [self._node(number) for number in (1, 2)]
        self.rules = QuorumRules()

    @staticmethod
    def _node(number: int) -> Any:
        raft = SimpleNamespace(
            epoch=1,
            high_watermark=-1,
            is_leader=False,
            log_end=object(),
            role=Unattached(0),
            voters=SimpleNamespace(majority=2),
        )
        files = memory_disk()
        log = SimpleNamespace(end=SimpleNamespace(offset=0), log=open_orders(files))
        driver = SimpleNamespace(raft=raft, log=log)
        return SimpleNamespace(
            node_id=number,
            name=f"node-{number}",
            starts=1,
            state=NodeState.UP,
            has_failed=False,
            machine=SimpleNamespace(files=files),
            server=SimpleNamespace(kraft=SimpleNamespace(raft=driver)),
        )

    def raft(self, number: int) -> Any:
        return self.nodes[number - 1].server.kraft.raft.raft

    def log(self, number: int) -> Any:
        return self.nodes[number - 1].server.kraft.raft.log

    def commit(self, number: int, epoch: int, topic: str) -> None:
        """The node has one more record, which is committed."""
        log = self.log(number)
        record = MetadataRecord(TopicRecord(name=topic, topic_id=b"t" * 16))
        offset = append(log.log, encode_metadata_record(record), epoch=epoch)
        log.end.offset = self.raft(number).high_watermark = offset + 1

    def check(self, number: int) -> None:
        node = self.nodes[number - 1]
        self.rules.check(node, node.server)


def test_two_leaders_of_an_epoch_are_noticed() -> None:
    stage = Stage()
    stage.raft(1).is_leader = stage.raft(2).is_leader = True
    stage.check(1)
    with pytest.raises(Violation, match="led by node 1 and node 2"):
        stage.check(2)


def test_an_epoch_that_goes_back_is_noticed() -> None:
    stage = Stage()
    stage.raft(1).epoch = 5
    stage.check(1)
    stage.raft(1).epoch = 4
    with pytest.raises(Violation, match="went from"):
        stage.check(1)
    stage.nodes[0].starts = 2
    with pytest.raises(Violation, match="came back in epoch 4"):
        stage.check(1)


def test_another_record_at_a_committed_offset_is_noticed() -> None:
    stage = Stage()
    stage.commit(1, 1, "a")
    stage.check(1)
    stage.commit(2, 1, "a")
    stage.check(2)
    stage.commit(1, 1, "b")
    stage.check(1)
    stage.commit(2, 1, "other")
    with pytest.raises(Violation, match="elsewhere"):
        stage.check(2)


def test_what_is_committed_is_told_once() -> None:
    stage = Stage()
    told: list[str] = []
    stage.rules.on_committed = lambda batch: told.extend(
        record.message.name for record in batch.records
    )
    for topic in ("a", "b"):
        for number in (1, 2):
            stage.commit(number, 1, topic)
            stage.check(number)
    assert told == ["a", "b"]
    assert stage.rules.committed_end == 2


def test_a_leader_without_a_committed_record_is_noticed() -> None:
    stage = Stage()
    stage.commit(1, 1, "a")
    stage.check(1)
    stage.raft(2).epoch = 2
    stage.raft(2).is_leader = True
    with pytest.raises(Violation, match="committed is 1"):
        stage.check(2)


@pytest.mark.parametrize("end", [0, 1])
def test_a_leader_whose_epoch_is_over_has_what_was_committed_before_it(end: int) -> None:
    stage = Stage()
    stage.commit(1, 1, "a")
    stage.check(1)
    stage.raft(1).epoch = 3
    stage.commit(1, 3, "b")
    stage.check(1)
    stage.raft(2).epoch = 2
    stage.raft(2).is_leader = True
    stage.log(2).end.offset = end
    with nullcontext() if end else pytest.raises(Violation, match="at 0; committed is 1"):
        stage.check(2)


def test_a_high_watermark_that_goes_back_is_noticed() -> None:
    stage = Stage()
    stage.commit(1, 1, "a")
    stage.check(1)
    stage.raft(1).high_watermark = 0
    with pytest.raises(Violation, match="went from"):
        stage.check(1)


def test_a_candidate_that_did_not_ask_before_is_noticed() -> None:
    stage = Stage()
    stage.raft(1).role = Candidate(0)  # as it was before its restart
    stage.check(1)
    stage.raft(1).role = Prospective(0, granted={1})
    stage.check(1)
    stage.raft(1).role = Candidate(0)
    stage.check(1)
    stage.raft(2).role = Prospective(0)
    stage.check(2)
    stage.raft(2).role = Candidate(0)
    with pytest.raises(Violation, match="it was Prospective, and 0 voters"):
        stage.check(2)


@pytest.mark.parametrize("seed", [70079, 70218, 100186, 102407])
def test_nodes_that_come_back_late_answer_late(seed: int) -> None:
    """They were asked to stop, or wait for an answer of a node that has lost its power since. What
    they were asked before may happen then."""
    _, failure = live(seed, THREE)
    assert not failure, failure

"""Lives of three simulated brokers that replicate, under faults.

PYKBROKER_CLUSTER_SEEDS=1000 runs more of them; a failure prints the command that repeats its seed.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.kraft.image import MetadataImage
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.testing.world.__main__ import Kind, live
from pykbroker.testing.world.several_brokers import SeveralBrokers
from pykbroker.testing.world.shape import Shape
from pykbroker.testing.world.transaction_ledger import Outcome
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, append, memory_disk, open_orders

FULL = range(5)
SEEDS = int(os.environ.get("PYKBROKER_CLUSTER_SEEDS", "8"))
CHUNKS = 4
THREE = Kind(nodes=3, is_cluster=True)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_lives(chunk: int) -> None:
    for seed in range(FULL.stop + chunk, FULL.stop + SEEDS, CHUNKS):
        _, failure = live(seed, THREE)
        assert not failure, failure


@pytest.mark.slow
def test_a_life_with_controllers_of_their_own() -> None:
    _, failure = live(1, THREE._replace(controllers=5))
    assert not failure, failure


def test_in_sync_replicas_are_checked_when_a_controller_of_its_own_commits() -> None:
    """The next event of a broker may be after the next commit."""
    life = SeveralBrokers(1, shape=Shape(3, controllers=5))
    for node in life.nodes:
        life.rules.image = MetadataImage()
        node.check_rules()
        assert life.rules.image is None, node.name


@pytest.mark.parametrize("is_short", [True, False])
def test_a_log_that_ends_in_a_gap_waits_for_a_record(
    is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_orders(memory_disk())
    partition: Any = SimpleNamespace(
        is_leader=True, log=log, may_append=lambda acks: not (is_short and acks == ACKS_ALL)
    )
    life = SeveralBrokers(1)
    monkeypatch.setattr(life, "_hosted_by", lambda node: [(TopicPartition("t", 0), partition)])
    append(log, b"a", epoch=0)
    assert not life._waits_for_a_record()
    log.queue.roll(NOW_MS, 5)
    log.local.log_end_offset = 5
    assert life._waits_for_a_record() is is_short
    log.truncate_fully_and_start_at(5, NOW_MS)  # empty, without a gap
    assert not life._waits_for_a_record()


@pytest.mark.slow
def test_a_seed_repeats() -> None:
    assert live(2, THREE) == live(2, THREE)


@pytest.mark.slow
def test_lives_are_full_of_events() -> None:
    """A world in which nothing happens would prove nothing."""
    acknowledged = read = commits = faults = starts = elections = moves = committed = cuts = 0
    for seed in FULL:
        life = SeveralBrokers(seed, shape=Shape(3))
        with life.world.logs_captured():
            life.run()
        assert life.faults is not None
        acknowledged += sum(producer.acknowledged for producer in life.producers)
        read += sum(reader.records_read for reader in life.readers)
        commits += life.group.commits
        faults += life.faults.count
        starts += sum(node.starts for node in life.nodes)
        elections += sum(life.rules.leader_changes.values())
        cuts += life.rules.cuts
        moves += sum(client.changes for client in life.reassigners)
        if life.transactions is not None:
            outcomes = [each.outcome for each in life.transactions.ledger.transactions]
            committed += outcomes.count(Outcome.COMMITTED)
    assert acknowledged > 400
    assert read > 500
    assert commits > 20
    assert faults > 20
    assert starts > 30
    assert elections > 60
    assert cuts > 0
    assert moves > 0
    assert committed > 10

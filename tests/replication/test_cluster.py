"""Nodes that replicate for each other, under faults: nothing acknowledged is lost."""

from __future__ import annotations

import pytest

from tests.replication.cluster import Cluster


def test_records_reach_every_replica_and_are_acknowledged() -> None:
    cluster = Cluster(seed=1)
    cluster.settle()
    for number in (0, 1, 0):
        assert cluster.produce(number) is not None
        cluster.advance(100)
    assert cluster.acknowledged == 3
    cluster.settle()


@pytest.mark.parametrize("seed", range(16))
def test_nothing_acknowledged_is_lost(seed: int) -> None:
    cluster = Cluster(seed)
    dice = cluster.dice
    cluster.settle()
    for _ in range(80):
        action = dice.random()
        nodes = list(cluster.members)
        up = [n for n in nodes if cluster.members[n].is_up]
        if action < 0.55:
            for _ in range(dice.randint(1, 5)):
                cluster.produce(dice.randrange(2), dice.choice([None, *up]))
        elif action < 0.65 and len(up) > 1:
            cluster.crash(dice.choice(up))
        elif action < 0.78 and len(up) < len(nodes):
            cluster.start(dice.choice([n for n in nodes if n not in up]))
        elif action < 0.85:
            cluster.cuts.add((dice.choice(nodes), dice.choice(nodes)))
        elif action < 0.92:
            cluster.cuts.clear()
        else:
            cluster.controller.elect(dice.randrange(2))
            cluster.controller.publish()
        cluster.advance(dice.choice([1, 5, 10, 20, 50, 100, 700, 4000]))
    cluster.heal()
    cluster.settle()
    assert cluster.acknowledged > 0

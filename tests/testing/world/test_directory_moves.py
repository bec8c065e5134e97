"""Lives with several log directories: replicas move, and moves are interrupted."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.__main__ import Kind, live
from pykbroker.testing.world.directory_moves import directories_of
from pykbroker.testing.world.one_node import OneNode
from pykbroker.testing.world.several_brokers import SeveralBrokers
from pykbroker.testing.world.shape import Shape


def test_every_other_life_has_two_or_three_directories() -> None:
    counts = [len(directories_of(seed).get("log.dirs", "/data").split(",")) for seed in range(40)]
    assert counts[::2] == [1] * 20
    assert set(counts[1::2]) == {2, 3}


@pytest.mark.slow
def test_lives_have_many_moves_and_interruptions() -> None:
    moves = granted = interruptions = 0
    for seed in range(1, 25, 2):
        life = OneNode(seed)
        with life.world.logs_captured():
            life.run()
        assert life.moves is not None
        assert life.moves.interruptions is not None
        moves += life.moves.rules.moves
        granted += life.moves.ledger.granted
        interruptions += life.moves.interruptions.count
    assert moves > 20
    assert granted > 60
    assert interruptions > 3


@pytest.mark.slow
def test_replicas_of_a_cluster_move_between_directories() -> None:
    moves = 0
    for seed in (1, 3):
        life = SeveralBrokers(seed, shape=Shape(3))
        with life.world.logs_captured():
            life.run()
        assert life.moves is not None
        moves += life.moves.rules.moves
    assert moves > 5


@pytest.mark.slow
def test_a_life_with_directories_repeats() -> None:
    assert live(29, Kind()) == live(29, Kind())

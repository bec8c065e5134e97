"""Dice that a seed decides."""

from __future__ import annotations

from pykbroker.testing.world.randomness import Dice, pick


def test_each_purpose_has_a_stream_of_its_own() -> None:
    assert [Dice(1, "a").random() for _ in range(2)] == [Dice(1, "a").random()] * 2
    assert len({Dice(1, "a").random(), Dice(1, "b").random(), Dice(2, "a").random()}) == 3


def test_weights() -> None:
    dice = Dice(1, "weights")
    drawn = [pick(dice, {"often": 9, "seldom": 1, "never": 0}) for _ in range(500)]
    assert set(drawn) == {"often", "seldom"}
    assert drawn.count("often") > 400
    assert 20 < sum(dice.one_in(10) for _ in range(500)) < 90

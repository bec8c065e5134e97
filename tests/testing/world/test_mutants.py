"""Every broken rule is noticed by some life.

The seed that is written down with a mutant comes first; when the world has changed, another one
may be needed: `python -m pykbroker.testing.world --mutants NAME` finds it.
"""

from __future__ import annotations

from functools import partial

import pytest

from pykbroker.testing.world.__main__ import KINDS, failure_of
from pykbroker.testing.world.mutants.hunt import MUTANTS, BrokenMutant, hunt
from pykbroker.testing.world.mutants.mutant import (
    CLUSTER,
    ONE_NODE,
    QUORUM,
    Mutant,
    Patch,
    applied,
    returning,
)

MORE_SEEDS = {ONE_NODE: 120, QUORUM: 200, CLUSTER: 60}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_noticed(mutant: Mutant) -> None:
    seeds = [mutant.seed, *range(MORE_SEEDS[mutant.life])]
    caught = hunt(mutant, seeds, partial(failure_of, KINDS[mutant.life]))
    assert caught is not None, f"no life noticed a node without the rule: {mutant.rule}"
    assert "repeat with: " in caught.failure


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_a_mutant_breaks_is_there(mutant: Mutant) -> None:
    """At once, in every run: whoever moves a rule has to move its mutant."""
    with applied(mutant):
        pass


def test_there_are_enough_and_each_is_something_else() -> None:
    assert len(MUTANTS) >= 30
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({mutant.rule for mutant in MUTANTS}) == len(MUTANTS)


def test_a_rule_is_mended_afterwards() -> None:
    from pykbroker.purgatory import Purgatory

    before = Purgatory.advance
    mutant = Mutant("m", "r", (Patch("purgatory:Purgatory.advance", returning(7)),))
    with applied(mutant):
        assert Purgatory(0).advance(5) == 7
    assert Purgatory.advance is before
    with pytest.raises(KeyError), applied(mutant._replace(patches=(*mutant.patches, *UNKNOWN))):
        raise AssertionError("nothing runs with half a mutant")
    assert Purgatory.advance is before


UNKNOWN = (Patch("purgatory:Purgatory.no_such_rule", returning(7)),)


def test_a_mutant_that_fails_by_itself_is_none() -> None:
    with pytest.raises(BrokenMutant, match="no attribute"):
        hunt(MUTANTS[0], [4], lambda seed: "seed 4: AttributeError: no attribute 'pending'")


def test_a_hunt_without_a_catch() -> None:
    assert hunt(MUTANTS[0], range(3), lambda seed: "") is None
    assert hunt(MUTANTS[0], range(3), lambda seed: "seen" if seed == 2 else "") == (2, "seen")

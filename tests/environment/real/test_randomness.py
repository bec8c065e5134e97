"""Random choices stay in their bounds, and identifiers have their form."""

from __future__ import annotations

from uuid import UUID

from pykbroker.environment.real.randomness import Entropy
from pykbroker.protocol.primitives import uuid_to_str


def test_numbers_stay_in_their_bounds_and_reach_them() -> None:
    entropy = Entropy()
    assert {entropy.randrange(3) for _ in range(500)} == {0, 1, 2}
    assert {entropy.randrange(5, 7) for _ in range(500)} == {5, 6}


def test_shuffle_keeps_the_elements_and_changes_their_order() -> None:
    entropy = Entropy()
    orders = set()
    for _ in range(500):
        letters = list("abc")
        entropy.shuffle(letters)
        orders.add("".join(letters))
    assert orders == {"abc", "acb", "bac", "bca", "cab", "cba"}


def test_uuids_are_of_version_4_and_never_look_like_a_flag() -> None:
    made = [Entropy().new_uuid() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert {UUID(bytes=raw).version for raw in made} == {4}
    assert not [raw for raw in made if uuid_to_str(raw).startswith("-")]

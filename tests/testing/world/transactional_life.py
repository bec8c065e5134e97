"""A life that has transactions, up to the moment at which its clients begin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from pykbroker.testing.world.one_node import OneNode, has_transactions


def transactional_seeds() -> Iterator[int]:
    """The seeds of lives that have transactions."""
    return filter(has_transactions, itertools.count())


def transactional_life() -> OneNode:
    """One whose coordinators are not flushed with every record."""
    for seed in transactional_seeds():
        life = OneNode(seed)
        life._begin()
        if life.transactions is not None and not life.transactions.ledger.is_durable:
            return life
    raise AssertionError("there is no end of seeds")

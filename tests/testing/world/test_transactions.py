"""Transactions in lives of one node: there is enough of everything."""

from __future__ import annotations

import itertools

import pytest

from pykbroker.testing.world.one_node import OneNode
from pykbroker.testing.world.transaction_ledger import Outcome
from tests.testing.world.transactional_life import transactional_seeds

LIVES = 10


@pytest.mark.slow
def test_lives_are_full_of_transactions() -> None:
    outcomes = dict.fromkeys(Outcome, 0)
    rotations = fences = read = with_offsets = durable = hanging = 0
    for seed in itertools.islice(transactional_seeds(), LIVES):
        life = OneNode(seed)
        with life.world.logs_captured():
            life.run()
        assert life.transactions is not None
        ledger = life.transactions.ledger
        durable += ledger.is_durable
        hanging += ledger.may_hang
        fences += ledger.fences
        if life.has_few_epochs:
            producer_ids = {order[0] for order in ledger._given}
            rotations += len(producer_ids) - len({at.transactional_id for at in ledger.instances})
        read += sum(reader.records_read for reader in life.transactions.readers)
        for transaction in ledger.transactions:
            outcomes[transaction.outcome] += 1
            with_offsets += bool(transaction.offsets)
    assert 0 < durable < LIVES
    assert hanging > 0
    assert outcomes[Outcome.COMMITTED] > 100
    assert outcomes[Outcome.ABORTED] > 10
    assert outcomes[Outcome.BEGUN] > 4
    assert with_offsets > 30
    assert fences > 3
    assert rotations > 3
    assert read > 1000

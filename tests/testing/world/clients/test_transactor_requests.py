"""What a transactional producer of the world does about an answer."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_response import PartitionProduceResponse
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.transactor import Transactor
from pykbroker.testing.world.clients.transactor_requests import MustAbort
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.transaction_ledger import (
    Losses,
    ProducerInstance,
    SentTransaction,
    TransactionLedger,
)
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

LEADER, FORMER_LEADER = 1, 2
STALE = PartitionProduceResponse(error_code=ErrorCode.INVALID_PRODUCER_EPOCH)


def transactor(ledger: TransactionLedger) -> Transactor:
    topic = TopicPromise("orders", 1, TopicRules())
    topic.ledgers[0].is_led_by = lambda node_id: node_id == LEADER
    peers = [Peer(LEADER, "node-1", 9092), Peer(FORMER_LEADER, "node-2", 9092)]
    return Transactor(World(1), "copier", peers, Catalog(), topic, ledger, "copier-1", 2)


def test_only_a_former_leader_may_refuse_the_epoch_of_a_producer() -> None:
    # It was paused while another node became the leader, and does not know it yet.
    client = transactor(TransactionLedger("orders", 1))
    transaction = SentTransaction(1, ProducerInstance("copier-1", "copier/0", 1_000, True), 10**9)
    waiting = {0: ([b"copier-1"], b"")}
    with pytest.raises(MustAbort, match="a former leader"):
        client._take(transaction, waiting, STALE, FORMER_LEADER)
    code = client._take(transaction, waiting, STALE, LEADER)
    with pytest.raises(Violation, match="is refused: INVALID_PRODUCER_EPOCH"):
        client._judge("Produce", transaction, code)


@pytest.mark.parametrize("loses_power", [False, True])
def test_a_replaced_producer_may_succeed_only_if_a_power_failure_took_the_next(
    loses_power: bool,
) -> None:
    """It may happen while the request is on its way."""
    ledger = TransactionLedger("orders", 1)
    client = transactor(ledger)
    replaced = ProducerInstance("copier-1", "copier/0", 1_000, True, producer_id=1, epoch=0)
    for instance in (replaced, ProducerInstance("copier-1", "copier/1", 1_000, True, 1, 1)):
        ledger.asks_for_id("copier-1")
        ledger.given(instance)
    nothing: frozenset[Any] = frozenset()
    losses = Losses(frozenset({"copier-1"}), nothing, nothing, {}, nothing, nothing)

    async def attempt() -> int:
        if loses_power:
            ledger.power_lost(losses)
        return 0

    done = client._until_done("EndTxn", SentTransaction(1, replaced, 10**9), attempt)
    with pytest.raises(StopIteration if loses_power else Violation):
        done.send(None)

"""What a transactional producer of the world does about an answer."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_response import PartitionProduceResponse
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.transactor import Transactor
from pykbroker.testing.world.clients.transactor_requests import MustAbort
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.transaction_ledger import (
    ProducerInstance,
    SentTransaction,
    TransactionLedger,
)
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

LEADER, FORMER_LEADER = 1, 2
STALE = PartitionProduceResponse(error_code=ErrorCode.INVALID_PRODUCER_EPOCH)


def test_only_a_former_leader_may_refuse_the_epoch_of_a_producer() -> None:
    # It was paused while another node became the leader, and does not know it yet.
    world, topic = World(1), TopicPromise("orders", 1, TopicRules())
    topic.ledgers[0].is_led_by = lambda node_id: node_id == LEADER
    ledger = TransactionLedger("orders", 1)
    peers = [Peer(LEADER, "node-1", 9092), Peer(FORMER_LEADER, "node-2", 9092)]
    client = Transactor(world, "copier", peers, Catalog(), topic, ledger, "copier-1", 2)
    transaction = SentTransaction(1, ProducerInstance("copier-1", "copier/0", 1_000, True), 10**9)
    waiting = {0: ([b"copier-1"], b"")}
    with pytest.raises(MustAbort, match="a former leader"):
        client._take(transaction, waiting, STALE, FORMER_LEADER)
    code = client._take(transaction, waiting, STALE, LEADER)
    with pytest.raises(Violation, match="is refused: INVALID_PRODUCER_EPOCH"):
        client._judge("Produce", transaction, code)

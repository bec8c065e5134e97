"""What a producer of the world accepts as an answer."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_response import PartitionProduceResponse
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.producer import Batch, ProducerClient
from pykbroker.testing.world.ledger import Attempt, TopicRules
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

LEADER, FORMER_LEADER = 1, 2


def idempotent_producer() -> ProducerClient:
    peers = [Peer(LEADER, "node-1", 9092), Peer(FORMER_LEADER, "node-2", 9092)]
    producers = (
        ProducerClient(World(seed), "producer", peers, Catalog(), ["orders"], batches=1)
        for seed in range(100)
    )
    return next(producer for producer in producers if producer._is_idempotent)


def batch_for(leader: int, rules: TopicRules | None = None) -> Batch:
    topic = TopicPromise("orders", 1, rules or TopicRules())
    (ledger,) = topic.ledgers
    ledger.is_led_by = lambda node_id: node_id == leader
    attempt = Attempt(b"producer-1", "producer", 1, None, b"x", 0, is_once=True)
    ledger.attempt(attempt)
    return Batch(ledger, topic, 0, [attempt], b"", 0)


def test_only_a_former_leader_may_miss_earlier_batches() -> None:
    # It was paused while another node became the leader, and does not know it yet.
    producer, batch = idempotent_producer(), batch_for(LEADER)
    answer = PartitionProduceResponse(error_code=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    producer._take(batch, answer, FORMER_LEADER, is_first=True)
    assert not batch.is_answered
    with pytest.raises(Violation, match="the node forgot this producer: 45"):
        producer._take(batch, answer, LEADER, is_first=True)


def test_a_replica_may_have_missed_what_retention_has_deleted() -> None:
    producer, answer = idempotent_producer(), PartitionProduceResponse()
    answer.error_code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    batch = batch_for(LEADER, TopicRules(retention_ms=500))
    producer._take(batch, answer, LEADER, is_first=True)
    producer.bootstrap = producer.bootstrap[:1]  # a single node has missed nothing
    with pytest.raises(Violation, match="the node forgot this producer: 45"):
        producer._take(batch, answer, LEADER, is_first=True)

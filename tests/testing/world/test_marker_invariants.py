"""The rule about markers notices one that is not committed: played logs of a leader."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.coordinator.batches import decision_batch, marker_batch
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.transaction.records import TransactionRecordCodec, transaction_record
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.testing.world.marker_invariants import CommittedMarkers
from pykbroker.testing.world.world import Violation
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, batch_of, memory_disk, open_orders

PRODUCER_ID = 7
ORDERS = TopicPartition("orders", 3)


class Stage:
    """A node that leads a partition and the coordinator's one, and the rule that looks at it."""

    def __init__(self) -> None:
        files = memory_disk()
        self.orders = self._partition("orders", 3, open_orders(files))
        self.state = self._partition(TRANSACTION_STATE_TOPIC, 0, open_orders(files, "/d/state-0"))
        hosted = {("orders", 3): self.orders, (TRANSACTION_STATE_TOPIC, 0): self.state}
        manager = SimpleNamespace(find=lambda topic, index: hosted.get((topic, index)))
        server = SimpleNamespace(replica_manager=manager)
        self.node: Any = SimpleNamespace(
            node_id=1,
            name="node-1",
            starts=1,
            machine=SimpleNamespace(files=files),
            serving=server,
        )
        self.committed = 0
        self.leader = 1
        rules: Any = SimpleNamespace(committed_end=lambda topic_id, index: self.committed)
        image: Any = SimpleNamespace(
            partition=lambda topic, index: SimpleNamespace(leader=self.leader, leader_epoch=0)
        )
        nodes: list[Any] = [self.node]
        self.rule = CommittedMarkers(nodes, rules, lambda: image)
        self.check()
        begun = Transaction(PRODUCER_ID, 0, 1_000).with_partitions({ORDERS: None}, 1, NOW_MS)
        self.ended = begun.ended(True, 1, NOW_MS)

    @staticmethod
    def _partition(topic: str, index: int, log: Any) -> Any:
        return SimpleNamespace(
            topic=topic,
            topic_id=b"t" * 16,
            index=index,
            log=log,
            is_leader=True,
            leader_epoch=0,
            high_watermark=0,
            bound=lambda isolation: 0,
        )

    def append(self, partition: Any, batch: bytearray, origin: AppendOrigin) -> None:
        outcome = partition.log.append_as_leader(batch, 0, NOW_MS, origin)
        assert outcome.error == 0, outcome.error_message
        partition.log.write_pending()

    def produce(self) -> None:
        batch = batch_of(b"a", producer=(PRODUCER_ID, 0, 0), is_transactional=True)
        self.append(self.orders, batch, AppendOrigin.CLIENT)

    def mark(self) -> None:
        marker = WritableTxnMarker(
            producer_id=PRODUCER_ID, producer_epoch=0, transaction_result=True
        )
        self.append(self.orders, marker_batch(marker, NOW_MS), AppendOrigin.COORDINATOR)

    def write(self, transaction: Transaction) -> None:
        decision = ShardDecision(records=[transaction_record("id", transaction, 1)])
        batch = decision_batch(TransactionRecordCodec(), decision, decision.records, NOW_MS, 0)
        self.append(self.state, batch, AppendOrigin.COORDINATOR)
        self.check()

    def check(self) -> None:
        self.rule.check(self.node, self.node.serving)

    def marked(self) -> Stage:
        """The outcome is written, and then the marker."""
        self.produce()
        self.write(self.ended)
        self.mark()
        return self

    def complete(self) -> int:
        """Write the completion; how many partitions were looked at."""
        self.write(self.ended.completed(NOW_MS))
        return self.rule.checked


def test_a_completion_before_the_marker_is_committed() -> None:
    stage = Stage().marked()
    stage.committed = 1
    with pytest.raises(Violation, match=r"orders-3: .* of id is completed, and its marker at 1 is"):
        stage.complete()


@pytest.mark.parametrize("high_watermark, committed", [(0, 2), (2, 0)])
def test_a_committed_marker(high_watermark: int, committed: int) -> None:
    """The leader's own word counts too: a power failure made the rules forget theirs."""
    stage = Stage().marked()
    stage.committed = committed
    stage.orders.high_watermark = high_watermark
    assert stage.complete() == 1


def test_a_marker_that_comes_again_ends_nothing() -> None:
    stage = Stage().marked()
    stage.mark()
    stage.committed = 2
    assert stage.complete() == 1


def test_only_leaders_that_the_metadata_names_are_looked_at() -> None:
    stage = Stage().marked()
    stage.leader = 2
    assert stage.complete() == 0


def test_only_completions_are_looked_at() -> None:
    stage = Stage().marked()
    stage.write(stage.ended)
    assert stage.rule.checked == 0
    stage.rule.check(stage.node, None)
    assert stage.rule.checked == 0

"""Which partitions have to be asked for, and with what their batches are appended."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.broker.transactions.transaction_verification import verify
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.log.producers.verification import UNVERIFIED
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OLD, JOINING = TransactionSupport.OLD, TransactionSupport.JOINING


class Asking(Broker):
    """A broker whose coordinators answer as the test says."""

    def __init__(self, answer: Any = None, enabled: bool = True) -> None:
        super().__init__({"transaction.partition.verification.enable": str(enabled).lower()})
        self.node.create_topic(partitions=2)
        self.transaction_joining = self
        self.asked: list[tuple[str, list[TopicPartition]]] = []
        self.outcome = {} if answer is None else answer

    def ask(
        self, transactional_id: str, producer_id: int, epoch: int, partitions: Any, _: Any
    ) -> Any:
        assert (producer_id, epoch) == (9, 0)
        self.asked.append((transactional_id, list(partitions)))
        return self.outcome

    def verify(self, *partitions: TopicPartition, support: TransactionSupport = OLD) -> Any:
        sequences = dict.fromkeys(partitions, 0)
        return verify(self, "id", 9, 0, sequences, support)  # type: ignore[arg-type]

    def open(self, index: int) -> None:
        """The producer has a transaction open in the partition."""
        partition = self.node.manager.partition(TopicPartition("t", index))
        fields = {"producer_id": 9, "producer_epoch": 0, "base_sequence": 0}
        self.node.append(partition, b"x", is_transactional=True, **fields)


def test_a_guard_for_every_partition_that_is_asked_for() -> None:
    broker = Asking()
    broker.open(1)
    verified = broker.verify(T0, T1)
    assert broker.asked == [("id", [T0])]
    assert verified.codes == {}
    log = broker.node.manager.partition(T0).log
    assert verified.guard(T0) is log.producers.verifications.entries[9].guard
    assert verified.guard(T1) is UNVERIFIED  # it is open: no guard is looked for


def test_codes_of_the_coordinator_and_of_this_node() -> None:
    broker = Asking({T0: 48})
    ghost = TopicPartition("ghost", 0)
    broker.node.create_topic("copy", number=8, replicas=(2, 1), leader=2)
    copy = TopicPartition("copy", 0)
    verified = broker.verify(T0, ghost, copy)
    assert verified.codes == {
        T0: 48,
        ghost: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        copy: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    }
    assert broker.asked == [("id", [T0])]


def test_a_fenced_producer_is_not_asked_for() -> None:
    broker = Asking()
    partition = broker.node.manager.partition(T0)
    broker.node.append(partition, b"x", producer_id=9, producer_epoch=1, base_sequence=0)
    assert broker.verify(T0).codes == {T0: ErrorCode.INVALID_PRODUCER_EPOCH}
    assert broker.asked == []


@pytest.mark.parametrize("support", [OLD, JOINING])
def test_without_verification_only_joining_is_asked_for(support: TransactionSupport) -> None:
    broker = Asking(enabled=False)
    verified = broker.verify(T0, support=support)
    assert broker.asked == ([("id", [T0])] if support is JOINING else [])
    assert verified.guard(T0) is None


def test_the_answer_may_come_later() -> None:
    answer = Deferred()
    broker = Asking(answer)
    outcome = broker.verify(T0)
    assert not outcome.done
    answer.resolve({T0: 51})
    assert outcome.value.codes == {T0: 51}

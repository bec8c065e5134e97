"""The steps of one transactional id."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import MAX_EPOCH, Transaction, is_last_epoch
from pykbroker.types import TopicPartition

NOW_MS = 1000
A = TopicPartition("a", 0)
B = TopicPartition("b", 1)


def ongoing(epoch: int = 3, client_version: int = 2) -> Transaction:
    begun = Transaction(producer_id=7, epoch=epoch, timeout_ms=60_000, updated_ms=1)
    return begun.with_partitions({A: None}, client_version, NOW_MS)


def test_the_first_partition_begins_it_and_more_join() -> None:
    one = ongoing()
    assert one.state is TransactionState.ONGOING
    assert one.started_ms == NOW_MS
    two = one.with_partitions({B: None, A: None}, 2, NOW_MS + 5)
    assert list(two.partitions) == [A, B]
    assert (two.started_ms, two.updated_ms) == (NOW_MS, NOW_MS + 5)
    assert list(one.partitions) == [A]


@pytest.mark.parametrize(("version", "epoch", "last"), [(0, 3, -1), (1, 3, -1), (2, 4, 3)])
def test_ending_takes_the_next_epoch_from_version_2_on(version: int, epoch: int, last: int) -> None:
    ended = ongoing(client_version=version).ended(True, version, NOW_MS + 1)
    assert ended.state is TransactionState.PREPARE_COMMIT
    assert (ended.epoch, ended.last_epoch) == (epoch, last)
    done = ended.completed(NOW_MS + 2)
    assert done.state is TransactionState.COMPLETE_COMMIT
    assert (done.producer_id, done.epoch, done.partitions) == (7, epoch, {})
    assert (done.started_ms, done.updated_ms) == (NOW_MS, NOW_MS + 2)


def test_a_used_up_epoch_goes_on_with_a_new_producer_id() -> None:
    ended = ongoing(epoch=MAX_EPOCH - 1).ended(False, 2, NOW_MS, next_producer_id=99)
    assert (ended.producer_id, ended.epoch) == (7, MAX_EPOCH)
    done = ended.completed(NOW_MS)
    assert (done.producer_id, done.epoch, done.next_producer_id) == (99, 0, -1)
    assert (done.previous_producer_id, done.last_epoch) == (7, MAX_EPOCH - 1)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_fence_takes_one_epoch(version: int) -> None:
    fenced = ongoing(client_version=version).fenced(version, NOW_MS, -1)
    assert fenced.state is TransactionState.PREPARE_ABORT
    assert fenced.epoch == 4


def test_an_abort_of_nothing_begins_when_it_ends() -> None:
    begun = Transaction(producer_id=7, epoch=0, timeout_ms=1, updated_ms=1)
    assert begun.ended(False, 2, NOW_MS).started_ms == NOW_MS


def test_what_may_not_follow() -> None:
    ended = ongoing().ended(True, 2, NOW_MS)
    with pytest.raises(AssertionError, match="PREPARE_COMMIT is not followed by PREPARE_ABORT"):
        ended.ended(False, 2, NOW_MS)
    with pytest.raises(AssertionError, match="is not followed by ONGOING"):
        ended.with_partitions({A: None}, 2, NOW_MS)
    with pytest.raises(AssertionError, match="is not followed by EMPTY"):
        ongoing().initialised(4, -1, 1, NOW_MS)
    with pytest.raises(AssertionError, match="EMPTY is not followed by PREPARE_COMMIT"):
        Transaction(producer_id=7, epoch=0, timeout_ms=1).ended(True, 2, NOW_MS)


def test_the_highest_epoch_is_never_a_clients() -> None:
    assert not is_last_epoch(MAX_EPOCH - 2)
    assert is_last_epoch(MAX_EPOCH - 1)
    assert is_last_epoch(MAX_EPOCH)

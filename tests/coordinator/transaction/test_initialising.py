"""InitProducerId of a transactional id, case by case."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.transaction.initialising import (
    NEEDS_PRODUCER_ID,
    Initialisation,
    fence,
    initialise,
    must_be_fenced,
)
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import MAX_EPOCH, Transaction
from pykbroker.errors import ErrorCode
from pykbroker.types import TopicPartition

NOW_MS = 1000
LAST = MAX_EPOCH - 1
FRESH = Initialisation("id", 5000)


def known(epoch: int = 3, **changes: object) -> Transaction:
    begun = Transaction(
        producer_id=7, epoch=epoch, timeout_ms=1, updated_ms=1, previous_producer_id=7
    )
    return begun._replace(**changes)  # type: ignore[arg-type]


def going_on(producer_id: int, epoch: int) -> Initialisation:
    return Initialisation("id", 5000, producer_id, epoch)


def test_an_unknown_id() -> None:
    assert initialise(None, FRESH, None, NOW_MS) is NEEDS_PRODUCER_ID
    for request in (FRESH, going_on(1, 5)):
        found = initialise(None, request, 42, NOW_MS)
        assert isinstance(found, Transaction)
        assert (found.producer_id, found.epoch, found.last_epoch) == (42, 0, -1)
        assert (found.state, found.timeout_ms) == (TransactionState.EMPTY, 5000)


@pytest.mark.parametrize(
    "state",
    [TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT],
)
def test_a_new_producer_takes_the_next_epoch(state: TransactionState) -> None:
    found = initialise(known(state=state, last_epoch=2), FRESH, None, NOW_MS)
    assert isinstance(found, Transaction)
    assert (found.epoch, found.last_epoch, found.timeout_ms) == (4, -1, 5000)


def test_a_producer_goes_on_and_may_ask_again() -> None:
    first = initialise(known(), going_on(7, 3), None, NOW_MS)
    assert isinstance(first, Transaction)
    assert (first.epoch, first.last_epoch) == (4, 3)
    again = initialise(first, going_on(7, 3), None, NOW_MS)
    assert isinstance(again, Transaction)
    assert (again.epoch, again.last_epoch) == (4, 3)


@pytest.mark.parametrize(("producer_id", "epoch"), [(7, 2), (7, 4), (8, 3), (8, LAST)])
def test_a_producer_that_was_replaced(producer_id: int, epoch: int) -> None:
    found = initialise(known(), going_on(producer_id, epoch), None, NOW_MS)
    assert found is ErrorCode.PRODUCER_FENCED


def test_used_up_epochs_take_a_new_producer_id() -> None:
    old = known(epoch=LAST)
    assert initialise(old, FRESH, None, NOW_MS) is NEEDS_PRODUCER_ID
    new = initialise(old, FRESH, 42, NOW_MS)
    assert isinstance(new, Transaction)
    assert (new.producer_id, new.epoch, new.last_epoch) == (42, 0, -1)
    named = initialise(old, going_on(7, LAST), 42, NOW_MS)
    assert isinstance(named, Transaction)
    assert (named.producer_id, named.epoch, named.last_epoch) == (42, 0, LAST)
    # Its answer was lost: it asks again with what it had.
    repeated = initialise(named, going_on(7, LAST), None, NOW_MS)
    assert isinstance(repeated, Transaction)
    assert (repeated.producer_id, repeated.epoch) == (42, 0)


@pytest.mark.parametrize("state", [TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT])
def test_while_markers_are_on_their_way(state: TransactionState) -> None:
    for request in (FRESH, going_on(8, 1)):
        found = initialise(known(state=state), request, None, NOW_MS)
        assert found is ErrorCode.CONCURRENT_TRANSACTIONS


def test_an_open_transaction_is_fenced_by_who_may() -> None:
    begun = known().with_partitions({TopicPartition("a", 0): None}, 2, NOW_MS)
    assert must_be_fenced(begun, FRESH)
    assert must_be_fenced(begun, going_on(7, 3))
    assert not must_be_fenced(begun, going_on(8, 3))
    assert not must_be_fenced(known(), FRESH)
    assert not must_be_fenced(None, FRESH)
    assert initialise(begun, going_on(8, 3), None, NOW_MS) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_fence_at_the_last_epoch(version: int) -> None:
    begun = known(epoch=LAST).with_partitions({TopicPartition("a", 0): None}, version, NOW_MS)
    found = fence(begun, version, None, NOW_MS)
    if version < 2:
        assert isinstance(found, Transaction)
        assert (found.epoch, found.next_producer_id) == (MAX_EPOCH, -1)
        return
    assert found is NEEDS_PRODUCER_ID
    found = fence(begun, version, 42, NOW_MS)
    assert isinstance(found, Transaction)
    assert (found.epoch, found.next_producer_id) == (MAX_EPOCH, 42)

"""EndTxn, case by case: the tables of Kafka's TransactionCoordinator."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.transaction.ending import Ending, end
from pykbroker.coordinator.transaction.initialising import NEEDS_PRODUCER_ID
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import MAX_EPOCH, Transaction
from pykbroker.errors import ErrorCode
from pykbroker.types import TopicPartition

NOW_MS = 1000
S = TransactionState
E = ErrorCode
KNOWN = Transaction(producer_id=7, epoch=3, timeout_ms=1, updated_ms=1, previous_producer_id=6)
OPEN = KNOWN.with_partitions({TopicPartition("a", 0): None}, 2, NOW_MS)


def outcome(
    transaction: Transaction | None,
    *,
    commit: bool,
    version: int,
    epoch: int = 3,
    producer_id: int = 7,
    new_id: int | None = None,
) -> object:
    """The state that follows, or the code."""
    found = end(transaction, Ending("id", producer_id, epoch, commit, version), new_id, NOW_MS)
    return found.state if isinstance(found, Transaction) else found


@pytest.mark.parametrize("version", [0, 2])
def test_an_open_transaction(version: int) -> None:
    assert outcome(OPEN, commit=True, version=version) is S.PREPARE_COMMIT
    assert outcome(OPEN, commit=False, version=version) is S.PREPARE_ABORT
    for epoch in (2, 4):
        assert outcome(OPEN, commit=True, version=version, epoch=epoch) is E.PRODUCER_FENCED
    wrong = outcome(OPEN, commit=True, version=version, producer_id=8)
    assert wrong is E.INVALID_PRODUCER_ID_MAPPING
    assert outcome(None, commit=True, version=version) is E.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_one_that_ends_already(version: int, state: TransactionState) -> None:
    ending = OPEN._replace(state=state)
    for commit in (True, False):
        assert outcome(ending, commit=commit, version=version) is E.CONCURRENT_TRANSACTIONS
        others = {
            outcome(ending, commit=commit, version=version, producer_id=8),
            outcome(ending, commit=commit, version=version, epoch=2),
        }
        if version == 2:  # it may have the next producer id already
            assert others == {E.CONCURRENT_TRANSACTIONS}
        else:  # it need not wait for the markers to learn that it is fenced
            assert others == {E.INVALID_PRODUCER_ID_MAPPING, E.PRODUCER_FENCED}


@pytest.mark.parametrize(
    ("state", "commit", "expected"),
    [
        (S.EMPTY, True, E.INVALID_TXN_STATE),
        (S.EMPTY, False, E.INVALID_TXN_STATE),
        (S.COMPLETE_COMMIT, True, E.NONE),
        (S.COMPLETE_COMMIT, False, E.INVALID_TXN_STATE),
        (S.COMPLETE_ABORT, True, E.INVALID_TXN_STATE),
        (S.COMPLETE_ABORT, False, E.NONE),
    ],
)
def test_no_transaction_before_version_2(
    state: TransactionState, commit: bool, expected: ErrorCode
) -> None:
    assert outcome(KNOWN._replace(state=state), commit=commit, version=1) is expected


@pytest.mark.parametrize(
    ("state", "commit", "repeated", "new"),
    [
        (S.EMPTY, False, E.PRODUCER_FENCED, S.PREPARE_ABORT),
        (S.EMPTY, True, E.PRODUCER_FENCED, E.INVALID_TXN_STATE),
        (S.COMPLETE_ABORT, False, E.NONE, S.PREPARE_ABORT),
        (S.COMPLETE_ABORT, True, E.INVALID_TXN_STATE, E.INVALID_TXN_STATE),
        (S.COMPLETE_COMMIT, False, E.INVALID_TXN_STATE, S.PREPARE_ABORT),
        (S.COMPLETE_COMMIT, True, E.NONE, E.INVALID_TXN_STATE),
    ],
)
def test_no_transaction_in_version_2(
    state: TransactionState, commit: bool, repeated: object, new: object
) -> None:
    transaction = KNOWN._replace(state=state)
    assert outcome(transaction, commit=commit, version=2, epoch=2) is repeated
    assert outcome(transaction, commit=commit, version=2, epoch=3) is new
    assert outcome(transaction, commit=commit, version=2, epoch=4) is E.PRODUCER_FENCED


def test_a_repetition_with_the_producer_id_before() -> None:
    rotated = KNOWN._replace(state=S.COMPLETE_COMMIT, epoch=0)
    last = MAX_EPOCH - 1
    assert outcome(rotated, commit=True, version=2, producer_id=6, epoch=last) is E.NONE
    wrong = outcome(rotated, commit=True, version=2, producer_id=6, epoch=last - 1)
    assert wrong is E.INVALID_PRODUCER_ID_MAPPING


def test_the_last_epoch_needs_a_producer_id_to_go_on_with() -> None:
    last = MAX_EPOCH - 1
    used_up = OPEN._replace(epoch=last)
    assert outcome(used_up, commit=True, version=2, epoch=last) is NEEDS_PRODUCER_ID
    assert outcome(used_up, commit=True, version=2, epoch=last, new_id=9) is S.PREPARE_COMMIT
    assert outcome(used_up, commit=True, version=1, epoch=last) is S.PREPARE_COMMIT

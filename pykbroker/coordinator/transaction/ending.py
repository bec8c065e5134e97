"""The effect of EndTxn on a transactional id.

                      commit                        abort
    ONGOING           PREPARE_COMMIT                PREPARE_ABORT
    ends already      CONCURRENT_TRANSACTIONS
    COMPLETE_COMMIT   done (0)                      INVALID_TXN_STATE
    COMPLETE_ABORT    INVALID_TXN_STATE             done (0)
    EMPTY             INVALID_TXN_STATE

Before transaction.version 2, a producer with another id or epoch is rejected in every state, so a
fenced one does not wait for the markers of the transaction that its successor aborted.

From transaction.version 2 on every end takes the next epoch, so the epoch distinguishes a repeated
request (one below the current epoch, or the last of the previous producer id) from a new one. A
repeated one is answered as above, with the producer id and epoch to continue with, but ONGOING or
EMPTY it is PRODUCER_FENCED. A new commit of nothing is INVALID_TXN_STATE; a new abort of nothing is
carried out, because the producer may not know.
Source: the tables in Kafka's `TransactionCoordinator.scala`.
"""

from __future__ import annotations

from pykbroker.coordinator.transaction.initialising import NEEDS_PRODUCER_ID, Outcome
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import (
    EPOCH_BUMPING,
    MAX_EPOCH,
    NO_PRODUCER_ID,
    Transaction,
)
from pykbroker.errors import ErrorCode
from pykbroker.values import NamedTuple

NONE = ErrorCode.NONE
INVALID = ErrorCode.INVALID_TXN_STATE


class Ending(NamedTuple):
    """An EndTxn request; `client_version` is the transaction.version of its sender."""

    transactional_id: str
    producer_id: int
    epoch: int
    is_commit: bool
    client_version: int


def end(
    transaction: Transaction | None, request: Ending, new_producer_id: int | None, now_ms: int
) -> Outcome:
    """Return the next step; NONE if there is nothing to do because the
    request was carried out before.
    """
    if transaction is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if request.client_version < EPOCH_BUMPING:
        return _end_by_state(transaction, request, now_ms)
    return _end_by_epoch(transaction, request, new_producer_id, now_ms)


def _end_by_state(transaction: Transaction, request: Ending, now_ms: int) -> Outcome:
    """transaction.version 0 and 1."""
    if request.producer_id != transaction.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if request.epoch != transaction.epoch:
        return ErrorCode.PRODUCER_FENCED
    if transaction.state.is_ending:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.state is TransactionState.ONGOING:
        return transaction.ended(request.is_commit, 0, now_ms)
    return NONE if transaction.state is _done(request) else INVALID


def _end_by_epoch(
    transaction: Transaction, request: Ending, new_producer_id: int | None, now_ms: int
) -> Outcome:
    """transaction.version 2."""
    if transaction.state.is_ending:
        # First: the producer may have the next producer id already.
        return ErrorCode.CONCURRENT_TRANSACTIONS
    is_after_rotation = (
        request.producer_id == transaction.previous_producer_id
        and request.epoch == MAX_EPOCH - 1
        and transaction.epoch == 0
    )
    if request.producer_id != transaction.producer_id and not is_after_rotation:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    is_new = request.epoch == transaction.epoch
    is_repeated = request.epoch + 1 == transaction.epoch or is_after_rotation
    is_complete = transaction.state in (
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
    )
    if not (is_new or (is_complete and is_repeated)):
        return ErrorCode.PRODUCER_FENCED
    if is_complete and is_repeated:
        return NONE if transaction.state is _done(request) else INVALID
    if request.is_commit and transaction.state is not TransactionState.ONGOING:
        return INVALID
    next_producer_id = NO_PRODUCER_ID
    if transaction.is_epoch_used_up:
        if new_producer_id is None:
            return NEEDS_PRODUCER_ID
        next_producer_id = new_producer_id
    return transaction.ended(request.is_commit, request.client_version, now_ms, next_producer_id)


def _done(request: Ending) -> TransactionState:
    if request.is_commit:
        return TransactionState.COMPLETE_COMMIT
    return TransactionState.COMPLETE_ABORT

"""The effect of InitProducerId on a transactional id.

    unknown            a new producer id, epoch 0
    no transaction     the next epoch; a new producer id when the epochs are used up
    ONGOING            the transaction is aborted under the next epoch; the caller retries
                       (CONCURRENT_TRANSACTIONS)
    markers on their way   CONCURRENT_TRANSACTIONS

A producer that sends its id and epoch continues after an error (KIP-360); it is fenced if another
producer has started since, or (before transaction.version 2) its transaction was aborted for it. It
may repeat a request whose answer was lost, as long as the machine that answered is not reloaded.
Source: Kafka's `TransactionCoordinator.scala`, `TransactionMetadata.java`.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import (
    EPOCH_BUMPING,
    NO_EPOCH,
    NO_PRODUCER_ID,
    Transaction,
    is_last_epoch,
)
from pykbroker.errors import ErrorCode
from pykbroker.values import NamedTuple


class Needs(Enum):
    """What is missing to decide."""

    PRODUCER_ID = "a new producer id"


NEEDS_PRODUCER_ID: Final = Needs.PRODUCER_ID

# The next transaction, an error code, or what must be provided first.
Outcome = Transaction | ErrorCode | Needs


class Initialisation(NamedTuple):
    """An InitProducerId request for a transactional id; id and epoch are -1 if not given."""

    transactional_id: str
    timeout_ms: int
    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_EPOCH

    @property
    def names_a_producer(self) -> bool:
        """Whether a producer continues with its id and epoch."""
        return self.producer_id != NO_PRODUCER_ID


def initialise(
    transaction: Transaction | None,
    request: Initialisation,
    new_producer_id: int | None,
    now_ms: int,
) -> Outcome:
    """Return the next step of an id without an open transaction, by the rules above."""
    if transaction is None:
        if new_producer_id is None:
            return NEEDS_PRODUCER_ID
        return Transaction(
            producer_id=new_producer_id,
            epoch=0,
            timeout_ms=request.timeout_ms,
            updated_ms=now_ms,
            previous_producer_id=new_producer_id,
        )
    if transaction.state.is_ending:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if request.names_a_producer and not _is_known(transaction, request):
        return ErrorCode.PRODUCER_FENCED
    if transaction.state is TransactionState.ONGOING:
        return ErrorCode.CONCURRENT_TRANSACTIONS  # once it is aborted: `fence`
    if transaction.is_epoch_used_up and (
        not request.names_a_producer or request.epoch == transaction.epoch
    ):
        if new_producer_id is None:
            return NEEDS_PRODUCER_ID
        last_epoch = transaction.epoch if request.names_a_producer else NO_EPOCH
        return transaction.rotated(new_producer_id, last_epoch, request.timeout_ms, now_ms)
    return _with_next_epoch(transaction, request, now_ms)


def _is_known(transaction: Transaction, request: Initialisation) -> bool:
    """Return whether this producer may continue. The epoch is compared when the
    next one is taken.
    """
    return request.producer_id == transaction.producer_id or (
        request.producer_id == transaction.previous_producer_id and is_last_epoch(request.epoch)
    )


def _with_next_epoch(transaction: Transaction, request: Initialisation, now_ms: int) -> Outcome:
    current, last = transaction.epoch, transaction.last_epoch
    if not request.names_a_producer:
        epoch, last = current + 1, NO_EPOCH
    elif request.epoch == current:
        epoch, last = current + 1, current
    elif request.epoch == last:
        epoch = current  # the answer was lost: the same again
    else:
        return ErrorCode.PRODUCER_FENCED
    return transaction.initialised(epoch, last, request.timeout_ms, now_ms)


def must_be_fenced(transaction: Transaction | None, request: Initialisation) -> bool:
    """Return whether the request finds an open transaction and may end it."""
    return (
        transaction is not None
        and transaction.state is TransactionState.ONGOING
        and (not request.names_a_producer or _is_known(transaction, request))
    )


def fence(
    transaction: Transaction, server_version: int, new_producer_id: int | None, now_ms: int
) -> Transaction | Needs:
    """Abort an open transaction on behalf of the coordinator."""
    next_producer_id = NO_PRODUCER_ID
    if server_version >= EPOCH_BUMPING:
        if transaction.is_epoch_used_up:
            if new_producer_id is None:
                return NEEDS_PRODUCER_ID
            next_producer_id = new_producer_id
        return transaction.fenced(server_version, now_ms, next_producer_id)
    return transaction.fenced(0, now_ms, next_producer_id)

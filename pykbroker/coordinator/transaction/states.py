"""The states of a transactional id, and the allowed transitions.

    EMPTY             --> ONGOING, EMPTY (InitProducerId),
                          PREPARE_ABORT (abort of nothing, transaction.version 2)
    ONGOING           --> ONGOING, PREPARE_COMMIT, PREPARE_ABORT
    PREPARE_COMMIT    --> COMPLETE_COMMIT
    PREPARE_ABORT     --> COMPLETE_ABORT
    COMPLETE_COMMIT,
    COMPLETE_ABORT    --> as EMPTY

Source: Kafka's `TransactionState.java`. Its Dead and PrepareEpochFence are moments of its locking;
here an expired id is simply gone, and a fence is one step to PREPARE_ABORT.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """The numbers are those in the records."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5

    @property
    def shown(self) -> str:
        """The name in Kafka's tools and APIs."""
        return _SHOWN[self]

    @property
    def is_ending(self) -> bool:
        """Whether the outcome is decided, and markers may still be missing."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


_SHOWN: Final = {
    TransactionState.EMPTY: "Empty",
    TransactionState.ONGOING: "Ongoing",
    TransactionState.PREPARE_COMMIT: "PrepareCommit",
    TransactionState.PREPARE_ABORT: "PrepareAbort",
    TransactionState.COMPLETE_COMMIT: "CompleteCommit",
    TransactionState.COMPLETE_ABORT: "CompleteAbort",
}

STATE_NAMES: Final = frozenset((*_SHOWN.values(), "Dead", "PrepareEpochFence"))
"""What ListTransactions accepts as a filter."""

_AT_REST: Final = frozenset(
    (
        TransactionState.EMPTY,
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
    )
)
MAY_EXPIRE: Final = _AT_REST

COMES_FROM: Final = {
    TransactionState.EMPTY: _AT_REST,
    TransactionState.ONGOING: _AT_REST | {TransactionState.ONGOING},
    TransactionState.PREPARE_COMMIT: frozenset((TransactionState.ONGOING,)),
    TransactionState.PREPARE_ABORT: _AT_REST | {TransactionState.ONGOING},
    TransactionState.COMPLETE_COMMIT: frozenset((TransactionState.PREPARE_COMMIT,)),
    TransactionState.COMPLETE_ABORT: frozenset((TransactionState.PREPARE_ABORT,)),
}

"""The transaction coordinator's machine for one partition of `__transaction_state`.

State: the transactions by transactional id, as replayed. What no record holds is lost with the
     machine: the epoch before the present one (and what records of version 0 lack).
In:  decisions: `(request, context, caller, now_ms) -> ShardDecision`; questions; replay.
Out: decisions: records for the log, and replies.
Invariant: a decided outcome (PREPARE_...) is only ever followed by its completion.
Source: Kafka's `TransactionCoordinator.scala`, `TransactionStateManager.scala`.
"""

from __future__ import annotations

from collections.abc import Hashable

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.transaction.ending import Ending, end
from pykbroker.coordinator.transaction.initialising import (
    Initialisation,
    Needs,
    Outcome,
    fence,
    initialise,
    must_be_fenced,
)
from pykbroker.coordinator.transaction.records import tombstone, transaction_record
from pykbroker.coordinator.transaction.states import MAY_EXPIRE, TransactionState
from pykbroker.coordinator.transaction.transaction import Partitions, Transaction
from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.record_batch import NO_PRODUCER_ID
from pykbroker.values import NamedTuple


class Context(NamedTuple):
    """server_version: the finalised transaction.version. new_producer_id: an unused one, if it is
    already known that one is needed.
    """

    server_version: int
    new_producer_id: int | None = None


class Addition(NamedTuple):
    """Partitions that are to join a transaction or, for `verify`, may have joined it."""

    transactional_id: str
    producer_id: int
    epoch: int
    partitions: Partitions
    client_version: int = 0


class Ended(NamedTuple):
    """A transaction with a decided outcome, whose markers are to be sent; or one that has exceeded
    its time-out (`overdue`).
    """

    transactional_id: str
    transaction: Transaction


class Reply(NamedTuple):
    """code: the error code. transaction: the state to continue with. ended: send its markers.

    needs: nothing was decided; repeat with what is missing.
    """

    code: int = 0
    transaction: Transaction | None = None
    ended: Ended | None = None
    needs: Needs | None = None


class TransactionShard:
    """The machine of one partition of `__transaction_state`."""

    __slots__ = ("_breathe", "transactions")

    def __init__(self, breathe: Breathe = go_on) -> None:
        """breathe: called between the parts of long steps (`environment/slices.py`)."""
        self._breathe = breathe
        self.transactions: dict[str, Transaction] = {}

    # ---- decisions

    def initialise(
        self, request: Initialisation, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """InitProducerId; the timeout was checked before. Reply."""
        transactional_id = request.transactional_id
        transaction = self.get(transactional_id)
        if transaction is not None and must_be_fenced(transaction, request):
            return self._fence(transactional_id, transaction, context, now_ms)
        outcome = initialise(transaction, request, context.new_producer_id, now_ms)
        if isinstance(outcome, Transaction):
            return self._step(transactional_id, outcome, context)
        return _answered(outcome)

    def add_partitions(
        self, request: Addition, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """AddPartitionsToTxn and AddOffsetsToTxn. Reply."""
        transaction = self.get(request.transactional_id)
        if transaction is None:
            return _answered(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if transaction.state.is_ending:
            # First: with version 2 the producer may have the next producer id already.
            return _answered(ErrorCode.CONCURRENT_TRANSACTIONS)
        code = _check_producer(transaction, request)
        if code:
            return _answered(code)
        if (
            transaction.state is TransactionState.ONGOING
            and request.partitions.keys() <= transaction.partitions.keys()
        ):
            return _answered(ErrorCode.NONE)
        added = transaction.with_partitions(request.partitions, request.client_version, now_ms)
        return self._step(request.transactional_id, added, context)

    def end(
        self, request: Ending, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """EndTxn. Reply; its transaction is what the producer goes on with."""
        transaction = self.get(request.transactional_id)
        outcome = end(transaction, request, context.new_producer_id, now_ms)
        if isinstance(outcome, Transaction):
            return self._end(request.transactional_id, outcome, context, now_ms)
        decision = _answered(outcome)
        if outcome is ErrorCode.NONE:
            decision.reply = Reply(transaction=transaction)
        return decision

    def abort_overdue(
        self, request: Ended, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """Abort a transaction that `overdue` returned. Reply."""
        transaction = self.get(request.transactional_id)
        if (
            transaction is None
            or transaction.state is not TransactionState.ONGOING
            or transaction.started_ms != request.transaction.started_ms
            or transaction.producer_id != request.transaction.producer_id
        ):
            return _answered(ErrorCode.INVALID_TXN_STATE)
        return self._fence(request.transactional_id, transaction, context, now_ms)

    def complete(
        self, request: Ended, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """Complete a transaction whose markers are all written. Reply."""
        transaction = self.get(request.transactional_id)
        if transaction is None or not transaction.is_same_end(request.transaction):
            return _answered(ErrorCode.INVALID_TXN_STATE)
        return self._step(request.transactional_id, transaction.completed(now_ms), context)

    def forget_unused(
        self, expiration_ms: int, context: Context, caller: Hashable, now_ms: int
    ) -> ShardDecision:
        """Remove ids that have been unused for long and have no transaction."""
        decision = ShardDecision(reply=Reply(), atomic=False)
        decision.records = [
            tombstone(transactional_id)
            for transactional_id, transaction in paced(self.transactions.items(), self._breathe)
            if transaction.state in MAY_EXPIRE and transaction.updated_ms <= now_ms - expiration_ms
        ]
        return decision

    def _fence(
        self, transactional_id: str, transaction: Transaction, context: Context, now_ms: int
    ) -> ShardDecision:
        fenced = fence(transaction, context.server_version, context.new_producer_id, now_ms)
        if isinstance(fenced, Needs):
            return _answered(fenced)
        decision = self._end(transactional_id, fenced, context, now_ms)
        decision.reply = decision.reply._replace(code=int(ErrorCode.CONCURRENT_TRANSACTIONS))
        return decision

    def _end(
        self, transactional_id: str, ended: Transaction, context: Context, now_ms: int
    ) -> ShardDecision:
        completed = ended.completed(now_ms)
        reply = Reply(transaction=completed, ended=Ended(transactional_id, ended))
        return self._step(transactional_id, ended, context, reply)

    def _step(
        self,
        transactional_id: str,
        transaction: Transaction,
        context: Context,
        reply: Reply | None = None,
    ) -> ShardDecision:
        """Write the transaction to the log; it is also the reply, if no other is given."""
        version = 1 if context.server_version >= 1 else 0
        return ShardDecision(
            records=[transaction_record(transactional_id, transaction, version)],
            reply=reply or Reply(transaction=transaction),
        )

    # ---- questions

    def get(self, transactional_id: str) -> Transaction | None:
        """Return the transaction of an id."""
        return self.transactions.get(transactional_id)

    def verify(self, request: Addition, context: None) -> dict[int, Partitions]:
        """Return whether these partitions have joined the producer's
        transaction: partitions by code.
        """
        transaction = self.transactions.get(request.transactional_id)
        if transaction is None:
            return {int(ErrorCode.INVALID_PRODUCER_ID_MAPPING): request.partitions}
        code = int(_check_producer(transaction, request))
        if not code and transaction.state.is_ending:
            code = int(ErrorCode.CONCURRENT_TRANSACTIONS)
        if code:
            return {code: request.partitions}
        found: dict[int, Partitions] = {}
        for partition in paced(request.partitions, self._breathe):
            is_in = partition in transaction.partitions
            code = int(ErrorCode.NONE if is_in else ErrorCode.TRANSACTION_ABORTABLE)
            found.setdefault(code, {})[partition] = None
        return found

    def all_transactions(self, request: None, context: None) -> dict[str, Transaction]:
        """Return the transactions of this partition, by transactional id."""
        return dict(self.transactions)

    def one_transaction(self, transactional_id: str, context: None) -> Transaction | ErrorCode:
        """Return the transaction of an id, or TRANSACTIONAL_ID_NOT_FOUND."""
        found = self.transactions.get(transactional_id)
        return ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if found is None else found

    def overdue(self, now_ms: int, context: None) -> list[Ended]:
        """Return open transactions that have exceeded their time-out."""
        return [
            Ended(transactional_id, transaction)
            for transactional_id, transaction in paced(self.transactions.items(), self._breathe)
            if transaction.state is TransactionState.ONGOING
            and transaction.started_ms + transaction.timeout_ms < now_ms
        ]

    def ending(self, request: None, context: None) -> list[Ended]:
        """Return transactions with a decided outcome whose markers may not be written yet."""
        return [
            Ended(transactional_id, transaction)
            for transactional_id, transaction in paced(self.transactions.items(), self._breathe)
            if transaction.state.is_ending
        ]

    def is_ending(self, ended: Ended) -> bool:
        """Return whether this end is not yet completed."""
        transaction = self.transactions.get(ended.transactional_id)
        return transaction is not None and transaction.is_same_end(ended.transaction)

    # ---- replay

    def replay(
        self, record: CoordinatorRecord, offset: int, producer_id: int = NO_PRODUCER_ID
    ) -> None:
        """One record of the log."""
        if record.value is None:
            self.transactions.pop(record.key, None)
        else:
            self.transactions[record.key] = record.value

    def replay_end_of_transaction(self, producer_id: int, committed: bool) -> None:
        """Ignore markers: `__transaction_state` is never written to in a transaction."""

    def loaded(self, now_ms: int) -> ShardDecision:
        """Do nothing; the driver then asks for `ending`."""
        return ShardDecision()

    def timer_expired(self, key: Hashable, now_ms: int) -> ShardDecision:
        """Raise RuntimeError, because no decision of this machine starts a timer."""
        raise RuntimeError(f"unknown timer {key!r}")


def _answered(outcome: Outcome) -> ShardDecision:
    """Return a decision that changes nothing."""
    if isinstance(outcome, Needs):
        return ShardDecision(reply=Reply(needs=outcome))
    assert isinstance(outcome, ErrorCode)
    return ShardDecision(reply=Reply(code=int(outcome)))


def _check_producer(transaction: Transaction, request: Addition) -> ErrorCode:
    if transaction.producer_id != request.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if transaction.epoch != request.epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE

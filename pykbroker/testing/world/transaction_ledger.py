"""What transactional producers were promised, transaction by transaction.

    begun --commit sent--> asked --answered--> committed
      |                      '---refused-----> aborted
      '----abort sent, or the producer is gone: aborted

Invariants that it checks when clients report, and when nothing is open any more (`settle`):

* a read_committed reader never sees a record of a transaction that is begun or aborted;
* it sees each record of a committed transaction, at one offset;
* it sees all of an asked transaction, or nothing, in all of its partitions;
* no producer id is given to two transactional ids, or with the same epoch to two producers;
* a group's committed offset is that of its last committed transaction, or of a later one that may
  be committed.

Clients check by `is_replaced` that a producer that was replaced does not succeed any more. A power
failure excuses the transactions of which it may take something (`transaction_losses.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

NOT_COMMITTED = -1
EARLIEST_TIMEOUT_US = 900
"""For each millisecond of a timeout: clocks do not run alike."""

Order = tuple[int, int]  # producer id and epoch
NOBODY: Order = (-1, -1)


class Outcome(Enum):
    """The possible outcomes of a transaction."""

    BEGUN = auto()
    ASKED = auto()
    COMMITTED = auto()
    ABORTED = auto()


@dataclass(slots=True, eq=False)
class ProducerInstance:
    """A transactional producer, with the id and epoch that it has now."""

    transactional_id: str
    owner: str
    timeout_ms: int
    joins_with_batch: bool
    """It speaks transaction.version 2: partitions join with their first batch."""
    producer_id: int = -1
    epoch: int = -1
    sequences: dict[int, int] = field(default_factory=dict)
    """Partition -> the sequence of the next record."""
    must_bump: bool = False
    """It does not know which of its batches are written."""
    is_contested: bool = False
    """Another InitProducerId may end it."""
    is_excused: bool = False
    """A power failure may have taken what the coordinator knew of it."""
    has_gaps: bool = False
    """A power failure may have taken records of it, or their markers."""

    @property
    def order(self) -> Order:
        """Return a pair that is greater for later producers of the same transactional id."""
        return self.producer_id, self.epoch


@dataclass(slots=True, eq=False)
class SentTransaction:
    """One transaction, as its producer and the readers know it."""

    number: int
    instance: ProducerInstance
    ends_by_itself_us: int
    """The coordinator may abort it from this time of the world on."""
    outcome: Outcome = Outcome.BEGUN
    is_excused: bool = False
    """A power failure may have taken a part of it."""
    are_offsets_excused: bool = False
    records: dict[bytes, int] = field(default_factory=dict)
    """Identity -> partition."""
    joined: set[int] = field(default_factory=set)
    """Partitions that AddPartitionsToTxn was answered for."""
    offsets: dict[int, int] = field(default_factory=dict)
    """Partition of the group's topic -> the offset that it commits."""
    shown: set[bytes] = field(default_factory=set)
    passed_over: set[bytes] = field(default_factory=set)
    is_contested: bool = False
    """The coordinator may have ended it."""

    def may_be_over(self, now_us: int) -> bool:
        """Return whether it may have been ended by now, other than by its producer."""
        return (
            self.is_contested
            or self.instance.is_contested
            or self.is_excused
            or now_us >= self.ends_by_itself_us
        )

    @property
    def is_undecided(self) -> bool:
        """Return whether no reader has seen its outcome."""
        return not self.shown and not self.passed_over

    def __str__(self) -> str:
        at = self.instance
        return (
            f"transaction {self.number} of {at.transactional_id} "
            f"({at.producer_id}, {at.epoch}), {self.outcome.name.lower()}"
        )


class Losses(NamedTuple):
    """What a power failure may take from the logs of the coordinator, of records and of offsets."""

    transactional_ids: frozenset[str]
    """What the coordinator wrote last of these."""
    lost: frozenset[bytes]
    """Records that may be gone, or whose marker may be."""
    without_marker: frozenset[bytes]
    ends: dict[int, int]
    """Partition -> where what was flushed ends."""
    lost_offsets: frozenset[int]
    """As for records: committed offsets."""
    offsets_without_marker: frozenset[int]

    @property
    def is_anything_lost(self) -> bool:
        """Return whether any transactional id, record or offset is among what may be lost."""
        return bool(self.transactional_ids or self.lost or self.lost_offsets)

    def and_also(self, other: Losses) -> Losses:
        """Return what is in either; of `ends`, the lower one."""
        ends = {
            index: min(self.ends.get(index, end), end)
            for index, end in {**self.ends, **other.ends}.items()
        }
        return Losses(
            self.transactional_ids | other.transactional_ids,
            self.lost | other.lost,
            self.without_marker | other.without_marker,
            ends,
            self.lost_offsets | other.lost_offsets,
            self.offsets_without_marker | other.offsets_without_marker,
        )


@dataclass(slots=True)
class PartitionView:
    """What is known of one partition."""

    at: dict[int, bytes] = field(default_factory=dict)
    """Offset -> identity, acknowledged or seen, of transactions that were not excused then."""
    offset_of: dict[bytes, int] = field(default_factory=dict)
    open: dict[SentTransaction, int] = field(default_factory=dict)
    """Transaction that may be open -> its first acknowledged offset."""


class TransactionLedger:
    """What transactional producers were promised.

    `topic` has `partitions` partitions, to which only transactional producers write.
    """

    def __init__(self, topic: str, partitions: int, is_durable: bool = False) -> None:
        self.topic = topic
        self.is_durable = is_durable
        """All of it is flushed before it is acknowledged: no power failure excuses anything."""
        self.views = [PartitionView() for _ in range(partitions)]
        self.transactions: list[SentTransaction] = []
        self.instances: list[ProducerInstance] = []
        self.may_hang = False
        """A power failure may have left transactions in partitions that no coordinator knows."""
        self.commits = 0
        self.aborts = 0
        self.fences = 0
        self._transaction_of: dict[bytes, SentTransaction] = {}
        self._given: dict[Order, tuple[str, str]] = {}
        self._id_of: dict[int, str] = {}
        self._unanswered: dict[str, int] = {}
        """InitProducerId requests that a node may carry out at any time, late ones included."""
        self._latest: dict[str, Order] = {}
        self._forgotten_up_to: dict[str, Order] = {}
        """Epochs that a power failure took: those that are given again may be in use."""
        self._offset_ticks = 0

    # ---------------------------------------------------------------- producers

    def given(self, instance: ProducerInstance) -> None:
        """Record the id and epoch that InitProducerId has assigned to this producer."""
        transactional_id = instance.transactional_id
        if instance not in self.instances:
            self.instances.append(instance)
        self._unanswered[transactional_id] -= 1
        is_late = instance.order < self._latest.get(transactional_id, NOBODY)
        if self._unanswered[transactional_id] or is_late:
            instance.is_contested = True
        if instance.order <= self._forgotten_up_to.get(transactional_id, NOBODY):
            instance.is_excused = True
        self.bumped(instance)

    def bumped(self, instance: ProducerInstance) -> None:
        """Record the id and epoch that EndTxn, or InitProducerId (`given`), has assigned."""
        transactional_id, order = instance.transactional_id, instance.order
        if self._id_of.setdefault(order[0], transactional_id) != transactional_id:
            raise Violation(
                f"producer id {order[0]} was given to {self._id_of[order[0]]} and to "
                f"{transactional_id}"
            )
        if instance.is_excused:
            return
        owner = self._given.setdefault(order, (transactional_id, instance.owner))[1]
        if owner != instance.owner:
            raise Violation(
                f"producer id {order[0]} with epoch {order[1]} was given to {owner} and to "
                f"{instance.owner}"
            )
        self._latest[transactional_id] = max(self._latest.get(transactional_id, order), order)

    def asks_for_id(self, transactional_id: str) -> None:
        """Record that InitProducerId is about to be sent: it may end, at any time, what is open."""
        self._unanswered[transactional_id] = self._unanswered.get(transactional_id, 0) + 1
        for instance in self.instances:
            if instance.transactional_id == transactional_id:
                instance.is_contested = True

    def id_refused(self, transactional_id: str) -> None:
        """Record an error response to InitProducerId: no later effect of it is expected."""
        self._unanswered[transactional_id] -= 1

    def nothing_is_late(self, transactional_id: str) -> None:
        """Record that earlier requests have arrived by now, or never will."""
        self._unanswered[transactional_id] = 0

    def is_forgotten(self, transactional_id: str) -> bool:
        """Return whether a power failure may ever have taken the coordinator's state of it."""
        return transactional_id in self._forgotten_up_to

    def is_given_again(self, instance: ProducerInstance) -> bool:
        """Return whether a power failure may have taken the epoch, which partitions may know."""
        forgotten = self._forgotten_up_to.get(instance.transactional_id)
        return forgotten is not None and instance.order <= forgotten

    def is_replaced(self, instance: ProducerInstance) -> bool:
        """Return whether its transactional id has a later epoch, so that it must be fenced."""
        latest = self._latest.get(instance.transactional_id, instance.order)
        return not instance.is_excused and instance.order < latest

    # ---------------------------------------------------------------- transactions

    def begin(self, instance: ProducerInstance, now_us: int) -> SentTransaction:
        """Begin a transaction of a producer."""
        ends_by_itself_us = now_us + instance.timeout_ms * EARLIEST_TIMEOUT_US
        transaction = SentTransaction(len(self.transactions), instance, ends_by_itself_us)
        transaction.is_excused = transaction.are_offsets_excused = instance.is_excused
        self.transactions.append(transaction)
        return transaction

    def attempt(self, transaction: SentTransaction, index: int, identity: bytes) -> None:
        """Record that a record is about to be sent for the first time."""
        assert identity not in self._transaction_of, "ids are unique"
        transaction.records[identity] = index
        self._transaction_of[identity] = transaction

    def acked(self, transaction: SentTransaction, identity: bytes, offset: int) -> None:
        """Check and record the offset at which a node has acknowledged a record."""
        index = transaction.records[identity]
        self._know(index, identity, offset)
        if transaction.outcome is Outcome.BEGUN:
            first = self.views[index].open.get(transaction, offset)
            self.views[index].open[transaction] = min(first, offset)

    def commits_offset(self, transaction: SentTransaction, index: int) -> int:
        """Add an offset of the group, never committed before, to the transaction."""
        self._offset_ticks += 1
        transaction.offsets[index] = self._offset_ticks
        return self._offset_ticks

    def commit_sent(self, transaction: SentTransaction) -> None:
        """Record that EndTxn is about to be sent, to commit."""
        if transaction.outcome is Outcome.BEGUN:
            transaction.outcome = Outcome.ASKED
        self._close(transaction)

    def commit_answered(self, transaction: SentTransaction) -> None:
        """Record that the commit is done."""
        transaction.outcome = Outcome.COMMITTED
        self.commits += 1
        if transaction.passed_over and not transaction.is_excused:
            raise Violation(f"{transaction}: readers have passed over its records")

    def aborted(self, transaction: SentTransaction) -> None:
        """Record that it will never be committed: an abort is about to be sent, or its only commit
        was rejected, or its producer has disappeared before sending one.
        """
        transaction.outcome = Outcome.ABORTED
        self._close(transaction)
        if transaction.shown and not transaction.is_excused:
            raise Violation(f"{transaction}: readers have seen {min(transaction.shown)!r}")

    def _close(self, transaction: SentTransaction) -> None:
        for view in self.views:
            view.open.pop(transaction, None)

    def first_open_offset(self, index: int, now_us: int) -> int | None:
        """Return the first acknowledged offset of transactions that are certainly open; or None."""
        offsets = [
            offset
            for transaction, offset in self.views[index].open.items()
            if not transaction.may_be_over(now_us)
        ]
        return min(offsets, default=None)

    # ---------------------------------------------------------------- readers

    def read(self, index: int, start: int, end: int, shown: Mapping[int, bytes]) -> None:
        """Check what a read_committed reader has received from `start` to `end`: offset ->
        identity.
        """
        view = self.views[index]
        for offset, identity in shown.items():
            self._know(index, identity, offset)
            self._show(index, offset, identity)
        for offset in range(start, end):
            identity = view.at.get(offset, b"")
            if identity and offset not in shown:
                self._pass_over(index, offset, identity)

    def _know(self, index: int, identity: bytes, offset: int) -> None:
        view = self.views[index]
        transaction = self._transaction_of.get(identity)
        if transaction is None or transaction.records[identity] != index:
            raise Violation(f"{self.topic}-{index}: no client sent {identity!r}, at {offset}")
        if transaction.is_excused:
            return
        before = view.at.setdefault(offset, identity)
        if before != identity:
            raise Violation(
                f"{self.topic}-{index}: {identity!r} is at {offset}, where {before!r} was before"
            )
        if view.offset_of.setdefault(identity, offset) != offset:
            raise Violation(
                f"{self.topic}-{index}: {identity!r} is at {offset} and at "
                f"{view.offset_of[identity]}"
            )

    def _show(self, index: int, offset: int, identity: bytes) -> None:
        transaction = self._transaction_of[identity]
        transaction.shown.add(identity)
        if transaction.is_excused:
            return
        where = f"{self.topic}-{index}: a reader is shown {identity!r} at {offset}"
        if transaction.outcome in (Outcome.BEGUN, Outcome.ABORTED):
            raise Violation(f"{where} of {transaction}")
        if transaction.passed_over:
            raise Violation(
                f"{where}, and passed over {min(transaction.passed_over)!r} of {transaction}"
            )

    def _pass_over(self, index: int, offset: int, identity: bytes) -> None:
        transaction = self._transaction_of[identity]
        transaction.passed_over.add(identity)
        if transaction.is_excused:
            return
        where = f"{self.topic}-{index}: a reader passes over {identity!r} at {offset}"
        if transaction.outcome is Outcome.COMMITTED:
            raise Violation(f"{where} of {transaction}")
        if transaction.shown:
            raise Violation(f"{where}, and was shown {min(transaction.shown)!r} of {transaction}")

    def settle(self) -> None:
        """Check that transactions are whole, once readers have read all and none is open."""
        for transaction in self.transactions:
            if transaction.is_excused:
                continue
            missing = transaction.records.keys() - transaction.shown
            if not missing:
                continue
            if transaction.outcome is Outcome.COMMITTED:
                raise Violation(f"{transaction}: {min(missing)!r} cannot be read")
            if transaction.shown:
                raise Violation(
                    f"{transaction}: {min(transaction.shown)!r} can be read, and "
                    f"{min(missing)!r} cannot"
                )

    # ---------------------------------------------------------------- committed offsets

    def offsets_of(self, transactional_id: str, index: int) -> list[SentTransaction]:
        """Return the transactions of an id that commit an offset for a partition, in order."""
        return [
            each
            for each in self.transactions
            if each.instance.transactional_id == transactional_id and index in each.offsets
        ]

    def least_committed(self, transactional_id: str, index: int) -> int:
        """Return the lowest offset that OffsetFetch may return if it is sent now; -1: no commit."""
        found = NOT_COMMITTED
        for transaction in self.offsets_of(transactional_id, index):
            if transaction.outcome is Outcome.COMMITTED and not transaction.are_offsets_excused:
                found = transaction.offsets[index]
        return found

    def check_offset(self, transactional_id: str, index: int, least: int, offset: int) -> None:
        """Check an OffsetFetch response with a stable offset; `least`: see `least_committed`."""
        possible = {least}
        for transaction in self.offsets_of(transactional_id, index):
            own = transaction.offsets[index]
            is_possible = transaction.are_offsets_excused or (
                transaction.outcome in (Outcome.ASKED, Outcome.COMMITTED)
                and not transaction.passed_over
            )
            if is_possible and own >= least:
                possible.add(own)
        self._check_is_possible(transactional_id, index, offset, possible)

    def check_last_offset(self, transactional_id: str, index: int, offset: int) -> None:
        """Check the same when no transaction is open and readers have read everything: input
        offsets and output records agree.
        """
        possible = {NOT_COMMITTED}
        for transaction in self.offsets_of(transactional_id, index):
            own = transaction.offsets[index]
            if transaction.are_offsets_excused:
                possible.add(own)
            elif transaction.outcome is Outcome.COMMITTED or transaction.shown:
                possible = {own}
            elif transaction.outcome is Outcome.ASKED and not transaction.records:
                possible.add(own)
        self._check_is_possible(transactional_id, index, offset, possible)

    def _check_is_possible(
        self, transactional_id: str, index: int, offset: int, possible: set[int]
    ) -> None:
        if offset not in possible:
            raise Violation(
                f"the offset of {transactional_id} for {index} is {offset}, expected one of "
                f"{sorted(possible)}"
            )

    # ---------------------------------------------------------------- ends of processes

    def clock_jumped(self) -> None:
        """Allow for a next coordinator that considers every open transaction timed out."""
        for transaction in self.transactions:
            transaction.is_contested = True

    def power_lost(self, losses: Losses) -> None:
        """Excuse what a power failure may have taken."""
        if self.is_durable:
            return
        self.may_hang |= losses.is_anything_lost
        forgotten = losses.transactional_ids
        for instance in self.instances:
            if instance.transactional_id in forgotten:
                instance.is_excused = True
        for transactional_id in forgotten:
            self._latest.pop(transactional_id, None)
            orders = [  # EndTxn gives epochs, too
                each.order for each in self.instances if each.transactional_id == transactional_id
            ]
            if orders:
                self._forgotten_up_to[transactional_id] = max(orders)
        self._given = {
            order: owner for order, owner in self._given.items() if owner[0] not in forgotten
        }
        for transaction in self.transactions:
            is_forgotten = transaction.instance.transactional_id in forgotten
            identities = transaction.records.keys()
            if identities & losses.lost:
                transaction.instance.has_gaps = True
            if identities & losses.lost or (
                is_forgotten and (transaction.is_undecided or identities & losses.without_marker)
            ):
                transaction.is_excused = True
            ticks = set(transaction.offsets.values())
            if (
                transaction.is_excused
                or ticks & losses.lost_offsets
                or (is_forgotten and ticks & losses.offsets_without_marker)
            ):
                transaction.are_offsets_excused = True
        for index, end in losses.ends.items():
            view = self.views[index]
            for offset in [at for at in view.at if at >= end]:
                del view.offset_of[view.at.pop(offset)]

"""What the ledger of transactions notices."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.transaction_ledger import (
    NOT_COMMITTED,
    Losses,
    ProducerInstance,
    SentTransaction,
    TransactionLedger,
)
from pykbroker.testing.world.world import Violation

FOREVER_US = 10**12


class Scene:
    """A ledger of two partitions, and a producer."""

    def __init__(self, *, is_durable: bool = False) -> None:
        self.ledger = TransactionLedger("t", 2, is_durable)
        self.producer = self.instance("a", 7, 0)

    def instance(self, owner: str, producer_id: int, epoch: int) -> ProducerInstance:
        self.ledger.asks_for_id("id")
        found = ProducerInstance("id", owner, 1_000, False, producer_id, epoch)
        self.ledger.given(found)
        return found

    def begin(self, *records: bytes, offset: int = 0) -> SentTransaction:
        """One record in each partition, acknowledged at the same offset."""
        transaction = self.ledger.begin(self.producer, 0)
        for index, identity in enumerate(records):
            self.ledger.attempt(transaction, index, identity)
            self.ledger.acked(transaction, identity, offset)
        return transaction

    def commit(self, transaction: SentTransaction, *, is_answered: bool = True) -> None:
        self.ledger.commit_sent(transaction)
        if is_answered:
            self.ledger.commit_answered(transaction)


def lost(**named: object) -> Losses:
    nothing = Losses(frozenset(), frozenset(), frozenset(), {}, frozenset(), frozenset())
    return nothing._replace(**named)  # type: ignore[arg-type]


def test_a_committed_transaction_is_seen_as_a_whole() -> None:
    scene = Scene()
    scene.commit(scene.begin(b"x", b"y"))
    scene.ledger.read(0, 0, 2, {0: b"x"})
    with pytest.raises(Violation, match="cannot be read"):
        scene.ledger.settle()
    scene.ledger.read(1, 0, 2, {0: b"y"})
    scene.ledger.settle()
    with pytest.raises(Violation, match="passes over b'y'"):
        scene.ledger.read(1, 0, 2, {})


def test_nothing_of_an_open_or_aborted_one_is_seen() -> None:
    scene = Scene()
    transaction = scene.begin(b"x")
    with pytest.raises(Violation, match="begun"):
        scene.ledger.read(0, 0, 1, {0: b"x"})
    transaction.shown.clear()
    scene.ledger.aborted(transaction)
    with pytest.raises(Violation, match="aborted"):
        scene.ledger.read(0, 0, 1, {0: b"x"})


def test_what_was_seen_is_not_aborted() -> None:
    scene = Scene()
    transaction = scene.begin(b"x")
    scene.commit(transaction, is_answered=False)
    scene.ledger.read(0, 0, 1, {0: b"x"})
    with pytest.raises(Violation, match="have seen b'x'"):
        scene.ledger.aborted(transaction)


def test_what_was_passed_over_is_not_committed() -> None:
    scene = Scene()
    transaction = scene.begin(b"x")
    scene.commit(transaction, is_answered=False)
    scene.ledger.read(0, 0, 1, {})
    with pytest.raises(Violation, match="passed over"):
        scene.ledger.commit_answered(transaction)


@pytest.mark.parametrize("is_shown_first", [True, False])
def test_one_without_an_answer_is_there_as_a_whole_or_not_at_all(is_shown_first: bool) -> None:
    scene = Scene()
    scene.commit(scene.begin(b"x", b"y"), is_answered=False)
    scene.ledger.settle()
    views = [{0: b"x"}, {}] if is_shown_first else [{}, {0: b"y"}]
    scene.ledger.read(0, 0, 1, views[0])
    with pytest.raises(Violation, match="pass"):
        scene.ledger.read(1, 0, 1, views[1])


def test_one_without_an_answer_that_is_read_in_part() -> None:
    scene = Scene()
    transaction = scene.ledger.begin(scene.producer, 0)
    for index, identity in enumerate((b"x", b"y")):
        scene.ledger.attempt(transaction, index, identity)  # the answers are lost
    scene.commit(transaction, is_answered=False)
    scene.ledger.read(0, 0, 1, {0: b"x"})
    scene.ledger.read(1, 0, 1, {})
    with pytest.raises(Violation, match="can be read, and b'y' cannot"):
        scene.ledger.settle()


def test_each_record_has_one_offset_and_each_offset_one_record() -> None:
    scene = Scene()
    scene.commit(scene.begin(b"x"))
    scene.ledger.read(0, 0, 1, {0: b"x"})
    with pytest.raises(Violation, match="at 4 and at 0"):
        scene.ledger.read(0, 4, 5, {4: b"x"})
    later = scene.ledger.begin(scene.producer, 0)
    scene.ledger.attempt(later, 0, b"z")
    with pytest.raises(Violation, match="where b'x' was"):
        scene.ledger.acked(later, b"z", 0)
    with pytest.raises(Violation, match="no client sent"):
        scene.ledger.read(0, 1, 2, {1: b"unknown"})
    with pytest.raises(Violation, match="no client sent"):
        scene.ledger.read(1, 0, 1, {0: b"x"})


def test_no_epoch_is_given_to_two_producers() -> None:
    scene = Scene()
    scene.instance("a", 7, 0)  # the same one, after a lost answer
    with pytest.raises(Violation, match="given to a and to b"):
        scene.instance("b", 7, 0)
    other = ProducerInstance("other", "c", 1_000, False, 7, 1)
    scene.ledger.asks_for_id("other")
    with pytest.raises(Violation, match="given to id and to other"):
        scene.ledger.given(other)


def test_a_later_epoch_replaces() -> None:
    scene = Scene()
    assert not scene.ledger.is_replaced(scene.producer)
    scene.ledger.asks_for_id("id")
    assert scene.producer.is_contested
    assert not scene.ledger.is_replaced(scene.producer)
    scene.ledger.id_refused("id")
    later = scene.instance("b", 7, 1)
    assert scene.ledger.is_replaced(scene.producer)
    assert not scene.ledger.is_replaced(later)
    assert not later.is_contested
    scene.ledger.asks_for_id("id")  # without an answer: it may be carried out at any time
    assert scene.instance("c", 8, 0).is_contested
    scene.ledger.nothing_is_late("id")
    assert not scene.instance("d", 9, 0).is_contested


def test_the_first_offset_of_what_is_open_for_sure() -> None:
    scene = Scene()
    assert scene.ledger.first_open_offset(0, 0) is None
    first, _ = scene.begin(b"x", offset=5), scene.begin(b"y", offset=9)
    assert scene.ledger.first_open_offset(0, 0) == 5
    assert scene.ledger.first_open_offset(1, 0) is None
    assert scene.ledger.first_open_offset(0, 950_000) is None  # its time is up, by some clock
    scene.commit(first, is_answered=False)
    assert scene.ledger.first_open_offset(0, 0) == 9
    scene.ledger.clock_jumped()
    assert scene.ledger.first_open_offset(0, 0) is None


def test_committed_offsets_agree_with_the_outcome() -> None:
    scene = Scene()
    first, second = scene.begin(b"x"), scene.begin(b"y", offset=1)
    offset = scene.ledger.commits_offset(first, 0)
    assert scene.ledger.least_committed("id", 0) == NOT_COMMITTED
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_offset("id", 0, NOT_COMMITTED, offset)
    scene.commit(first)
    assert scene.ledger.least_committed("id", 0) == offset
    later = scene.ledger.commits_offset(second, 0)
    scene.commit(second, is_answered=False)
    for possible in (offset, later):
        scene.ledger.check_offset("id", 0, offset, possible)
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_offset("id", 0, offset, NOT_COMMITTED)
    scene.ledger.read(0, 0, 2, {0: b"x"})  # so the second one is aborted
    scene.ledger.check_last_offset("id", 0, offset)
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_last_offset("id", 0, later)
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_offset("id", 0, offset, later)


def test_the_offset_of_what_can_be_read_is_committed() -> None:
    scene = Scene()
    transaction = scene.begin(b"x")
    offset = scene.ledger.commits_offset(transaction, 1)
    scene.commit(transaction, is_answered=False)
    scene.ledger.read(0, 0, 1, {0: b"x"})
    scene.ledger.check_last_offset("id", 1, offset)
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_last_offset("id", 1, NOT_COMMITTED)


def test_a_power_failure_excuses_what_was_not_flushed_and_nothing_else() -> None:
    scene = Scene()
    safe, gone = scene.begin(b"x"), scene.begin(b"y", offset=1)
    for transaction in (safe, gone):
        scene.commit(transaction)
    scene.ledger.power_lost(lost(lost=frozenset({b"y"}), ends={0: 1}))
    assert scene.ledger.may_hang
    assert (safe.is_excused, gone.is_excused) == (False, True)
    assert scene.producer.has_gaps
    scene.begin(b"z", offset=1)  # at the offset that is free again
    scene.ledger.read(0, 0, 1, {0: b"x"})
    scene.ledger.settle()


def test_a_coordinator_that_forgot_excuses_what_has_no_marker() -> None:
    scene = Scene()
    ended, open_one = scene.begin(b"x"), scene.begin(b"y", offset=1)
    for transaction in (ended, open_one):
        scene.commit(transaction)
    scene.ledger.read(0, 0, 1, {0: b"x"})
    scene.ledger.power_lost(
        lost(transactional_ids=frozenset({"id"}), without_marker=frozenset({b"y"}))
    )
    assert (ended.is_excused, open_one.is_excused) == (False, True)
    assert scene.ledger.is_forgotten("id")
    assert scene.producer.is_excused
    assert scene.ledger.begin(scene.producer, 0).is_excused
    again = scene.instance("b", 7, 0)  # an epoch that is in use
    assert again.is_excused
    assert not scene.instance("b", 7, 1).is_excused


def test_nothing_is_excused_where_all_is_flushed() -> None:
    scene = Scene(is_durable=True)
    transaction = scene.begin(b"x")
    scene.ledger.power_lost(lost(lost=frozenset({b"x"}), transactional_ids=frozenset({"id"})))
    assert not transaction.is_excused
    assert not scene.producer.is_excused
    assert not scene.ledger.may_hang


def test_offsets_that_were_not_flushed_may_be_lost() -> None:
    scene = Scene()
    first, second = scene.begin(b"x"), scene.begin(b"y", offset=1)
    offsets = [scene.ledger.commits_offset(each, 0) for each in (first, second)]
    for transaction in (first, second):
        scene.commit(transaction)
    scene.ledger.power_lost(lost(lost_offsets=frozenset({offsets[1]})))
    assert not second.is_excused
    for possible in offsets:
        scene.ledger.check_last_offset("id", 0, possible)
    with pytest.raises(Violation, match="expected one of"):
        scene.ledger.check_last_offset("id", 0, NOT_COMMITTED)


def test_losses_of_two_ends() -> None:
    one = lost(lost=frozenset({b"x"}), ends={0: 5})
    both = one.and_also(lost(lost=frozenset({b"y"}), ends={0: 3, 1: 8}))
    assert both.lost == {b"x", b"y"}
    assert both.ends == {0: 3, 1: 8}
    assert both.is_anything_lost
    assert not lost().is_anything_lost

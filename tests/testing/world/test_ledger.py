"""What a partition's ledger notices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.ledger import (
    ID_HEADER,
    Attempt,
    PartitionLedger,
    Stored,
    TopicRules,
    records_of,
    stored_records,
)
from pykbroker.testing.world.world import Violation
from tests.log.log_makers import NOW_MS, batch_of, memory_disk, open_orders


def attempt(number: int, key: bytes | None = None, *, is_tombstone: bool = False) -> Attempt:
    identity = b"p-%d" % number
    value = None if is_tombstone else identity
    return Attempt(identity, "p", number, key, value, 1_000 + number, is_once=True)


def stored(sent: Attempt, offset: int) -> Stored:
    return Stored(offset, sent.identity, sent.key, sent.value, sent.timestamp)


class Book:
    """A ledger with three acknowledged records at 0, 1 and 2."""

    def __init__(self, rules: TopicRules | None = None, key: bytes | None = None) -> None:
        self.ledger = PartitionLedger("t-0", TopicRules() if rules is None else rules)
        self.sent = [attempt(number, key) for number in range(3)]
        for offset, each in enumerate(self.sent):
            self.ledger.attempt(each)
            self.ledger.acked(each.identity, offset)

    def log(self, *numbers: int) -> list[Stored]:
        return [stored(self.sent[number], number) for number in numbers]

    def places(self, *numbers: int) -> set[tuple[int, bytes]]:
        return {(record.offset, record.identity) for record in self.log(*numbers)}


def test_a_whole_log_is_as_promised() -> None:
    book = Book()
    book.ledger.settle(book.log(0, 1, 2), 0, 3)
    assert book.ledger.end == 3


@pytest.mark.parametrize("numbers", [(0, 1), (0, 2), (1, 2)])
def test_a_lost_record_is_noticed(numbers: tuple[int, ...]) -> None:
    book = Book()
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle(book.log(*numbers), 0, 3)


def test_a_record_at_another_offset_is_noticed() -> None:
    book = Book()
    with pytest.raises(Violation, match="where b'p-1' was before"):
        book.ledger.acked(b"p-2", 1)
    with pytest.raises(Violation, match="and was at 2"):
        book.ledger.acked(b"p-2", 7)


def test_a_record_that_nobody_sent_is_noticed() -> None:
    book = Book()
    stranger = stored(attempt(9), 3)
    with pytest.raises(Violation, match="no client sent"):
        book.ledger.seen(stranger)
    with pytest.raises(Violation, match="no client sent"):
        book.ledger.settle([*book.log(0, 1, 2), stranger], 0, 4)


def test_a_changed_record_is_noticed() -> None:
    book = Book()
    with pytest.raises(Violation, match="was sent as"):
        book.ledger.seen(book.log(1)[0]._replace(value=b"p-1 changed"))


def test_a_duplicate_of_an_idempotent_producer_is_noticed() -> None:
    book = Book()
    with pytest.raises(Violation, match="and was at 0"):
        book.ledger.settle([*book.log(0, 1, 2), stored(book.sent[0], 3)], 0, 4)
    plain = Book()
    plain.sent[0].is_once = False
    plain.ledger.settle([*plain.log(0, 1, 2), stored(plain.sent[0], 3)], 0, 4)


def test_a_wrong_order_is_noticed() -> None:
    ledger = PartitionLedger("t-0", TopicRules())
    first, second = attempt(0), attempt(1)
    ledger.attempt(first)
    ledger.attempt(second)
    with pytest.raises(Violation, match="comes after number 1"):
        ledger.settle([stored(second, 0), stored(first, 1)], 0, 2)


def test_the_start_moves_only_for_a_reason() -> None:
    with pytest.raises(Violation, match="nothing may delete"):
        Book().ledger.settle(Book().log(2), 2, 3)
    trimmed = Book()
    trimmed.ledger.deleted_before = 2
    trimmed.ledger.settle(trimmed.log(2), 2, 3)
    with pytest.raises(Violation, match="nothing may delete"):
        trimmed.ledger.settle([], 3, 3)


def test_retention_takes_what_is_old_enough() -> None:
    wall_ms = [1_000 + 2_000]
    rules = TopicRules(retention_ms=2_000, latest_wall_ms=lambda: wall_ms[0])
    book = Book(rules)
    with pytest.raises(Violation, match="nothing may delete"):
        book.ledger.settle(book.log(1, 2), 1, 3)
    wall_ms[0] += 2
    book.ledger.settle(book.log(2), 2, 3)


def test_compaction_takes_what_was_replaced() -> None:
    book = Book(TopicRules(is_compacted=True), key=b"k")
    book.ledger.settle(book.log(2), 0, 3)
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle(book.log(1), 0, 3)
    tombstone = attempt(3, b"k", is_tombstone=True)
    book.ledger.attempt(tombstone)
    book.ledger.acked(tombstone.identity, 3)
    book.ledger.settle([], 0, 4)


def test_a_power_failure_takes_what_was_not_flushed_and_no_more() -> None:
    book = Book()
    book.ledger.power_lost(1)
    book.ledger.process_ended(3, 3)
    book.ledger.settle(book.log(0), 0, 1)
    assert book.ledger.lost_by_power == 2
    assert book.ledger.at == {0: b"p-0"}
    other = Book()
    other.ledger.power_lost(2)
    with pytest.raises(Violation, match="is lost"):
        other.ledger.settle(other.log(0), 0, 1)
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle([], 0, 1)


def test_a_replica_that_does_not_know_of_a_loss_shows_what_was_committed() -> None:
    book = Book()
    unacknowledged = attempt(3)
    book.ledger.attempt(unacknowledged)
    end = 4
    book.ledger.committed_end = lambda: end
    book.ledger.may_lose_from(1, 4)
    later = attempt(4)
    book.ledger.attempt(later)
    end = 1
    for record in [*book.log(0, 1, 2), stored(unacknowledged, 3)]:
        book.ledger.seen(record)
    assert book.ledger.at == {0: b"p-0"}
    for record in (stored(later, 1), stored(unacknowledged, 4)):
        with pytest.raises(Violation, match="committed is what is below 1"):
            book.ledger.seen(record)
    book.ledger.acked(unacknowledged.identity, 3)  # by a leader that was replaced
    assert book.ledger.at == {0: b"p-0"}
    for attempted, offset in ((later, 1), (unacknowledged, 4)):
        with pytest.raises(Violation, match="committed is what is below 1"):
            book.ledger.acked(attempted.identity, offset)


def test_replicas_may_lack_what_a_power_failure_took_from_one_of_them() -> None:
    book = Book()
    book.ledger.may_lose_from(1, 3)
    for numbers in ((0, 1, 2), (0, 2)):
        book.ledger.settle(book.log(*numbers), 0, 3, everywhere=book.places(0, 2))
    assert sorted(book.ledger.at) == [0, 2]
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle(book.log(0, 1), 0, 2, everywhere=book.places(0))


def test_what_lies_in_a_gap_of_one_log_is_read_from_others() -> None:
    book = Book()
    book.ledger.committed_end = lambda: 3
    book.ledger.is_everywhere = lambda *place: place in book.places(0, 2)
    book.ledger.may_lose_from(1, 3)
    for record in book.log(0, 1, 2):
        book.ledger.seen(record)
    assert sorted(book.ledger.at) == [0, 2]
    book.ledger.settle(book.log(0, 2), 0, 3, everywhere=book.places(0, 2))
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle(book.log(0, 1), 0, 3, everywhere=book.places(0))


def test_what_a_leader_has_missed_may_be_stored_again() -> None:
    book = Book()
    first, again = book.log(0)[0], stored(book.sent[0], 5)
    book.ledger.rules.retention_ms = 500
    book.ledger.seen(first)
    with pytest.raises(Violation, match="is read at 5 and was at 0"):
        book.ledger.seen(again)  # a single node has missed nothing
    book.ledger.committed_end = lambda: 6
    book.ledger.seen(again)
    with pytest.raises(Violation, match="is read at 4 and was at 5"):
        book.ledger.seen(stored(book.sent[0], 4))
    book.ledger.rules.retention_ms = -1
    with pytest.raises(Violation, match="is read at 4 and was at 5"):
        book.ledger.seen(stored(book.sent[0], 4))


def test_a_replica_shows_what_it_had_where_others_have_new_records() -> None:
    book = Book()
    book.ledger.committed_end = lambda: 3
    book.ledger.may_lose_from(0, 3)
    old, new = book.log(0)[0], stored(book.sent[2], 0)
    book.ledger.is_everywhere = lambda *place: place == (0, new.identity)
    book.ledger.seen(new)
    book.ledger.seen(old)
    assert book.ledger.at == {0: new.identity}
    book.ledger.is_everywhere = lambda *place: True
    with pytest.raises(Violation, match="where b'p-2' was before"):
        book.ledger.seen(old)


def test_what_a_client_has_received_since_is_everywhere() -> None:
    book = Book()
    book.ledger.may_lose_from(1, 3)
    book.ledger.seen(book.log(1)[0])
    book.ledger.settle(book.log(0, 1, 2), 0, 3, everywhere=book.places(0, 2))
    with pytest.raises(Violation, match="is lost"):
        book.ledger.settle(book.log(0, 2), 0, 3, everywhere=book.places(0, 2))


def test_power_that_goes_during_a_start_takes_what_the_last_process_had_not_flushed() -> None:
    book = Book()
    book.ledger.process_ended(3, 1)
    book.ledger.power_lost(None)
    book.ledger.settle(book.log(0), 0, 1)
    assert book.ledger.at == {0: b"p-0"}
    other = Book()
    other.ledger.process_ended(3, 2)
    other.ledger.power_lost(None)
    with pytest.raises(Violation, match="is lost"):
        other.ledger.settle(other.log(0), 0, 1)


def test_ids_are_in_headers() -> None:
    records = [(b"k", b"v", 5, [(ID_HEADER, b"a-1")]), (None, None, 6, [(ID_HEADER, b"a-2")])]
    whole = bytes(build_batch(records, base_offset=7))
    expected = [Stored(7, b"a-1", b"k", b"v", 5), Stored(8, b"a-2", None, None, 6)]
    assert stored_records(whole) == expected
    assert stored_records(whole + whole[:40]) == expected


def test_a_log_is_read_to_its_end() -> None:
    log = open_orders(memory_disk())
    for number in range(3):
        assert log.append_as_leader(batch_of(b"%d" % number, b"x"), 0, NOW_MS).queued
    log.write_pending()
    assert [record.offset for record in records_of(log)] == [0, 1, 2, 3, 4, 5]
    assert replace(TopicRules(), is_flushed=True).latest_wall_ms() == 0

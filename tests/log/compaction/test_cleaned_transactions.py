"""cleaned_transactions: one row a batch, as they follow each other in a log."""

from __future__ import annotations

from pykbroker.log.compaction.cleaned_transactions import CleanedTransactions
from pykbroker.log.segments.txn_index import AbortedTxn
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch, read_header


class Pass:
    """Feeds batches at their offsets; answers are those of CleanedTransactions."""

    def __init__(self, *aborted: AbortedTxn) -> None:
        self.kept: list[AbortedTxn] = []
        self.transactions = CleanedTransactions(aborted, self.kept.append)

    def records(self, offset: int, producer: int, *, transactional: bool = True) -> bool:
        batch = build_batch(
            [(b"k", b"v", 0, ())],
            base_offset=offset,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=transactional,
        )
        return self.transactions.on_batch(read_header(batch))

    def marker(self, offset: int, producer: int, control_type: int) -> bool:
        batch = build_marker_batch(
            EndTxnMarker(control_type, 0),
            producer_id=producer,
            producer_epoch=0,
            timestamp_ms=0,
            base_offset=offset,
        )
        return self.transactions.on_control_batch(read_header(batch), batch)


def test_aborted_batches_go_and_their_marker_stays_for_one_more_round() -> None:
    aborted = AbortedTxn(7, 10, 14, 15)
    first = Pass(aborted)
    assert not first.records(9, 7, transactional=False)
    assert first.records(10, 7)
    assert not first.records(11, 8)
    assert first.records(12, 7)
    assert not first.records(13, 7, transactional=False)
    assert not first.marker(14, 7, ABORT)
    assert first.kept == [aborted]
    assert not first.records(15, 7)  # the next transaction of the same producer
    second = Pass(aborted)  # the records are gone
    assert second.marker(14, 7, ABORT)
    assert second.kept == []


def test_commit_markers() -> None:
    log = Pass()
    assert not log.records(1, 7)
    assert not log.marker(2, 7, COMMIT)
    assert log.marker(3, 7, COMMIT)  # an empty transaction
    assert log.marker(4, 8, COMMIT)


def test_an_empty_control_batch_is_spent() -> None:
    batch = build_batch([], is_control=True, producer_id=7, producer_epoch=0, last_offset_delta=0)
    assert Pass().transactions.on_control_batch(read_header(batch), batch)


def test_transactions_of_several_producers_overlap() -> None:
    log = Pass(AbortedTxn(1, 0, 6, 0), AbortedTxn(2, 1, 7, 8), AbortedTxn(1, 8, 9, 10))
    assert [log.records(0, 1), log.records(1, 2), log.records(2, 3), log.records(3, 2)] == [
        True,
        True,
        False,
        True,
    ]
    assert not log.marker(5, 3, COMMIT)
    assert not log.marker(6, 1, ABORT)
    assert not log.marker(7, 2, ABORT)
    assert log.records(8, 1)
    assert not log.marker(9, 1, ABORT)
    assert [txn.last_offset for txn in log.kept] == [6, 7, 9]


def test_other_control_records_stay() -> None:
    batch = build_batch([(b"\x00\x00\x00\x02", b"", 0, ())], is_control=True)
    assert not Pass().transactions.on_control_batch(read_header(batch), batch)

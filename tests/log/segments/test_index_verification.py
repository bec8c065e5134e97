"""Index entries that are right and wrong, and the aborted transactions of a partition."""

from __future__ import annotations

import pytest

from pykbroker.log.segments.index_verification import (
    NO_MARKER,
    BatchColumns,
    OpenTransactions,
    wrong_aborted,
    wrong_offset_entries,
    wrong_time_entries,
)
from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.protocol.record_batch import build_batch, read_header

#: Three batches of 100 bytes and ten records; the second is the latest.
BATCHES = BatchColumns([0, 100, 200], [1000, 1010, 1020], [1009, 1019, 1029], [50, 90, 70])


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([(1019, 100), (1029, 200)], []),
        # Of a follower before 4.0, which appended the batches at 0 and 100 at once.
        ([(1019, 0), (1029, 200)], []),
        ([(1029, 0)], []),
        ([(1009, 100)], [(0, "the batch at 100 does not hold offset 1009")]),
        ([(1025, 100), (1029, 200)], [(0, "the batch at 100 does not hold offset 1025")]),
        ([(1019, 101)], [(0, "no batch begins at 101")]),
        ([(1019, 300)], [(0, "no batch begins at 300")]),
        ([(1029, 200), (1019, 100)], [(1, "it does not ascend")]),
    ],
)
def test_offset_entries(entries: list[tuple[int, int]], expected: list[tuple[int, str]]) -> None:
    assert list(wrong_offset_entries(entries, BATCHES)) == expected


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([(50, 1009), (90, 1019)], []),
        ([(90, 1029)], []),
        ([(70, 1029)], [(0, "70, but the largest up to there is 90")]),
        ([(90, 1040)], [(0, "no batch holds offset 1040")]),
        ([(50, 999)], [(0, "no batch holds offset 999")]),
        ([(90, 1019), (50, 1009)], [(1, "it does not ascend")]),
    ],
)
def test_time_entries(entries: list[tuple[int, int]], expected: list[tuple[int, str]]) -> None:
    assert list(wrong_time_entries(entries, BATCHES)) == expected


def test_a_segment_without_batches_makes_every_entry_wrong() -> None:
    empty = BatchColumns([], [], [], [])
    assert list(wrong_offset_entries([(1000, 0)], empty)) == [(0, "no batch begins at 0")]
    assert list(wrong_time_entries([(5, 1000)], empty)) == [(0, "no batch holds offset 1000")]


def feed(open_ones: OpenTransactions, offset: int, marker: int = NO_MARKER) -> object:
    batch = build_batch(
        [(None, b"", 5, ())],
        base_offset=offset,
        producer_id=7,
        producer_epoch=0,
        is_transactional=True,
        is_control=marker != NO_MARKER,
    )
    return open_ones.feed(read_header(batch), marker)


def test_transactions_from_their_first_batch_to_their_marker() -> None:
    open_ones = OpenTransactions()
    assert feed(open_ones, 1, ABORT) is None  # its transaction began before
    assert [feed(open_ones, offset) for offset in (2, 3)] == [None, None]
    assert feed(open_ones, 4, ABORT) == (7, 2, 4)
    assert feed(open_ones, 5) is None
    assert feed(open_ones, 6, COMMIT) is None
    assert open_ones.first_offsets == {}


def test_an_index_that_lacks_an_abort_or_has_one_too_many() -> None:
    found, indexed = {(7, 2, 4)}, {(8, 2, 4)}
    both = [
        (2, "aborted 2 to 4 of producer 7 is not in the index"),
        (2, "2 to 4 of producer 8 is not an aborted transaction"),
    ]
    assert list(wrong_aborted(indexed, found, log_start=0, has_gaps=False)) == both
    assert list(wrong_aborted(indexed, found, log_start=3, has_gaps=False)) == both[:1]
    assert list(wrong_aborted(found, found, log_start=0, has_gaps=False)) == []


def test_gaps_excuse_what_compaction_may_have_taken() -> None:
    assert list(wrong_aborted({(8, 2, 4)}, set(), log_start=0, has_gaps=True)) == []
    assert list(wrong_aborted({(7, 1, 4)}, {(7, 2, 4)}, log_start=0, has_gaps=True)) == []
    assert len(list(wrong_aborted(set(), {(7, 2, 4)}, log_start=0, has_gaps=True))) == 1

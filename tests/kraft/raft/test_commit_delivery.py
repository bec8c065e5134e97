"""Portions of the committed log: in order, each record once, none before it is committed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_log import ControlRecord, LogBatch
from pykbroker.kraft.raft.commit_delivery import PORTION_RECORDS, CommitDelivery


def batch(base_offset: int, count: int) -> LogBatch:
    """Records whose messages are their offsets; a control record if `count` is 0."""
    messages: list[Any] = list(range(base_offset, base_offset + count))
    records = [MetadataRecord(message) for message in messages]
    control = [] if records else [ControlRecord(base_offset, "a new leader")]
    last_offset = base_offset + max(count, 1) - 1
    return LogBatch(base_offset, last_offset, 1, 100, 50, records, control)


def test_small_batches_are_delivered_together() -> None:
    delivery = CommitDelivery()
    batches = [batch(0, 2), batch(2, 0), batch(3, 1)]
    for each in batches:
        delivery.add(each)
    assert delivery.take(2) == batches[:1]
    assert delivery.offset == 0
    delivery.end()
    assert (delivery.offset, delivery.has_more(2), delivery.has_more(4)) == (2, False, True)
    assert delivery.take(4) == batches[1:]
    delivery.end()
    assert (delivery.take(4), delivery.offset) == ([], 4)


def test_a_batch_that_is_cut_ends_once() -> None:
    delivery = CommitDelivery()
    count = 2 * PORTION_RECORDS + 1
    delivery.add(batch(0, count))
    delivery.add(batch(count, 1))
    portions = []
    while delivery.has_more(count + 1):
        portions.append(delivery.take(count + 1))
    assert [[at.is_end for at in portion] for portion in portions] == [
        [False],
        [False],
        [True, True],
    ]
    assert sum(at.size_bytes for portion in portions for at in portion) == 100
    assert portions[1][0].base_offset == PORTION_RECORDS


def test_what_is_truncated_or_replaced_by_a_snapshot_is_not_delivered() -> None:
    delivery = CommitDelivery()
    for each in (batch(0, 2), batch(2, 2), batch(4, 2)):
        delivery.add(each)
    delivery.truncate_to(4)
    assert [at.base_offset for at in delivery.take(9)] == [0, 2]
    delivery.add(batch(4, 2))
    delivery.restart(20)
    delivery.end()  # of the portion that the snapshot has replaced
    assert (delivery.take(30), delivery.offset) == ([], 20)


@given(st.lists(st.integers(0, 3 * PORTION_RECORDS), max_size=8), st.data())
def test_every_committed_record_is_delivered_once(sizes: list[int], choice: st.DataObject) -> None:
    delivery = CommitDelivery()
    offsets: list[int] = []
    next_offset = high_watermark = 0
    for size in sizes:
        delivery.add(batch(next_offset, size))
        next_offset += max(size, 1)
        high_watermark = choice.draw(st.sampled_from((high_watermark, next_offset)))
        portion = delivery.take(high_watermark)
        delivery.end()
        assert sum(len(at.records) for at in portion) < 2 * PORTION_RECORDS
        offsets += [record.message for at in portion for record in at.records]
        assert delivery.offset <= high_watermark
    while delivery.has_more(next_offset):
        portion = delivery.take(next_offset)
        offsets += [record.message for at in portion for record in at.records]
    assert offsets == [at for at in range(next_offset) if at in offsets]
    assert len(offsets) == sum(sizes)

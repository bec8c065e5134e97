"""Batches of a coordinator's log."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.batches import decision_batch, marker_batch
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.records import offset_tombstone
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.coordinator.transaction.records import TransactionRecordCodec, tombstone
from pykbroker.protocol.compression import GZIP
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, decode_marker
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.protocol.record_batch import iter_records, read_header

CODEC = RecordCodec(GROUP_RECORD_TYPES)


def test_a_decision_of_no_transaction() -> None:
    records = [offset_tombstone("g", "t", index) for index in range(2)]
    batch = decision_batch(CODEC, ShardDecision(records=records), records[:1], 5, GZIP)
    header = read_header(batch)
    assert (header.producer_id, header.base_sequence) == (-1, 0)
    assert (header.is_transactional, header.codec) == (False, GZIP)
    assert [record.timestamp for record in iter_records(batch)] == [5]


def test_transactions_do_not_number_their_batches() -> None:
    records = [tombstone("t")]
    batch = decision_batch(TransactionRecordCodec(), ShardDecision(records=records), records, 5, 0)
    assert read_header(batch).base_sequence == -1


def test_a_decision_of_a_transaction() -> None:
    records = [offset_tombstone("g", "t", 0)]
    decision = ShardDecision(records=records, producer_id=9, producer_epoch=3)
    header = read_header(decision_batch(CODEC, decision, records, 5, 0))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, 0)
    assert (header.is_transactional, header.is_control) == (True, False)


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker(committed: bool) -> None:
    marker = WritableTxnMarker(
        producer_id=9, producer_epoch=3, transaction_result=committed, coordinator_epoch=4
    )
    batch = marker_batch(marker, 5)
    header = read_header(batch)
    assert (header.producer_id, header.producer_epoch) == (9, 3)
    assert (header.is_transactional, header.is_control) == (True, True)
    (record,) = iter_records(batch)
    expected = EndTxnMarker(COMMIT if committed else ABORT, 4)
    assert decode_marker(record.key, record.value) == expected
    assert record.timestamp == 5

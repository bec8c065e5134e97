"""What a read_committed reader shows of a response: what Kafka's consumer shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.clients.committed_reader import committed_records
from pykbroker.testing.world.ledger import ID_HEADER


def batch_of(offset: int, producer_id: int, *names: bytes, is_transactional: bool = True) -> bytes:
    records = [(None, name, 0, [(ID_HEADER, name)]) for name in names]
    return bytes(
        build_batch(
            records,
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=is_transactional,
        )
    )


def marker(offset: int, producer_id: int, kind: int) -> bytes:
    return bytes(
        build_marker_batch(
            EndTxnMarker(kind, 0),
            producer_id=producer_id,
            producer_epoch=0,
            timestamp_ms=0,
            base_offset=offset,
        )
    )


def response(records: bytes, *aborted: tuple[int, int]) -> Any:
    found = [SimpleNamespace(producer_id=each[0], first_offset=each[1]) for each in aborted]
    return SimpleNamespace(records=records, aborted_transactions=found or None)


def test_aborted_batches_are_left_out_up_to_their_marker() -> None:
    records = (
        batch_of(0, 1, b"a", b"b")
        + batch_of(2, 2, b"c")
        + marker(3, 1, ABORT)
        + batch_of(4, 1, b"d")
        + marker(5, 2, COMMIT)
        + marker(6, 1, COMMIT)
    )
    answer = response(records, (1, 0))
    assert committed_records(answer, 0) == ({2: b"c", 4: b"d"}, 7)
    assert committed_records(response(records), 0)[0] == {0: b"a", 1: b"b", 2: b"c", 4: b"d"}


def test_the_aborted_list_is_sorted_by_first_offset() -> None:
    records = (
        batch_of(0, 1, b"a") + marker(1, 1, ABORT) + batch_of(2, 1, b"b") + marker(3, 1, ABORT)
    )
    assert committed_records(response(records, (1, 2), (1, 0)), 0) == ({}, 4)


def test_records_before_the_position_and_those_without_a_transaction() -> None:
    records = batch_of(0, 1, b"a", b"b", b"c", is_transactional=False)
    assert committed_records(response(records, (1, 0)), 2) == ({2: b"c"}, 3)


def test_a_batch_that_is_cut_off() -> None:
    records = batch_of(0, 1, b"a") + batch_of(1, 1, b"b")[:-3]
    assert committed_records(response(records), 0) == ({0: b"a"}, 1)
    assert committed_records(response(b""), 5) == ({}, 5)

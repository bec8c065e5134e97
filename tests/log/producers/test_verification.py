"""Verification guards: what may open a transaction in a partition, and when a guard is void."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.producers.producer_state import ProducerStateManager
from pykbroker.log.producers.verification import UNVERIFIED, VerificationGuard, Verifications
from pykbroker.log.validation.validation_rules import CLIENT, COORDINATOR
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch, read_header

PRODUCER = 7
NOW_MS = 1000


def batch_of(sequence: int, epoch: int = 0, transactional: bool = True) -> bytearray:
    return build_batch(
        [(None, b"v", NOW_MS, ())],
        producer_id=PRODUCER,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )


def marker(epoch: int = 0) -> bytearray:
    return build_marker_batch(
        EndTxnMarker(ABORT, 0), producer_id=PRODUCER, producer_epoch=epoch, timestamp_ms=NOW_MS
    )


class Partition:
    """The producers of one partition, and its end."""

    def __init__(self) -> None:
        self.state = ProducerStateManager("t-0")
        self.end = 0

    def start(self, sequence: int = 0, epoch: int = 0, bump: bool = False) -> Any:
        return self.state.start_verification(PRODUCER, sequence, epoch, bump, NOW_MS)

    def append(
        self, batch: bytearray, guard: VerificationGuard | None = None, origin: int = CLIENT
    ) -> None:
        header = read_header(batch)
        update = self.state.prepare(header, batch, self.end, origin, guard=guard)
        assert update is not None
        self.state.apply(update)
        self.state.verifications.note_append(header)
        self.end += 1

    def refusal(self, batch: bytearray, guard: VerificationGuard | None) -> int:
        with pytest.raises(KafkaError) as refused:
            self.append(batch, guard)
        return refused.value.code


@pytest.fixture
def partition() -> Partition:
    return Partition()


def test_only_its_guard_opens_a_transaction(partition: Partition) -> None:
    guard = partition.start()
    assert partition.start() is guard
    for wrong in (UNVERIFIED, VerificationGuard()):
        assert partition.refusal(batch_of(0), wrong) == ErrorCode.INVALID_TXN_STATE
    partition.append(batch_of(0), guard)
    assert partition.state.verifications.entries == {}


def test_an_open_transaction_needs_no_guard(partition: Partition) -> None:
    partition.append(batch_of(0), partition.start())
    assert partition.start(1) is None
    partition.append(batch_of(1), UNVERIFIED)


def test_a_guard_is_void_after_a_marker(partition: Partition) -> None:
    guard = partition.start()
    partition.append(marker(), origin=COORDINATOR)
    assert partition.refusal(batch_of(0), guard) == ErrorCode.INVALID_TXN_STATE
    assert partition.start() is not guard


def test_the_marker_of_the_transaction_before_leaves_the_next_ones_guard(
    partition: Partition,
) -> None:
    partition.append(batch_of(0), partition.start(bump=True))
    guard = partition.start(0, epoch=1, bump=True)
    assert guard is not None  # a newer epoch: the transaction before is not this one
    partition.append(marker(epoch=1), origin=COORDINATOR)
    partition.append(batch_of(0, epoch=1), guard)


def test_a_marker_of_another_epoch_voids_the_guard(partition: Partition) -> None:
    guard = partition.start(bump=True)
    partition.append(marker(epoch=1), origin=COORDINATOR)
    assert partition.refusal(batch_of(0, epoch=1), guard) == ErrorCode.INVALID_TXN_STATE


def test_a_stale_epoch_is_told_before_all_else(partition: Partition) -> None:
    partition.append(marker(epoch=2), origin=COORDINATOR)
    with pytest.raises(KafkaError) as refused:
        partition.start(epoch=1)
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.refusal(batch_of(0, epoch=1), UNVERIFIED) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_higher_sequence_waits_for_the_lowest_seen(partition: Partition) -> None:
    guard = partition.start(5)
    partition.start(3)
    partition.start(9)
    assert partition.refusal(batch_of(5), guard) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    partition.append(batch_of(3), guard)


def test_a_new_epoch_begins_its_sequences_anew(partition: Partition) -> None:
    partition.start(0, epoch=0)
    guard = partition.start(4, epoch=1)
    partition.append(batch_of(4, epoch=1), guard)


def test_a_producer_of_transaction_version_2_begins_at_0(partition: Partition) -> None:
    guard = partition.start(3, bump=True)
    assert partition.refusal(batch_of(3), guard) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    older = Partition()
    older.append(batch_of(3), older.start(3))


def test_nothing_is_verified_without_a_guard(partition: Partition) -> None:
    partition.append(batch_of(0))
    partition.append(batch_of(1, transactional=True))


def test_batches_outside_of_transactions_need_no_guard(partition: Partition) -> None:
    partition.append(batch_of(0, transactional=False), UNVERIFIED)


def test_verifications_expire() -> None:
    verifications = Verifications()
    verifications.start(1, 0, 0, False, 0)
    verifications.start(2, 0, 0, False, 10)
    verifications.remove_expired(100, 95)
    assert list(verifications.entries) == [2]


def test_they_expire_with_the_producers(partition: Partition) -> None:
    partition.start()
    partition.state.remove_expired(NOW_MS + partition.state.producer_id_expiration_ms)
    assert partition.state.verifications.entries == {}

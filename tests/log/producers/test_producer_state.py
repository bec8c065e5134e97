"""pykbroker.log.producers.producer_state: rules of idempotence and transactions, and undoing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.producers.producer_state import (
    LATE_BUFFER_MS,
    CompletedTxn,
    ProducerStateManager,
    ProducerUpdate,
    decode_snapshot,
)
from pykbroker.log.validation.validation_rules import CLIENT, COORDINATOR, REPLICATION
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch, read_header

WRAP = 2**31


def batch_of(
    sequence: int,
    count: int = 1,
    *,
    producer: int = 7,
    epoch: int = 0,
    transactional: bool = False,
    timestamp: int = 1000,
) -> bytearray:
    return build_batch(
        [(None, b"v", timestamp, ())] * count,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )


class Log:
    """Offsets and a producer state, as a partition log uses them."""

    def __init__(self) -> None:
        self.state = ProducerStateManager("orders-0")
        self.end = 0
        self.updates: list[ProducerUpdate] = []

    def append(self, batch: bytearray, origin: int = CLIENT) -> tuple[int, CompletedTxn | None]:
        header = read_header(batch)
        if origin == CLIENT and (duplicate := self.state.find_duplicate(header)):
            return duplicate.first_offset, None
        update = self.state.prepare(header, batch, self.end, origin)
        assert update is not None
        self.updates.append(update)
        completed = self.state.apply(update)
        first = self.end
        self.end += header.last_offset_delta + 1
        self.state.map_end_offset = self.end
        return first, completed

    def mark(
        self,
        control_type: int,
        *,
        producer: int = 7,
        epoch: int = 0,
        coordinator_epoch: int = 0,
        version: int = 0,
        origin: int = COORDINATOR,
    ) -> CompletedTxn | None:
        batch = build_marker_batch(
            EndTxnMarker(control_type, coordinator_epoch),
            producer_id=producer,
            producer_epoch=epoch,
            timestamp_ms=5000,
        )
        update = self.state.prepare(read_header(batch), batch, self.end, origin, version)
        assert update is not None
        self.updates.append(update)
        completed = self.state.apply(update)
        self.end += 1
        return completed


def refused(log: Log, batch: bytearray, code: ErrorCode, origin: int = CLIENT) -> None:
    before = (dict(log.state.producers), log.end, log.state.first_unstable_offset())
    with pytest.raises(KafkaError) as caught:
        log.append(batch, origin)
    assert caught.value.code == code
    assert (dict(log.state.producers), log.end, log.state.first_unstable_offset()) == before


def test_five_batches_are_remembered() -> None:
    log = Log()
    offsets = [log.append(batch_of(sequence, 2))[0] for sequence in range(0, 14, 2)]
    assert offsets == [0, 2, 4, 6, 8, 10, 12]
    for sequence in (4, 6, 8, 10, 12):
        assert log.append(batch_of(sequence, 2)) == (sequence, None)
    assert log.end == 14
    refused(log, batch_of(2, 2), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    refused(log, batch_of(12, 1), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_gaps_and_unknown_producers() -> None:
    log = Log()
    assert log.append(batch_of(55))[0] == 0  # not known: any sequence
    refused(log, batch_of(57), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert log.append(batch_of(56))[0] == 1
    assert log.append(batch_of(99, producer=8), REPLICATION)[0] == 2
    assert log.append(batch_of(5, producer=8), REPLICATION)[0] == 3


def test_sequences_wrap_around() -> None:
    log = Log()
    log.append(batch_of(WRAP - 3, 2))
    log.append(batch_of(WRAP - 1, 3))  # 2**31 - 1, 0, 1
    assert log.append(batch_of(2))[0] == 5
    assert log.append(batch_of(WRAP - 1, 3))[0] == 2
    fresh = Log()
    fresh.append(batch_of(WRAP - 1))
    assert fresh.append(batch_of(0))[0] == 1


def test_epochs() -> None:
    log = Log()
    log.append(batch_of(0, 5))
    refused(log, batch_of(5, epoch=1), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    log.append(batch_of(0, epoch=1))
    refused(log, batch_of(1, epoch=0), ErrorCode.INVALID_PRODUCER_EPOCH)
    refused(log, batch_of(1, epoch=0), ErrorCode.INVALID_PRODUCER_EPOCH, COORDINATOR)
    assert log.append(batch_of(1, epoch=0), REPLICATION)[0] == 6
    assert log.state.producers[7].producer_epoch == 0


def test_the_same_sequences_of_another_epoch_are_no_duplicate() -> None:
    log = Log()
    assert log.append(batch_of(0, 2)) == (0, None)
    assert log.append(batch_of(0, 2, epoch=1)) == (2, None)
    assert log.append(batch_of(0, 2, epoch=1)) == (2, None)  # this one is
    refused(log, batch_of(0, 2), ErrorCode.INVALID_PRODUCER_EPOCH)
    assert log.end == 4


def test_a_transaction_holds_back_the_last_stable_offset() -> None:
    log = Log()
    log.append(batch_of(0))
    assert log.state.first_unstable_offset() is None
    log.append(batch_of(0, 2, producer=9, transactional=True))
    log.append(batch_of(0, 2, producer=8, transactional=True))
    assert log.state.first_unstable_offset() == 1
    assert log.state.producers[9].current_txn_first_offset == 1
    refused(log, batch_of(2, producer=9), ErrorCode.INVALID_TXN_STATE)

    aborted = log.mark(ABORT, producer=9)
    assert aborted is not None
    assert (aborted.producer_id, aborted.first_offset, aborted.last_offset) == (9, 1, 5)
    assert (aborted.is_aborted, aborted.last_stable_offset) == (True, 3)
    assert log.state.first_unstable_offset() == 1  # until the marker is replicated
    log.state.on_high_watermark(5)
    assert log.state.first_unstable_offset() == 1
    log.state.on_high_watermark(6)
    assert log.state.first_unstable_offset() == 3

    committed = log.mark(COMMIT, producer=8)
    assert committed is not None
    assert (committed.is_aborted, committed.last_stable_offset) == (False, 7)
    log.state.on_log_start_offset(7)
    assert log.state.first_unstable_offset() is None
    assert log.mark(COMMIT, producer=8) is None  # an empty transaction


def test_the_oldest_transaction_is_late_by_the_last_record_of_its_producer() -> None:
    log = Log()
    max_ms = 60_000
    late_ms = 1000 + max_ms + LATE_BUFFER_MS + 1
    log.append(batch_of(0, timestamp=1))  # has no transaction
    assert not log.state.has_late_transaction(10 * late_ms, max_ms)
    log.append(batch_of(0, producer=9, transactional=True))
    assert not log.state.has_late_transaction(late_ms - 1, max_ms)
    assert log.state.has_late_transaction(late_ms, max_ms)
    log.append(batch_of(0, producer=8, transactional=True, timestamp=500))
    log.append(batch_of(1, producer=9, transactional=True, timestamp=late_ms))
    assert not log.state.has_late_transaction(late_ms, max_ms)  # 8's is not the oldest
    log.mark(ABORT, producer=9)
    assert log.state.has_late_transaction(late_ms, max_ms)
    log.mark(COMMIT, producer=8)
    log.append(batch_of(0, producer=7, epoch=1, transactional=True, timestamp=-1))
    assert not log.state.has_late_transaction(late_ms, max_ms)  # its age is not known


def test_markers_fence() -> None:
    log = Log()
    log.append(batch_of(0, epoch=2, transactional=True))
    log.mark(ABORT, epoch=3, coordinator_epoch=5)
    assert log.state.producers[7].batches == []
    refused(log, batch_of(0, epoch=2, transactional=True), ErrorCode.INVALID_PRODUCER_EPOCH)
    with pytest.raises(KafkaError) as caught:
        log.mark(ABORT, epoch=2, coordinator_epoch=5)
    assert caught.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(KafkaError) as caught:
        log.mark(ABORT, epoch=3, coordinator_epoch=4)
    assert caught.value.code == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    log.mark(ABORT, epoch=3, coordinator_epoch=4, origin=REPLICATION)
    assert log.append(batch_of(0, epoch=3, transactional=True))[0] == 3


def test_markers_of_transaction_version_2_raise_the_epoch() -> None:
    log = Log()
    log.append(batch_of(0, transactional=True))
    with pytest.raises(KafkaError) as caught:
        log.mark(COMMIT, epoch=0, version=2)
    assert caught.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert "<=" in str(caught.value.message)
    assert log.mark(COMMIT, epoch=1, version=2) is not None
    assert log.mark(COMMIT, epoch=1, version=2) is None  # a retry is written again, and harmless


def test_a_marker_of_the_same_epoch_keeps_the_sequences() -> None:
    log = Log()
    log.append(batch_of(0, 3, transactional=True))
    log.mark(COMMIT)
    assert log.append(batch_of(0, 3, transactional=True)) == (0, None)
    assert log.append(batch_of(3, transactional=True))[0] == 4


def test_a_cleaned_control_batch_means_nothing() -> None:
    empty = build_batch(
        [], producer_id=7, producer_epoch=1, is_control=True, is_transactional=True,
        last_offset_delta=0,
    )  # fmt: skip
    state = ProducerStateManager("orders-0")
    assert state.prepare(read_header(empty), empty, 5, REPLICATION) is None


def test_snapshot_expiry_and_loading() -> None:
    log = Log()
    log.append(batch_of(0, timestamp=1000))
    log.append(batch_of(4, 3, producer=8, transactional=True, timestamp=2000))
    log.append(batch_of(9, producer=9, timestamp=3000))
    payload = log.state.snapshot_bytes()

    state = ProducerStateManager("orders-0", producer_id_expiration_ms=1000)
    state.load(decode_snapshot(payload), 5)
    assert set(state.producers) == {7, 8, 9}
    assert state.remove_expired(3500) == 1
    assert set(state.producers) == {8, 9}  # 7 is too old; 8 is too, but has a transaction open
    assert state.first_unstable_offset() == 1
    assert (state.map_end_offset, state.last_snapshot_offset) == (5, 5)
    assert [entry.producer_id for entry in state.active_producers()] == [8, 9]
    duplicate = state.find_duplicate(read_header(batch_of(4, 3, producer=8, transactional=True)))
    assert duplicate is not None
    assert (duplicate.first_offset, duplicate.last_offset, duplicate.timestamp) == (1, 3, 2000)

    assert state.remove_expired(3999) == 0
    assert state.remove_expired(4000) == 1
    assert state.producers
    state.clear(20)
    assert state.is_empty
    assert (state.map_end_offset, state.first_unstable_offset()) == (20, None)


STEP = st.tuples(
    st.sampled_from(["data", "txn", "commit", "abort"]),
    st.integers(1, 3),
    st.integers(0, 1),
    st.integers(1, 3),
)


def observed(state: ProducerStateManager) -> tuple[object, ...]:
    return (
        {entry.producer_id: repr(entry) for entry in state.active_producers()},
        state.first_unstable_offset(),
        list(state._ongoing.items()),
        state.snapshot_bytes() if not state.is_empty else b"",
    )


@given(st.lists(STEP, max_size=30), st.data())
@settings(max_examples=80)
def test_undoing_restores_every_earlier_state(
    steps: list[tuple[str, int, int, int]], chance: st.DataObject
) -> None:
    log = Log()
    sequences: dict[int, int] = {}
    open_txns: set[int] = set()
    history = [observed(log.state)]
    for kind, producer, _bump, count in steps:
        if kind in ("commit", "abort"):
            log.mark(COMMIT if kind == "commit" else ABORT, producer=producer, origin=REPLICATION)
            open_txns.discard(producer)
        else:
            transactional = kind == "txn" or producer in open_txns
            if transactional:
                open_txns.add(producer)
            sequence = sequences.get(producer, 0)
            sequences[producer] = sequence + count
            log.append(batch_of(sequence, count, producer=producer, transactional=transactional))
        history.append(observed(log.state))
    back_to = chance.draw(st.integers(0, len(steps)))
    for update in reversed(log.updates[back_to:]):
        log.state.undo(update)
    assert observed(log.state) == history[back_to]


def fits(stored: list[int], sequence: int, count: int, log: Log) -> bool:
    """The next one, or an exact repetition of one of the last five batches."""
    recent = [
        (batch.first_sequence, batch.offset_delta + 1) for batch in log.state.producers[7].batches
    ]
    return sequence == stored[-1] + 1 or (sequence, count) in recent


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=30))
def test_no_duplicate_and_no_gap_whatever_is_sent(tries: list[tuple[int, int]]) -> None:
    """A plain model: the log holds each sequence once, in order, from the first one on."""
    log = Log()
    stored: list[int] = []
    for sequence, count in tries:
        if stored and not fits(stored, sequence, count, log):
            with pytest.raises(KafkaError) as caught:
                log.append(batch_of(sequence, count))
            assert caught.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            continue
        first, _ = log.append(batch_of(sequence, count))
        if first == len(stored):
            stored.extend(range(sequence, sequence + count))
        assert stored[first : first + count] == list(range(sequence, sequence + count))
    assert stored == list(range(stored[0], stored[0] + len(stored))) if stored else log.end == 0

"""Batches of a producer that its snapshot does not hold are found in the log."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.log.partition import earlier_batches
from pykbroker.log.partition.append_outcome import AppendOutcome
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.producers.producer_state import DEFAULT_EXPIRATION_MS
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import NOW_MS, batch_of, memory_disk, open_orders

OURS, OTHER = 7, 9
LAST_SEQUENCE = 0x7FFFFFFF


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def send(
    log: PartitionLog, sequence: int, *, count: int = 2, epoch: int = 3, producer: int = OURS
) -> AppendOutcome:
    """One batch of `count` records."""
    values = [b"%d" % number for number in range(count)]
    outcome = log.append_as_leader(
        batch_of(*values, producer=(producer, epoch, sequence)), 0, NOW_MS
    )
    log.write_pending()
    return outcome


def again(log: PartitionLog, sequence: int, **fields: int) -> int | ErrorCode:
    """Where a repeated batch is said to be, or why it is refused."""
    end = log.log_end_offset
    outcome = send(log, sequence, **fields)
    assert log.log_end_offset == end
    assert outcome.duplicate or outcome.error
    return outcome.base_offset if outcome.duplicate else ErrorCode(outcome.error)


def restarted(log: PartitionLog, files: MemoryFiles) -> PartitionLog:
    """The same log after a clean stop."""
    start = log.log_start_offset
    log.close()
    return open_orders(files, recovery_point=log.log_end_offset, log_start_offset=start)


def test_each_of_the_last_five_and_no_earlier_one(files: MemoryFiles) -> None:
    log = open_orders(files)
    for number in range(7):
        send(log, 2 * number)
        send(log, 2 * number, producer=OTHER)
    log = restarted(log, files)
    assert [again(log, 2 * number) for number in range(2, 7)] == [8, 12, 16, 20, 24]
    assert again(log, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 14).base_offset == 28
    assert again(log, 4) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_only_a_batch_that_is_exactly_the_same(files: MemoryFiles) -> None:
    log = open_orders(files)
    for number in range(4):
        send(log, 2 * number)
    log = restarted(log, files)
    assert again(log, 2, count=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert again(log, 3) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert again(log, 2, epoch=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert again(log, 2) == 2


def test_batches_of_an_earlier_epoch_are_not_known(files: MemoryFiles) -> None:
    log = open_orders(files)
    send(log, 0)
    send(log, 2)
    send(log, 0, epoch=4)
    send(log, 2, epoch=4)
    log = restarted(log, files)
    assert again(log, 0, epoch=4) == 4
    assert again(log, 2, epoch=4) == 6
    assert again(log, 0) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequences_wrap(files: MemoryFiles) -> None:
    log = open_orders(files)
    send(log, LAST_SEQUENCE - 2)
    send(log, LAST_SEQUENCE)
    send(log, 1)
    log = restarted(log, files)
    assert again(log, LAST_SEQUENCE) == 2
    assert again(log, LAST_SEQUENCE - 2) == 0


def test_over_segments(files: MemoryFiles) -> None:
    log = open_orders(files)
    for number in range(5):
        send(log, 2 * number)
        log.roll(NOW_MS)
    log = restarted(log, files)
    assert [again(log, 2 * number) for number in range(5)] == [0, 2, 4, 6, 8]


def test_after_a_truncation(files: MemoryFiles) -> None:
    log = open_orders(files)
    for number in range(4):
        send(log, 2 * number)
    log = restarted(log, files)
    send(log, 8)
    log.truncate_to(8)
    assert [again(log, 2 * number) for number in range(4)] == [0, 2, 4, 6]
    assert send(log, 8).base_offset == 8


def test_far_behind_the_records_of_others(files: MemoryFiles) -> None:
    log = open_orders(files)
    send(log, 0)
    send(log, 2)
    for number in range(20):
        send(log, 100 * number, count=100, producer=OTHER)
    send(log, 4)
    log = restarted(log, files)
    assert again(log, 0) == 0


def test_no_more_headers_than_allowed(files: MemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read on the event loop."""
    monkeypatch.setattr(earlier_batches, "MOST_HEADERS", 10)
    log = open_orders(files)
    send(log, 0)
    for number in range(10):
        send(log, number, count=1, producer=OTHER)
    send(log, 2)
    log = restarted(log, files)
    assert again(log, 0) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_no_more_bytes_than_allowed(files: MemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_orders(files)
    send(log, 0)
    send(log, 2)
    send(log, 0, count=200, producer=OTHER)
    send(log, 4)
    log = restarted(log, files)
    monkeypatch.setattr(earlier_batches, "MOST_BYTES", 1_000)
    assert again(log, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log = restarted(log, files)
    monkeypatch.setattr(earlier_batches, "MOST_BYTES", 100_000)
    assert again(log, 2) == 2


def test_deleted_batches_are_not_known(files: MemoryFiles) -> None:
    log = open_orders(files)
    for number in range(3):
        send(log, 2 * number)
    log.advance_log_start_offset(2)
    log = restarted(log, files)
    assert again(log, 2) == 2
    assert again(log, 0) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("restarts_first", [True, False])
def test_what_was_before_the_producer_expired_is_another_sequence(
    files: MemoryFiles, restarts_first: bool
) -> None:
    """It may begin at 0 again in the same epoch; then sequence 4 is not the old one."""
    log = open_orders(files)
    for number in range(4):
        send(log, 2 * number)
    if restarts_first:
        log = restarted(log, files)
    log.expire_producers(NOW_MS + DEFAULT_EXPIRATION_MS)
    assert send(log, 0).base_offset == 8
    if not restarts_first:
        log = restarted(log, files)
    assert again(log, 4) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 2).base_offset == 10


def test_the_log_is_searched_once(files: MemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that errs for ever does not make the node read for ever."""
    log = open_orders(files)
    send(log, 0)
    send(log, 2)
    log = restarted(log, files)
    assert again(log, 1, count=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    monkeypatch.delattr(earlier_batches, "_headers")
    assert again(log, 1, count=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert again(log, 0) == 0


def test_damage_hides_what_is_before_it(files: MemoryFiles) -> None:
    log = open_orders(files)
    send(log, 0)
    path = log.active.file.path
    log.roll(NOW_MS)
    send(log, 2)
    send(log, 4)
    log.close()
    files.write_file(path, bytes(20) + files.read_file(path)[20:])
    log = restarted(log, files)
    assert again(log, 2) == 2
    assert again(log, 0) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 6).base_offset == 6

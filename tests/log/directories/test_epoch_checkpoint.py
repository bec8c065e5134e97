"""The leader epochs' file: written at flushes, never behind the recovery point."""

from __future__ import annotations

from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from tests.log.log_makers import append, memory_disk, open_orders

PATH = "/d/leader-epoch-checkpoint"


def test_the_first_file_is_written_at_once_later_changes_with_a_flush() -> None:
    files = memory_disk()
    epochs = EpochCheckpoint(files, "/d")
    assert (epochs.latest_epoch, epochs.earliest) == (None, None)
    epochs.assign(1, 0)
    assert files.read_file(PATH) == b"0\n1\n1 0\n"
    assert epochs.is_dirty
    assert epochs.take_content() == b"0\n1\n1 0\n"
    assert epochs.take_content() is None
    epochs.assign(1, 5)
    assert (epochs.is_dirty, epochs.take_content()) == (False, None)
    epochs.assign(3, 7)
    assert files.read_file(PATH) == b"0\n1\n1 0\n"
    assert epochs.take_content() == b"0\n2\n1 0\n3 7\n"
    assert epochs.epoch_for_offset(6) == 1
    assert epochs.end_offset_for(2, 10) == (1, 7)
    epochs.truncate_from_start(8)
    epochs.truncate_from_end(8)
    epochs.clear()
    assert epochs.take_content() == b"0\n0\n"


def test_a_flush_of_the_log_writes_it_synced() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a", epoch=1)
    log.flush()
    append(log, b"b", epoch=4)
    path = "/d/orders-3/leader-epoch-checkpoint"
    assert files.read_file(path) == b"0\n1\n1 0\n"
    log.flush()
    assert files.read_file(path) == b"0\n2\n1 0\n4 1\n"


def test_a_bad_file_counts_as_none() -> None:
    files = memory_disk()
    files.write_file(PATH, b"0\n1\nx y\n")
    assert EpochCheckpoint(files, "/d").latest_epoch is None

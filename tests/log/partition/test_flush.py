"""What one flush makes durable."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.partition.append_outcome import AppendOrigin
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders


def synced_by(files: MemoryFiles, log: PartitionLog) -> list[str]:
    """The paths that a flush syncs, below the log directory."""
    return synced_in(files, log, log.flush)


def synced_in(files: MemoryFiles, log: PartitionLog, flush: Callable[[], None]) -> list[str]:
    """The paths that `flush` syncs, below the log directory."""
    paths: list[str] = []
    files.fail = lambda name, path: paths.append(path) if name == "sync" else None
    flush()
    files.fail = None
    return sorted(path.removeprefix(f"{log.directory}/") for path in paths)


def test_first_flush_syncs_names_as_well() -> None:
    files = MemoryFiles()
    log = loaded(files).create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    assert synced_by(files, log) == sorted(
        [
            "/a",
            "/a/orders-0",
            f"{0:020d}.index",
            f"{0:020d}.log",
            f"{0:020d}.timeindex",
            "leader-epoch-checkpoint.tmp",
            "partition.metadata",
        ]
    )
    append(log, b"b")
    assert synced_by(files, log) == [f"{0:020d}.index", f"{0:020d}.log", f"{0:020d}.timeindex"]
    assert synced_by(files, log) == []


def test_what_a_job_leaves_undone_is_in_the_next_one() -> None:
    """A node that stops gives up jobs that still wait for a thread."""
    files = MemoryFiles()
    log = loaded(files).create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    log.roll(0)
    given_up = log.flusher.prepare_closed()
    assert given_up is not None
    job = log.prepare_close()
    assert job is not None
    synced = synced_in(files, log, job.run)
    log.finish_close(job)
    names = {"/a", "/a/orders-0", "partition.metadata", "leader-epoch-checkpoint.tmp"}
    assert names | {f"{0:020d}.log"} <= set(synced)


def test_indexes_that_a_job_leaves_unsynced_are_in_the_next_one() -> None:
    """Those of a segment below the recovery point, too, which a roll has written."""
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    flushed = log.prepare_flush(active_indexes=False)
    assert flushed is not None
    flushed.run()
    log.complete_flush(flushed)
    log.roll(0)
    given_up = log.flusher.prepare_closed()
    assert given_up is not None
    job = log.prepare_close()
    assert job is not None
    assert f"{0:020d}.timeindex" in synced_in(files, log, job.run)


def test_a_job_that_is_late_does_not_bring_old_epochs_back() -> None:
    """It waits for a thread while the loop flushes (flush.messages)."""
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a", epoch=1)
    log.roll(0)
    late = log.flusher.prepare_closed()
    assert late is not None
    append(log, b"b", epoch=2)
    log.flush()
    late.run()
    log.close()
    again = open_orders(files, recovery_point=2)
    assert again.leader_epochs.epochs.entries == [(1, 0), (2, 1)]


class Contended(MemoryFiles):
    """A disk on which a job has to wait once for another thread; `meanwhile` is what that does."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] | None = None
        self.inside: list[str] = []
        self.renamed_in: list[str] = []

    @contextmanager
    def alone(self, path: str) -> Iterator[None]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        self.inside.append(path)
        yield
        self.inside.remove(path)

    def rename(self, old: str, new: str) -> None:
        self.renamed_in += self.inside if old.endswith(".tmp") else []
        super().rename(old, new)


def test_jobs_that_run_at_the_same_time_write_the_epochs_one_after_the_other() -> None:
    """The housekeeping flushes in a thread, and the loop as well (flush.messages)."""
    files = Contended()
    files.mkdir(DIRECTORY)
    log = open_orders(files)
    append(log, b"a", epoch=1)
    log.roll(0)
    in_thread = log.flusher.prepare_closed()
    assert in_thread is not None
    append(log, b"b", epoch=2)
    files.meanwhile = log.flush
    synced = synced_in(files, log, in_thread.run)
    path = f"{log.directory}/leader-epoch-checkpoint"
    assert files.renamed_in == [path]  # once, and alone
    assert synced.count(log.directory) == 2  # what the other one has renamed may not be synced yet
    log.close()
    again = open_orders(files, recovery_point=2)
    assert again.leader_epochs.epochs.entries == [(1, 0), (2, 1)]


def test_a_log_without_changes_closes_with_what_a_job_left_undone() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.flush()
    log = open_orders(files, recovery_point=1)
    log.assign_epoch_start(5, 1)
    given_up = log.prepare_close()
    assert given_up is not None
    job = log.prepare_close()
    assert job is not None
    assert "leader-epoch-checkpoint.tmp" in synced_in(files, log, job.run)
    assert log.prepare_close() is None


def test_after_a_roll_the_closed_segment_and_the_new_name() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.flush()
    log.roll(0)
    append(log, b"b")
    job = log.flusher.prepare_closed()
    assert job is not None
    assert job.offset == 1
    names = synced_by(files, log)
    assert f"{1:020d}.log" in names
    assert f"{1:020d}.snapshot" in names
    assert "/d/orders-3" in names


def test_the_indexes_of_the_active_segment_may_wait_for_its_roll() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.flush()
    append(log, b"b")
    job = log.prepare_flush(active_indexes=False)
    assert job is not None
    assert synced_in(files, log, job.run) == [f"{0:020d}.log"]
    log.complete_flush(job)
    assert log.recovery_point == 2
    log.roll(0)
    job = log.prepare_flush(active_indexes=False)
    assert job is not None
    names = synced_in(files, log, job.run)
    assert f"{0:020d}.timeindex" in names
    assert f"{2:020d}.index" not in names


def test_what_was_flushed_survives_any_crash() -> None:
    for seed in range(30):
        files = memory_disk()
        log = open_orders(files)
        for number in range(5):
            append(log, b"v%d" % number, epoch=number // 2)
        log.flush()
        append(log, b"unflushed", epoch=9)
        files.crash(random.Random(seed), reorder=True)
        again = open_orders(files, is_clean=False, recovery_point=5)
        assert again.log_end_offset >= 5
        assert again.leader_epochs.epochs.entries[:3] == [(0, 0), (1, 2), (2, 4)]


def append_aborted(log: PartitionLog, number: int) -> None:
    """Append the transaction `number` of producer 7: one record and its marker."""
    batch = batch_of(b"x", producer=(7, 0, number), is_transactional=True)
    assert log.append_as_leader(batch, 0, NOW_MS).error == 0
    log.write_pending()
    marker = build_marker_batch(
        EndTxnMarker(ABORT, 0), producer_id=7, producer_epoch=0, timestamp_ms=NOW_MS
    )
    assert log.append_as_leader(marker, 0, NOW_MS, AppendOrigin.COORDINATOR).error == 0
    log.write_pending()


def test_the_name_of_a_transaction_index_is_synced_once() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    log.flush()
    append_aborted(log, 0)
    assert {"/d/orders-3", f"{0:020d}.txnindex"} <= set(synced_by(files, log))
    append_aborted(log, 1)
    assert "/d/orders-3" not in synced_by(files, log)


@pytest.mark.parametrize("flush_messages", ["1", "1000"])
def test_aborted_transactions_survive_a_stop_and_a_power_failure(
    flush_messages: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A log that was closed cleanly is not scanned: readers would see the aborted records."""
    for seed in range(10):
        files = memory_disk()
        log = open_orders(files, flush_messages=flush_messages)
        append(log, b"a")
        log.flush()
        append_aborted(log, 0)
        log.close()
        files.crash(random.Random(seed), reorder=True)
        again = open_orders(files, recovery_point=3)
        assert again.aborted_transactions(0, 3) == [(7, 1)]
    assert not caplog.text, "a snapshot is missing"


def test_a_recovered_transaction_index_survives_a_stop_and_a_power_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for seed in range(10):
        files = memory_disk()
        log = open_orders(files)
        append_aborted(log, 0)
        log.flush()
        files.unlink(log.active.txn_index.path)
        files.sync_dir(DIRECTORY)
        open_orders(files, is_clean=False, recovery_point=2).close()
        files.crash(random.Random(seed), reorder=True)
        again = open_orders(files, recovery_point=2)
        assert again.aborted_transactions(0, 2) == [(7, 0)]
    assert not caplog.text, "a snapshot is missing"


def test_files_that_went_away_meanwhile_are_skipped() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    job = log.prepare_flush()
    assert job is not None
    files.remove_tree(DIRECTORY)
    job.run()
    assert not files.exists(DIRECTORY)

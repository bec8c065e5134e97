"""Writes metadata snapshots, and deletes old ones and the log before them.

    enough committed bytes since the last one, or enough  --> a snapshot of the published image is
    time since the last one of this run (or its start)        written in a thread
    written, and once a minute                            --> old snapshots and log are deleted
Source: Kafka's `SnapshotGenerator.java`, `KafkaRaftClient.maybeClean`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from pykbroker.config import BrokerConfig
from pykbroker.environment.background import Threads
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.kraft.metadata_snapshot import SnapshotId, encode_snapshot
from pykbroker.kraft.publisher import MetadataLoader
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.log.directories.housekeeping_driver import delete_files

# KafkaRaftClient.java: old snapshots are checked once a minute.
CLEAN_INTERVAL_MS = 60_000

_log = logging.getLogger(__name__)


class MetadataSnapshots:
    """Writes and cleans the metadata snapshots of one node."""

    def __init__(
        self,
        *,
        raft: RaftDriver,
        loader: MetadataLoader,
        config: BrokerConfig,
        scheduler: Scheduler,
        threads: Threads,
        now_ms: Callable[[], int],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self._raft = raft
        self._loader = loader
        self._max_bytes: int = config.metadata_log_max_record_bytes_between_snapshots
        self._max_interval_ms: int = config.metadata_log_max_snapshot_interval_ms
        self._scheduler = scheduler
        self._threads = threads
        self._now_ms = now_ms
        self._on_fatal = on_fatal
        self._taken_ms = now_ms()
        self._is_writing = False
        self._stopped = False
        self._timer: Timer | None = None

    def start(self) -> None:
        """Clean every CLEAN_INTERVAL_MS from now on."""
        self._timer = self._scheduler.call_later(CLEAN_INTERVAL_MS, self._clean_again)

    def stop(self) -> None:
        """Stop cleaning, and writing on commits. A snapshot that is being written is finished."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def on_commit(self) -> None:
        """Write a snapshot when metadata.log.max.record.bytes.between.snapshots or
        metadata.log.max.snapshot.interval.ms is reached.
        """
        if self._is_writing or self._stopped or self._loader.in_transaction:
            return
        interval_ms = self._max_interval_ms
        time_due = interval_ms > 0 and self._now_ms() - self._taken_ms >= interval_ms
        if time_due or self._loader.bytes_since_snapshot >= self._max_bytes:
            self.take()

    def take(self) -> None:
        """Write a snapshot of the published image, in a thread; then clean; unless there is one
        that is as new, or the image is empty. `on_fatal` is called if it cannot be written.
        """
        image, log = self._loader.image, self._raft.log
        snapshot_id = SnapshotId(image.offset + 1, image.provenance.epoch)
        latest = log.latest_snapshot_id()
        if image.offset < 0 or (latest is not None and latest >= snapshot_id):
            return
        self._is_writing = True
        self._taken_ms = self._now_ms()
        self._loader.bytes_since_snapshot = 0
        _log.info("Writing the metadata snapshot %s", snapshot_id.file_name)
        kraft_version, voters = self._raft.raft.history.at(snapshot_id.offset)
        now_ms = self._now_ms()

        def job() -> None:
            log.write_snapshot(
                snapshot_id,
                encode_snapshot(
                    snapshot_id,
                    image.records(),
                    kraft_version=kraft_version,
                    voters=voters if kraft_version > 0 else None,
                    last_contained_log_timestamp_ms=image.provenance.timestamp_ms,
                    now_ms=now_ms,
                ),
            )

        def written(outcome: object) -> None:
            self._is_writing = False
            if isinstance(outcome, BaseException):
                self._on_fatal(outcome)
                return
            log.snapshot_written(snapshot_id)
            self.clean()

        self._threads.run(job).on_resolved(written)

    def clean(self) -> None:
        """Delete old snapshots and the log before them."""
        if self._stopped:
            return
        now_ms, log = self._now_ms(), self._raft.log
        try:
            log.clean(now_ms, self._raft.high_watermark)
        except LogDirFailure as failure:
            self._on_fatal(failure)
            return
        except OSError as error:  # it stays until a later start
            _log.warning("An old file of the metadata log was not deleted: %s", error)
        delete_files(log.files, log.chores.due_deletions(now_ms))

    def _clean_again(self) -> None:
        self.clean()
        if not self._stopped:
            self.start()

"""The `.snapshot` files of a log, and the producer state that they store.

    00000000000000000042.snapshot    producer state of the log up to offset 42

State: the existing snapshots; the ProducerStateManager. In: offsets. Out: paths of snapshots that
the log must rename or delete.
Invariant: the state covers the log up to `map_end_offset`.
Source: ProducerStateManager.takeSnapshot, truncateAndReload, removeStraySnapshots.
"""

from __future__ import annotations

import logging
import re
from bisect import insort
from collections.abc import Collection, Iterable

from pykbroker.environment.files import Files
from pykbroker.log.producers.producer_state import (
    CorruptSnapshot,
    ProducerStateManager,
    decode_snapshot,
    stray_snapshots,
)

_log = logging.getLogger(__name__)

SNAPSHOT_SUFFIX = ".snapshot"
_NAME = re.compile(r"[0-9]{20}\.snapshot")


class ProducerSnapshots:
    """The producer state of a log and its files. Methods raise OSError on disk errors."""

    __slots__ = ("_expiration_ms", "_name", "directory", "files", "manager", "offsets")

    def __init__(
        self, files: Files, directory: str, name: str, producer_id_expiration_ms: int
    ) -> None:
        self.files = files
        self.directory = directory
        self._name = name
        self._expiration_ms = producer_id_expiration_ms
        self.manager = ProducerStateManager(name, producer_id_expiration_ms)
        self.offsets: list[int] = []

    def found(self, names: Iterable[str]) -> None:
        """Record the snapshots among the names of the directory's files."""
        self.offsets = sorted(
            int(name[:20]) for name in names if _NAME.fullmatch(name) and int(name[:20]) < 1 << 63
        )

    def fresh_copy(self) -> ProducerSnapshots:
        """Return an empty state over the same files, for rebuilding what belongs to one segment."""
        copy = ProducerSnapshots(self.files, self.directory, self._name, self._expiration_ms)
        copy.offsets = self.offsets
        return copy

    def expire_after(self, producer_id_expiration_ms: int) -> None:
        """Apply a change of producer.id.expiration.ms."""
        self._expiration_ms = producer_id_expiration_ms
        self.manager.producer_id_expiration_ms = producer_id_expiration_ms

    def path_of(self, offset: int) -> str:
        return f"{self.directory}/{offset:020d}{SNAPSHOT_SUFFIX}"

    @property
    def latest_offset(self) -> int | None:
        return self.offsets[-1] if self.offsets else None

    def latest_path(self) -> str | None:
        return self.path_of(self.offsets[-1]) if self.offsets else None

    def move_to(self, directory: str) -> None:
        self.directory = directory

    def take(self, sync: bool = False) -> bool:
        """Write a snapshot at map_end_offset, unless that is not above the last one (or above where
        the state was cleared); return True if a file was written. Its name is durable when the
        caller has synced the directory.
        """
        manager = self.manager
        offset = manager.map_end_offset
        if offset <= manager.last_snapshot_offset:
            return False
        self.files.write_file(self.path_of(offset), manager.snapshot_bytes(), sync=sync)
        manager.last_snapshot_offset = offset
        if offset not in self.offsets:
            insort(self.offsets, offset)
        return True

    def remove(self, offset: int) -> str | None:
        """Forget a snapshot and return its path, None if it is unknown; the caller renames or
        deletes the file.
        """
        if offset not in self.offsets:
            return None
        self.offsets.remove(offset)
        return self.path_of(offset)

    def delete(self, offset: int) -> None:
        path = self.remove(offset)
        if path is not None:
            self.files.unlink(path)

    def remove_stray(self, segment_base_offsets: Collection[int]) -> None:
        for offset in stray_snapshots(list(self.offsets), segment_base_offsets):
            self.delete(offset)

    def truncate_and_reload(self, log_start_offset: int, end_offset: int) -> None:
        """Load the state of the newest usable snapshot at or below end_offset, unless the state
        covers the log up to there already; without one, clear the state. Snapshots outside the log
        are deleted.

        One at the log start stays (Kafka deletes it), because the log may have nothing else to say
        of its producers.
        """
        for offset in list(self.offsets):
            if offset > end_offset or offset < log_start_offset:
                self.delete(offset)
        manager = self.manager
        if manager.map_end_offset == end_offset:
            manager.on_log_start_offset(log_start_offset)
            return
        while self.offsets:
            offset = self.offsets[-1]
            path = self.path_of(offset)
            try:
                entries = decode_snapshot(self.files.read_file(path))
            except (CorruptSnapshot, FileNotFoundError) as fault:
                _log.warning("Ignoring producer snapshot %s: %s", path, fault)
                self.delete(offset)
                continue
            manager.load(entries, offset)
            manager.last_snapshot_offset = offset
            return
        manager.clear(log_start_offset)
        manager.last_snapshot_offset = log_start_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        for found in list(self.offsets):
            self.delete(found)
        self.manager.clear(offset)
        self.manager.last_snapshot_offset = offset

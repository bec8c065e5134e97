"""One flush of a log up to an offset, separate from the log, so that a thread can wait for it.

LogFlusher prepares it (index entries are written back), any thread runs it, LogFlusher completes
it; only then does the recovery point move (UnifiedLog.flush).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykbroker.environment.files import Files
from pykbroker.log.directories.checkpoints import PARTITION_METADATA

if TYPE_CHECKING:
    from pykbroker.log.partition.local_log import LocalLog
    from pykbroker.log.segments.segment import Segment


class FlushJob:
    """One flush. `run` blocks and raises OSError."""

    __slots__ = (
        "_before",
        "_directories",
        "_epochs",
        "_epochs_path",
        "_files",
        "_local",
        "_paths",
        "_syncs",
        "has_run",
        "is_new",
        "offset",
        "segments",
        "truncations",
    )

    def __init__(
        self,
        local: LocalLog,
        offset: int,
        segments: Sequence[Segment],
        recovery_point: int,
        *,
        is_new: bool,
        before: FlushJob | None = None,
        with_parent: bool = True,
        without_indexes_of: Segment | None = None,
    ) -> None:
        """`is_new`: the directory's own name is not durable yet. `before`: the previous job of the
        log. If it has not run (a node that stops gives up what waits for a thread), this one also
        writes its epochs and syncs its directories; the caller adds its segments. Without the
        parent, the caller syncs the log directory itself (clean shutdown).
        """
        if before is not None and before.has_run:
            before = None
        self._before = before
        self.has_run: bool = False
        self.is_new: bool = is_new or (before is not None and before.is_new)
        self._local = local
        self.offset = offset
        self.truncations = local.truncations
        files = self._files = local.files
        self._epochs_path = local.leader_epochs.path
        self._epochs = local.leader_epochs.take_content()
        if self._epochs is None and before is not None:
            self._epochs = before._epochs
        self.segments = tuple(segments)
        self._syncs = [segment.file.pinned_sync() for segment in segments]
        indexed = [segment for segment in segments if segment is not without_indexes_of]
        self._paths = [path for s in indexed for path in s.paths()[1:] if has_content(files, path)]
        snapshot = local.snapshots.latest_path()
        if snapshot is not None:
            self._paths.append(snapshot)
        self._directories: list[str] = []
        has_new_segment = any(segment.base_offset >= recovery_point for segment in segments)
        if has_new_segment or local.has_new_names or (before is not None and before._directories):
            self._directories.append(local.directory)
            local.has_new_names = False
        if self.is_new:
            metadata = f"{local.directory}/{PARTITION_METADATA}"
            if files.exists(metadata):
                self._paths.append(metadata)
            self._directories = [local.directory]
            if with_parent:
                self._directories.append(local.log_directory)

    @property
    def log_directory(self) -> str:
        """The log directory, to which a disk failure applies."""
        return self._local.log_directory

    def run(self) -> None:
        for sync in self._syncs:
            skip_missing(sync)
        for path in self._paths:
            skip_missing(self._files.sync_file, path)
        if self._epochs is not None:
            self._write_latest_epochs()
        for directory in self._directories:
            skip_missing(self._files.sync_dir, directory)
        self._before = None
        self._syncs = []
        self.segments = ()
        self.has_run = True

    def _write_latest_epochs(self) -> None:
        """Write the epochs, unless a later job has written these or newer ones.

        The jobs of a log may run at the same time: one in a thread of the housekeeping, another on
        the event loop (flush.messages) or in the thread that moves logs. They use the same
        temporary file, so one after the other writes it.
        """
        if self._local.directory not in self._directories:
            self._directories.insert(0, self._local.directory)
        with self._files.alone(self._epochs_path):
            if self._epochs is not None:
                skip_missing(self._write_epochs, self._epochs)
                self._outdate_earlier()

    def _outdate_earlier(self) -> None:
        """Keep earlier jobs that have not written their epochs yet from writing them."""
        earlier = self._before
        while earlier is not None:
            earlier._epochs = None
            earlier = earlier._before

    def _write_epochs(self, content: bytes) -> None:
        """Like Files.replace_file, but the directory is synced only once for everything."""
        temporary = f"{self._epochs_path}.tmp"
        self._files.write_file(temporary, content, sync=True)
        self._files.rename(temporary, self._epochs_path)


def has_content(files: Files, path: str) -> bool:
    """Return whether the file exists and is not empty: an empty index need not be on disk."""
    try:
        return files.size(path) > 0
    except FileNotFoundError:
        return False


def skip_missing(call: Callable[..., None], *arguments: object) -> None:
    """Ignore files that were deleted or renamed in the meantime, which need no sync."""
    try:
        call(*arguments)
    except FileNotFoundError:
        return

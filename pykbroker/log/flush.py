"""One fsync of a log up to an offset, apart from the log: a thread may do the waiting.

The log prepares it (index entries written back), anyone runs it, the log marks it done; only then
does the recovery point move (UnifiedLog.flush).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.log_state import LogState
    from pykbroker.log.segment import Segment


class FlushJob:
    """`run` blocks and raises OSError; `log.mark_flushed(job.offset)` comes after it."""

    __slots__ = ("_files", "_log_files", "_paths", "_sync_directory", "directory", "log", "offset")

    def __init__(
        self, log: LogState, offset: int, segments: Sequence[Segment], recovery_point: int
    ) -> None:
        self.log = log
        self.offset = offset
        self.directory = log.directory
        self._files = log.files
        self._log_files = [segment.file for segment in segments]
        self._paths = [
            path for segment in segments for path in segment.paths()[1:] if log.files.exists(path)
        ]
        snapshot = log.snapshots.latest_path()
        if snapshot is not None:
            self._paths.append(snapshot)
        # A segment made since the last flush: its name must be durable too.
        self._sync_directory = any(s.base_offset >= recovery_point for s in segments)

    def run(self) -> None:
        for file in self._log_files:
            try:
                file.sync()
            except FileNotFoundError:  # deleted meanwhile: nothing to keep
                continue
        for path in self._paths:
            try:
                self._files.sync_file(path)
            except FileNotFoundError:
                continue
        if self._sync_directory:
            try:
                self._files.sync_dir(self.directory)
            except FileNotFoundError:
                return

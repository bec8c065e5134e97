"""One fsync of a log up to an offset, apart from the log: a thread may do the waiting.

The log prepares it (index entries written back), anyone runs it, the log marks it done; only then
does the recovery point move (UnifiedLog.flush).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykbroker.log.checkpoints import PARTITION_METADATA

if TYPE_CHECKING:
    from pykbroker.log.log_state import LogState
    from pykbroker.log.segment import Segment


class FlushJob:
    """`run` blocks and raises OSError; `log.complete_flush(job)` comes after it."""

    __slots__ = (
        "_directories",
        "_epochs",
        "_epochs_path",
        "_files",
        "_paths",
        "_syncs",
        "log",
        "offset",
        "truncations",
    )

    def __init__(self, log: LogState, offset: int, segments: Sequence[Segment]) -> None:
        self.log = log
        self.offset = offset
        self.truncations = log.truncations
        files = self._files = log.files
        self._epochs_path = log.leader_epochs.path
        self._epochs = log.leader_epochs.take_content()
        self._syncs = [segment.file.pinned_sync() for segment in segments]
        self._paths = [path for s in segments for path in s.paths()[1:] if files.exists(path)]
        snapshot = log.snapshots.latest_path()
        if snapshot is not None:
            self._paths.append(snapshot)
        self._directories: list[str] = []
        if any(segment.base_offset >= log.recovery_point for segment in segments):
            # A segment made since the last flush: its name must be durable too.
            self._directories.append(log.directory)
        if not log.is_directory_durable:
            metadata = f"{log.directory}/{PARTITION_METADATA}"
            if files.exists(metadata):
                self._paths.append(metadata)
            self._directories = [log.directory, os.path.dirname(log.directory)]
            log.is_directory_durable = True

    def run(self) -> None:
        for sync in self._syncs:
            skip_missing(sync)
        for path in self._paths:
            skip_missing(self._files.sync_file, path)
        if self._epochs is not None:
            skip_missing(self._files.replace_file, self._epochs_path, self._epochs)
        for directory in self._directories:
            skip_missing(self._files.sync_dir, directory)


def skip_missing(call: Callable[..., None], *arguments: object) -> None:
    """What was deleted or renamed away meanwhile needs no sync."""
    try:
        call(*arguments)
    except FileNotFoundError:
        return

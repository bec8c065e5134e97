"""The log directories of a node: their locks, and which of them work.

State: the directories, in the order of `log.dirs`; whether they were opened.
Source: Kafka's LogManager.java (createAndValidateLogDirs, nextLogDirs, handleLogDirFailure).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.log.directories.checkpoints import clean_shutdown_epoch
from pykbroker.log.directories.log_directory import DirectoryRefused, LogDirectory

_log = logging.getLogger(__name__)


class LogDirectories:
    """The log directories of a node."""

    def __init__(
        self,
        files: Files,
        paths: Sequence[str],
        on_offline: Callable[[LogDirectory], None] | None = None,
    ) -> None:
        """`on_offline` is called with each directory that `fail` takes offline, not with those that
        could not be opened.
        """
        self._all = [LogDirectory(files, path) for path in paths]
        self._on_offline = on_offline
        self._is_open = False

    def __iter__(self) -> Iterator[LogDirectory]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, index: int) -> LogDirectory:
        return self._all[index]

    def open(self) -> None:
        """Lock and identify the directories. Raises DirectoryRefused, with all of them unlocked, if
        one is refused or none works.
        """
        if self._is_open:
            return
        for directory in self._all:
            try:
                directory.open()
            except LogDirFailure as failure:
                directory.failure = failure
            except DirectoryRefused:
                self.unlock()
                raise
        self._is_open = True
        self.require_one()
        for directory in self._all:
            if directory.failure is not None:
                _log.error("%s", directory.failure)

    def take_clean_shutdown(self, metadata_directory: str) -> int | None:
        """Return the broker epoch that the last clean shutdown recorded (the lowest, if they
        differ); None unless each directory has its file.

        The file is removed from the directory of the metadata log (the first, if it is none of
        these): that log changes from now on, before the others are loaded, and a start after a
        crash has to check it.
        """
        paths = [directory.path for directory in self._all]
        taken = self._all[paths.index(metadata_directory) if metadata_directory in paths else 0]
        epoch = clean_shutdown_epoch(taken.files, paths)
        if taken.is_online:
            try:
                taken.take_clean_shutdown()
            except LogDirFailure as failure:
                self.fail(taken.path, failure)
        return epoch

    def unlock(self) -> None:
        for directory in self._all:
            directory.close()
        self._is_open = False

    def require_one(self) -> None:
        """Raise DirectoryRefused, with all directories unlocked, if none is online."""
        if not any(directory.is_online for directory in self._all):
            self.unlock()
            paths = ", ".join(directory.path for directory in self._all)
            reason = self._all[0].failure if self._all else None
            raise DirectoryRefused(f"None of the log directories {paths} can be used: {reason}")

    def at(self, path: str) -> LogDirectory:
        """Return the directory with this path. LogDirFailure if it is offline; KeyError."""
        for directory in self._all:
            if directory.path == path:
                if directory.failure is not None:
                    raise directory.failure
                return directory
        raise KeyError(path)

    def with_id(self, directory_id: bytes) -> LogDirectory | None:
        """Return the online directory with this id; None if there is none."""
        for directory in self._all:
            if directory.is_online and directory.directory_id == directory_id:
                return directory
        return None

    def for_new_log(self, counts: Counter[str]) -> LogDirectory:
        """Return the online directory with the fewest logs (nextLogDirs), as `counts` has it by
        path. LogDirFailure if none is online.
        """
        online = [directory for directory in self._all if directory.is_online]
        if not online and self._all[0].failure is not None:
            raise self._all[0].failure
        return min(online, key=lambda directory: counts[directory.path])

    def fail(self, path: str, failure: LogDirFailure | None = None) -> None:
        """Take a directory offline until the node is restarted, and unlock it."""
        for directory in self._all:
            if directory.path == path:
                if directory.failure is None:
                    directory.failure = failure or LogDirFailure(path, "using", OSError("failed"))
                    _log.error("Log directory %s is offline: %s", path, directory.failure)
                    if self._on_offline is not None:
                        self._on_offline(directory)
                directory.close()

    def loss_of(self, directory: LogDirectory, metadata_directory: str) -> str | None:
        """Return why a node cannot continue after this directory failed; None if it can."""
        if directory.path == metadata_directory:
            return f"the metadata log is in {directory.path}, which failed"
        if not any(each.is_online for each in self._all):
            return f"{directory.path}, the last log directory, failed"
        return None

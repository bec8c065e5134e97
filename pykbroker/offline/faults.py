"""What can be wrong with a log directory, or with what was asked of it; always one clear line."""

from __future__ import annotations


class OfflineError(ValueError):
    """Base of everything that reading log directories refuses."""


class NotALogDirectory(OfflineError):
    """A path that is neither a log directory nor the directory of a partition."""


class UnknownTopic(OfflineError):
    """A topic or partition that none of the log directories holds."""


class BadOption(OfflineError):
    """A value that an option does not have, or options that exclude each other."""


class UnknownColumn(BadOption):
    """A column that does not exist."""


class OffsetsGone(OfflineError):
    """Offsets that were asked for and are not there any more, or not yet."""


class SegmentGone(OffsetsGone):
    """A segment that was planned, and since then was taken by retention or compaction."""


class CorruptSegment(OfflineError):
    """Bytes of a segment that are no record batches: the file, the position, the reason."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(f"{path}, position {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason

    def __reduce__(self) -> tuple[type[CorruptSegment], tuple[str, int, str]]:
        # An exception of a Spark worker travels by pickle.
        return CorruptSegment, (self.path, self.position, self.reason)

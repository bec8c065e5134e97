"""What can be wrong with a log directory, or with what was asked of it; always one clear line.

Invariant   No message shows who asks (`user:password@`) or with which options (`?name=value`), of
            any URI in it: they may be secrets.
"""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/]*@")
_OPTIONS: Final = re.compile(r"(?i)\b(?!file:)[a-z][a-z0-9+.-]*://[^?]*\?\S+")
#: Up to the punctuation of the sentence around the URI.
_VALUE: Final = re.compile(r"=[^&]+?(?=[,;:.'\")\]]*(?:&|$))")


def without_secrets(text: str) -> str:
    """A text with `***` in place of what may be secret in its URIs."""
    text = _USER.sub("***@", text)
    return _OPTIONS.sub(_without_values, text)


def _without_values(uri: re.Match[str]) -> str:
    place, question, options = uri[0].partition("?")
    return place + question + _VALUE.sub("=***", options)


class OfflineError(ValueError):
    """Base of everything that reading log directories refuses."""

    def __init__(self, message: str = "") -> None:
        super().__init__(without_secrets(message))


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
    """Bytes of a segment that are no record batches: the file, the position, the reason.

    `path` is whole, with whatever secrets it has.
    """

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(f"{path}, position {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason

    def __reduce__(self) -> tuple[type[CorruptSegment], tuple[str, int, str]]:
        # An exception of a Spark worker travels by pickle.
        return CorruptSegment, (self.path, self.position, self.reason)

"""The errors of reading log directories.

Their messages show neither the credentials (`user:password@`) nor the values of options
(`?name=value`) of a well-formed URI (a slash in a password is `%2F`, a space `%20`), because these
may be secret.
"""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/]*@")
_OPTIONS: Final = re.compile(r"(?i)\b(?!file:)[a-z][a-z0-9+.-]*://[^?]*\?\S+")
#: Up to the punctuation of the sentence around the URI.
_VALUE: Final = re.compile(r"=[^&]+?(?=[,;:.'\")\]]*(?:&|$))")


def without_secrets(text: str) -> str:
    """Return a text with `***` in place of possible secrets in its URIs."""
    text = _USER.sub("***@", text)
    return _OPTIONS.sub(_without_values, text)


def _without_values(uri: re.Match[str]) -> str:
    place, question, options = uri[0].partition("?")
    return place + question + _VALUE.sub("=***", options)


class OfflineError(ValueError):
    """Base class of the errors of reading log directories."""

    def __init__(self, message: str = "") -> None:
        super().__init__(without_secrets(message))


class NotALogDirectory(OfflineError):
    """A path is neither a log directory nor the directory of a partition, or no path is given."""


class UnknownTopic(OfflineError):
    """A topic or partition does not exist (any more) in the log directories, or there is none at
    all; a topic pattern is invalid; or an empty list of topics or partitions is given.
    """


class BadOption(OfflineError):
    """An option has an invalid value, or options exclude each other."""


class UnknownColumn(BadOption):
    """A column does not exist or is named twice, or no column is named."""


class OffsetsGone(OfflineError):
    """Requested offsets no longer exist, do not exist yet, or are deleted faster than listed; or
    the requested start is after the end.
    """


class SegmentGone(OffsetsGone):
    """Offsets of a planned segment no longer exist (deleted by retention, truncated, or of a
    deleted topic), or its file was replaced and the offsets cannot be looked up again.
    """


class CorruptSegment(OfflineError):
    """Bytes of a segment cannot be read as a record batch in this place; names the file, the
    position and the reason.

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

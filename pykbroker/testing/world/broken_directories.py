"""Directories of a disk on which calls fail, while the others work.

    dead       all calls fail
    read-only  `CHANGES` fail with EROFS (in the other kinds with EIO); opening and reading work
    hiccup     one of `CHANGES` fails; then everything works again
    stiff      nothing in it can be renamed

State: which calls of a directory fail, after how many that still succeed. It belongs to the disk,
so it outlives the process, until the directory is mended. Calls that `MemoryFiles` does not report
to `meet`, such as `exists`, `size` and reads of a `FileSlice`, do not fail.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

CHANGES = frozenset(("write", "sync", "truncate", "rename", "unlink", "mkdir"))
FAILING = {
    "dead": None,
    "read-only": CHANGES,
    "hiccup": CHANGES,
    "stiff": frozenset(("rename",)),
}
"""Kind -> the calls that fail; None: all."""
KINDS = ("dead", "read-only", "hiccup")
STIFF = "stiff"


@dataclass(slots=True)
class BrokenDirectory:
    """A directory on which calls fail."""

    path: str
    kind: str
    calls_left: int = 0
    """How many calls that could fail still succeed; -1 after a hiccup."""

    def error(self, name: str, path: str) -> OSError | None:
        """Return the error of this call, None if it succeeds; count the call if it could fail."""
        if path != self.path and not path.startswith(self.path + "/"):
            return None
        failing = FAILING[self.kind]
        if failing is not None and name not in failing:
            return None
        if self.calls_left > 0:
            self.calls_left -= 1
            return None
        if self.kind == "hiccup":
            if self.calls_left < 0:
                return None
            self.calls_left = -1
        code = errno.EROFS if self.kind == "read-only" else errno.EIO
        return OSError(code, "fault of the world", path)


class BrokenDirectories:
    """The broken directories of one disk."""

    __slots__ = ("_broken",)

    def __init__(self) -> None:
        self._broken: dict[str, BrokenDirectory] = {}

    def __bool__(self) -> bool:
        return bool(self._broken)

    def __contains__(self, path: str) -> bool:
        return path in self._broken

    def add(self, broken: BrokenDirectory) -> None:
        """Break a directory; if it is already broken, it is so in the new way."""
        self._broken[broken.path] = broken

    def mend(self, path: str) -> None:
        """Let every call in the directory succeed again."""
        self._broken.pop(path, None)

    def mend_all(self) -> None:
        """Let every call succeed again."""
        self._broken.clear()

    def meet(self, name: str, path: str) -> None:
        """Raise OSError if this call fails."""
        for broken in self._broken.values():
            error = broken.error(name, path)
            if error is not None:
                raise error

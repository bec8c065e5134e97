"""A directory that workers write whole files into: of this machine, or behind a pyarrow.fs URI.

Invariant: a name that can be seen is a whole file. Where there is no atomic rename (object stores)
the store itself shows a file only when it has been closed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pykbroker.offline.storage import file_system, is_remote, local_path

_OBJECT_STORES: Final = frozenset({"s3", "gcs", "abfs"})


class Target:
    """One directory; made when the first file is written."""

    def __init__(self, location: str) -> None:
        from pyarrow import fs

        self.location = location
        if not is_remote(location):
            self._system: Any = fs.LocalFileSystem()
            self._path = os.path.abspath(local_path(location))
        else:
            scheme, _, rest = location.partition("://")
            path, question, options = rest.partition("?")
            host, _, inner = path.partition("/")
            if scheme == "hdfs" or scheme == "viewfs":
                self._system = file_system(f"{scheme}://{host}/{question}{options}")
                self._path = "/" + inner
            else:
                self._system = file_system(f"{scheme}://{host}{question}{options}")
                self._path = path
        self._renames = self._system.type_name not in _OBJECT_STORES

    def names(self) -> list[str]:
        """The files in it; none when it is not there."""
        from pyarrow import fs

        found = self._system.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return sorted(each.base_name for each in found if each.type == fs.FileType.File)

    def delete(self, name: str) -> None:
        self._system.delete_file(f"{self._path}/{name}")

    def read(self, name: str) -> bytes:
        with self._system.open_input_stream(f"{self._path}/{name}") as stream:
            content: bytes = stream.read()
            return content

    def size(self, name: str) -> int:
        size: int = self._system.get_file_info(f"{self._path}/{name}").size
        return size

    @contextmanager
    def open(self, name: str) -> Iterator[Any]:
        """A stream; the file appears when the block ends without an error."""
        if self._renames:
            self._system.create_dir(self._path, recursive=True)
        passing = f"{self._path}/.{name}.passing" if self._renames else f"{self._path}/{name}"
        try:
            with self._system.open_output_stream(passing) as stream:
                yield stream
        except BaseException:
            self._system.delete_file(passing)
            raise
        if self._renames:
            self._system.move(passing, f"{self._path}/{name}")

    def check_writable(self) -> None:
        """OSError if no file can be written here: before hours of work, not behind them."""
        self.write(".probe", b"")
        self.delete(".probe")

    def write(self, name: str, payload: bytes) -> None:
        """A whole file at once."""
        with self.open(name) as stream:
            stream.write(payload)

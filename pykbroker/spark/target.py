"""A directory into which workers write complete files: local, or behind a pyarrow.fs URI.

Invariant: a file has its name only when it is complete (until then one that ends in `.passing`).
Without atomic rename (object stores), the store itself shows a file only after it is closed, and
the file is uploaded once it is complete.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import uuid4

from pykbroker.offline.storage import is_remote, local_path, remote_place

_OBJECT_STORES: Final = frozenset({"s3", "gcs", "abfs"})
_COPIED_AT_ONCE: Final = 4 << 20


class Target:
    """One directory, created with the first file."""

    def __init__(self, location: str) -> None:
        from pyarrow import fs

        self.location = location
        if is_remote(location):
            self._system, self._path = remote_place(location)
        else:
            self._system = fs.LocalFileSystem()
            self._path = os.path.abspath(local_path(location))
        self._renames = self._system.type_name not in _OBJECT_STORES

    def names(self) -> list[str]:
        """Return the sorted names of the files in it; none if it does not exist."""
        from pyarrow import fs

        found = self._system.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return sorted(each.base_name for each in found if each.type == fs.FileType.File)

    def has(self, name: str) -> bool:
        from pyarrow import fs

        found = self._system.get_file_info(f"{self._path}/{name}")
        return bool(found.type == fs.FileType.File)

    def is_there(self) -> bool:
        """Return whether the directory exists; in an object store, whether it contains anything."""
        from pyarrow import fs

        return bool(self._system.get_file_info(self._path).type != fs.FileType.NotFound)

    def delete_if_empty(self) -> None:
        """Delete the directory, unless it contains a file at any depth."""
        from pyarrow import fs

        everything = fs.FileSelector(self._path, recursive=True, allow_not_found=True)
        found = self._system.get_file_info(everything)
        if all(each.type == fs.FileType.Directory for each in found):
            self.delete_all()

    def delete(self, name: str) -> None:
        self._system.delete_file(f"{self._path}/{name}")

    def delete_older(self, names: Iterable[str], before_s: float) -> None:
        """Delete those of the files that were written before a time (seconds since 1970)."""
        for name in names:
            written_ns = self._system.get_file_info(f"{self._path}/{name}").mtime_ns
            if written_ns is not None and written_ns / 1e9 < before_s:
                with suppress(FileNotFoundError):  # another job was quicker
                    self.delete(name)

    def delete_all(self) -> None:
        """Delete the directory with its contents, if it exists."""
        with suppress(FileNotFoundError):
            self._system.delete_dir(self._path)

    def read(self, name: str) -> bytes:
        with self._system.open_input_stream(f"{self._path}/{name}") as stream:
            content: bytes = stream.read()
            return content

    def size(self, name: str) -> int:
        size: int = self._system.get_file_info(f"{self._path}/{name}").size
        return size

    @contextmanager
    def open(self, name: str) -> Iterator[Any]:
        """Open a stream; the file appears when the block ends without an error."""
        how = self._renamed if self._renames else self._copied
        with how(f"{self._path}/{name}") as stream:
            yield stream

    @contextmanager
    def _renamed(self, path: str) -> Iterator[Any]:
        """Written under another name, which no other writer of the same file has."""
        self._system.create_dir(self._path, recursive=True)
        directory, _, name = path.rpartition("/")
        passing = f"{directory}/.{name}.{uuid4().hex[:8]}.passing"
        stream = self._system.open_output_stream(passing)
        try:
            with stream:
                yield stream
            self._system.move(passing, path)
        except BaseException:
            with suppress(FileNotFoundError):
                self._system.delete_file(passing)
            raise

    @contextmanager
    def _copied(self, path: str) -> Iterator[Any]:
        """Write a file of this machine first, and upload it when it is complete: a store shows a
        file as soon as its stream is closed, even if an error closed it.
        """
        with tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            with self._system.open_output_stream(path) as stream:
                shutil.copyfileobj(whole, stream, _COPIED_AT_ONCE)

    def check_writable(self) -> None:
        """Raise OSError if no file can be written here, before hours of work rather than after."""
        self.write(".probe", b"")
        self.delete(".probe")

    def write(self, name: str, payload: bytes) -> None:
        """Write a complete file at once."""
        with self.open(name) as stream:
            stream.write(payload)

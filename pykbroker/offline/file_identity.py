"""The identity of a file whatever its name: segments are renamed, replaced and recreated.

Inode numbers are compared only on the machine that recorded them, because another machine may see
the same file system with other numbers. An inode may be reused, so the first bytes of what is read
are compared as well.
"""

from __future__ import annotations

import os
from typing import Final

from pykbroker.offline.split import Split
from pykbroker.offline.storage import LocalFile, SegmentFile
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD
from pykbroker.values import NamedTuple

HEAD_BYTES: Final = RECORD_BATCH_OVERHEAD


class FileIdentity(NamedTuple):
    """The st_dev and st_ino of a file, and the host name of the machine that read them."""

    machine: str
    device: int
    inode: int


def identity_of(opened: SegmentFile) -> FileIdentity | None:
    """Return the identity of a file; None for a remote file, which has none."""
    if not isinstance(opened, LocalFile):
        return None
    status = os.fstat(opened.descriptor)
    return FileIdentity(os.uname().nodename, status.st_dev, status.st_ino)


def is_same_file(opened: SegmentFile, split: Split) -> bool:
    """Return whether size, identity and first bytes say that a split was planned on this file; the
    last segment may have grown since.
    """
    if split.behind_offset is not None and opened.size < split.end_position:
        return False  # cut off; of bytes without a plan the reader tells
    if split.file_bytes is not None and opened.size != split.file_bytes:
        return False
    found = identity_of(opened)
    if split.file_identity is not None and found is not None:
        machine = split.file_identity[0]
        if machine == found.machine and split.file_identity != found:
            return False
    position, head = split.head
    return opened.read(len(head), position) == head

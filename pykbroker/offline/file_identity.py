"""Which file it is, whatever its name: segments are renamed, replaced and made again.

Invariants
    Numbers of inodes are compared on the machine that noted them only: another one may see the
    same file system under other numbers.
    An inode may be used again, so the first bytes of what is read are compared as well.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from pykbroker.offline.split import Split
from pykbroker.offline.storage import LocalFile, SegmentFile
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD

HEAD_BYTES: Final = RECORD_BATCH_OVERHEAD


class FileIdentity(NamedTuple):
    """st_dev and st_ino, and the machine that saw them."""

    machine: str
    device: int
    inode: int


def identity_of(opened: SegmentFile) -> FileIdentity | None:
    """None for a remote file: it has none."""
    if not isinstance(opened, LocalFile):
        return None
    status = os.fstat(opened.descriptor)
    return FileIdentity(os.uname().nodename, status.st_dev, status.st_ino)


def is_same_file(opened: SegmentFile, split: Split) -> bool:
    """Whether a split was planned on this file; it may have grown if it was the last one."""
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
